import type { Logger } from '@suzumio/runtime/observability/logger';
import type { Cell } from '@suzumio/store/cell/cell';
import { collectContent } from '@suzumio/store/content/collect-content';
import { wipe } from '@suzumio/store/redaction/wipe';
import type { CellFigures } from './cell-figures.js';
import type { Visits } from './visits.js';

/** No project is looked through for old content more often than this. */
const passMs = 60 * 60 * 1000;

/** Removes content that nothing refers to any more. */
export class ContentCollection {
  /** Projects that this pass has still to look through. */
  #left: string[] = [];
  #nextPassMs = 0;

  constructor(
    private readonly cell: Cell,
    private readonly visits: Visits,
    private readonly figures: CellFigures,
    private readonly logger: Logger,
  ) {}

  /** One project a round: disks have better things to do, and what is left over waits for a day anyway. */
  async run(): Promise<void> {
    const { catalog, context, directory } = this.cell;
    if (this.#left.length === 0 && context.now() >= this.#nextPassMs) {
      this.#left = catalog.projects().map(({ id }) => id);
      this.#nextPassMs = context.now() + passMs;
    }
    const project = this.#left.pop();
    if (project === undefined) return;
    await this.visits.one('content', project, async (store) => {
      const files = await collectContent(store, directory.projectDir(project), context.now());
      this.figures.note(store);
      // Redactions that could not finish then: others were writing.
      if (!(await wipe(store, directory.projectFile(project))))
        this.logger.info({ project }, 'redacted bytes are still in free space');
      if (files > 0) this.logger.info({ project, files }, 'removed content that nothing referred to');
    });
  }
}
