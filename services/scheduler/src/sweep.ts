import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { carryProfileChanges } from '@suzumio/store/cell/carry-profile-changes';
import type { Cell } from '@suzumio/store/cell/cell';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { readStatus } from '@suzumio/store/projects/read-project';
import { type ActiveTurns, countActiveTurns } from '@suzumio/store/turns/read-turns';
import { agentsToStart } from '@suzumio/store/turns/start-turns';
import type { CellFigures } from './cell-figures.js';
import type { LeaseCheck } from './lease-check.js';
import { QuietProjects } from './quiet-projects.js';
import type { ProjectScheduler } from './schedule-project.js';
import type { Visits } from './visits.js';

/** What a sweep has found so far. */
interface Found extends ActiveTurns {
  /** Whether the queue answers: during an outage it is not asked again for each project. */
  deliverable: boolean;
}

/** Visits every unsettled project, which makes up for lost wakes. */
export class Sweep {
  readonly #quiet = new QuietProjects();
  #queueIsBack = false;

  constructor(
    private readonly cell: Cell,
    private readonly visits: Visits,
    private readonly projects: ProjectScheduler,
    private readonly leases: LeaseCheck,
    private readonly figures: CellFigures,
  ) {}

  /** The queue has recovered: the next sweep need not check it. */
  noteRecovery(): void {
    this.#queueIsBack = true;
  }

  /** @returns whether turns can be put on the queue */
  async run(): Promise<boolean> {
    const { catalog, directory } = this.cell;
    // Deliveries during an outage would be recorded and undone, for every turn in every round.
    const found: Found = {
      deliverable: this.#queueIsBack || (await this.projects.queueAnswers()),
      queued: 0,
      running: 0,
      oldestQueuedMs: null,
    };
    this.#queueIsBack = false;
    const unsettled = catalog.projects.unsettled();
    await this.visits.each(unsettled, (project) =>
      this.#quiet.visit(project, directory.projectFile(project), async () => {
        const isQuiet = await this.visits.one('sweep', project, (store) => this.#visit(store, found));
        return isQuiet === true;
      }),
    );
    if (this.visits.stopped) return false;
    this.#quiet.keep(unsettled);
    await this.figures.show(found);
    return found.deliverable;
  }

  /**
   * Finds projects of which the catalog says something else than their own databases, because a process was killed
   * before it updated the catalog; among them unsettled ones that it lists as settled.
   */
  async search(onFound: () => void): Promise<void> {
    const { catalog } = this.cell;
    const known = new Set(catalog.projects.unsettled());
    const others = catalog.projects.all().filter(({ id }) => !known.has(id));
    const visit = async (store: ProjectStore) => {
      if (this.cell.isNoted(store)) return;
      await this.cell.noteStatus(store.project);
      if (!readStatus(store.reader).settled) onFound();
    };
    await this.visits.each(
      others.map(({ id }) => id),
      (project) => this.visits.one('search', project, visit, { wait: true }),
    );
  }

  /**
   * Schedules a project; returns whether it has nothing to do until the next commit: no turn, and no mail that waits
   * for one.
   */
  async #visit(store: ProjectStore, found: Found): Promise<boolean> {
    await this.leases.note(store);
    if (found.deliverable) {
      await this.projects.schedule(store).catch((error: unknown) => {
        if (isSuzumioError(error, 'server-unreachable')) found.deliverable = false;
        throw error;
      });
    }
    const { queued, running, oldestQueuedMs } = countActiveTurns(store.reader);
    found.queued += queued;
    found.running += running;
    if (oldestQueuedMs !== null) found.oldestQueuedMs = Math.min(found.oldestQueuedMs ?? Infinity, oldestQueuedMs);
    await carryProfileChanges(this.cell.catalog, store);
    if (!this.cell.isNoted(store)) await this.cell.noteStatus(store.project);
    return queued + running === 0 && agentsToStart(store.reader, store.config).length === 0;
  }
}
