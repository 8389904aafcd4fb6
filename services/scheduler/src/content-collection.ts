import type { Logger } from '@suzumio/runtime/observability/logger';
import type { Cell } from '@suzumio/store/cell/cell';
import { collectContent } from '@suzumio/store/content/collect-content';
import { wipe } from '@suzumio/store/redaction/wipe';
import type { Visits } from './visits.js';

/** How often a project's content is collected. */
const passMs = 60 * 60 * 1000;

/** Removes content that nothing refers to any more, project by project. */
export class ContentCollection {
  /** The remaining projects of this pass. */
  #left: string[] = [];
  #nextPassMs = 0;

  constructor(
    private readonly cell: Cell,
    private readonly visits: Visits,
    private readonly logger: Logger,
  ) {}

  /** Collects one project per round: disks have more urgent work, and old content has waited for a day already. */
  async run(): Promise<void> {
    const { catalog, context, directory, storage } = this.cell;
    if (this.#left.length === 0 && context.now() >= this.#nextPassMs) {
      this.#left = catalog.projects.all().map(({ id }) => id);
      this.#nextPassMs = context.now() + passMs;
    }
    const project = this.#left.pop();
    if (project === undefined) return;
    await this.visits.one('content', project, async (store) => {
      // A redaction may have met readers or writers that did not pause.
      const wiped = await wipe(store, directory.projectFile(project));
      if (wiped.outcome === 'in-use') {
        this.logger.info({ project }, 'redacted bytes are still in free space: others use the database');
      } else if (wiped.outcome === 'failed') {
        this.logger.error({ err: wiped.error, project }, 'redacted bytes are still in free space');
      }
      const files = await collectContent(store, directory.projectDir(project), context.now(), storage.history);
      if (files > 0) this.logger.info({ project, files }, 'removed unreferenced content');
    });
  }
}
