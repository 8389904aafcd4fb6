import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { type InboxKind, waitingKinds } from '@suzumio/contract/model/inbox';
import { projectStatuses } from '@suzumio/contract/model/project-status';
import { storedKinds } from '@suzumio/contract/model/storage';
import { asSeenBy } from '@suzumio/protocol/worker-presence';
import type { Logger } from '@suzumio/runtime/observability/logger';
import type { Metrics } from '@suzumio/runtime/observability/metrics';
import type { Transport } from '@suzumio/runtime/queue/transport';
import { listBudgets } from '@suzumio/store/budgets/read-budgets';
import type { Cell } from '@suzumio/store/cell/cell';
import { StoredSum } from '@suzumio/store/content/storage';
import { someUndelivered } from '@suzumio/store/mail/redeliver-message';
import { readWaiting } from '@suzumio/store/projects/inbox-items';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { isBrokenProject } from '@suzumio/store/sqlite/store-fault';
import type { ActiveTurns } from '@suzumio/store/turns/read-turns';
import { QuietProjects } from './quiet-projects.js';
import type { Visits } from './visits.js';

/** What a project adds to the gauges. */
interface ProjectFigures {
  stored: StoredSum;
  /** The kinds of all that waits for a person. */
  waiting: InboxKind[];
  undelivered: number;
  /** The smallest share that is left of one of its budgets. */
  budgetLeft: number | undefined;
}

/** The gauges of the whole cell. Every scheduler finds the same values. */
export class CellFigures {
  readonly #projects = new Map<string, ProjectFigures>();
  /** Those whose figures could not be read. */
  readonly #damaged = new Set<string>();
  /** Projects whose files have not changed since their figures were read. */
  readonly #quiet = new QuietProjects();

  constructor(
    private readonly cell: Cell,
    private readonly transport: Transport,
    private readonly visits: Visits,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {}

  /** Reads the figures of each project that has changed, and shows their sums. */
  async run(): Promise<void> {
    const { catalog, directory } = this.cell;
    await this.visits.each(
      catalog.projects.all().map(({ id }) => id),
      (project) => this.#quiet.visit(project, directory.projectFile(project), () => this.#read(project)),
    );
    if (this.visits.stopped) return;
    const all = catalog.projects.all();
    const ids = all.map(({ id }) => id);
    this.#quiet.keep(ids);
    const known = new Set(ids);
    for (const project of [...this.#projects.keys(), ...this.#damaged]) if (!known.has(project)) this.#forget(project);
    for (const status of projectStatuses)
      this.metrics.projects.set({ status }, all.filter((project) => project.status === status).length);
    this.#show();
  }

  /** Shows what a sweep has found, how the fleet is, and how much of the disk is left. */
  async show({ queued, running, oldestQueuedMs }: ActiveTurns): Promise<void> {
    const { cell, metrics } = this;
    metrics.turnsQueued.set(queued);
    metrics.turnsRunning.set(running);
    const waitMs = oldestQueuedMs === null ? 0 : Math.max(0, cell.context.now() - oldestQueuedMs);
    metrics.oldestQueuedTurn.set(waitMs / 1000);
    metrics.diskFree.set(cell.disk.free.bytes);
    for (const use of ['files', 'rows', 'mail'] as const) {
      metrics.diskShort.set({ use }, cell.disk.isShortFor(use) ? 1 : 0);
    }
    try {
      const [turns, fleet, lost] = await Promise.all([
        this.transport.turnJobs(),
        this.transport.fleet(),
        this.transport.lostWorkers(),
      ]);
      metrics.turnJobsWaiting.set(turns.waiting);
      const own = fleet.flatMap((worker) => asSeenBy(cell.id, worker) ?? []);
      for (const state of ['ready', 'not-ready', 'draining'] as const)
        metrics.workers.set({ state }, own.filter((worker) => (worker.state ?? 'ready') === state).length);
      metrics.workers.set({ state: 'lost' }, lost.filter(({ presence }) => asSeenBy(cell.id, presence)).length);
    } catch (error) {
      metrics.turnJobsWaiting.remove();
      metrics.workers.remove();
      this.logger.debug({ err: error }, 'the queue could not be asked');
    }
  }

  async #read(project: string): Promise<boolean> {
    try {
      const figures = await this.cell.stores.use(project, (store) => figuresOf(store, this.cell), { wait: false });
      this.#projects.set(project, figures);
      this.#damaged.delete(project);
      return true;
    } catch (error) {
      // Its database is missing where the catalog lists it.
      if (isBrokenProject(error) || isSuzumioError(error, 'project-unknown')) {
        this.#projects.delete(project);
        this.#damaged.add(project);
      }
      this.logger.debug({ err: error, project }, 'the figures of a project could not be read');
      return false;
    }
  }

  #forget(project: string): void {
    this.#projects.delete(project);
    this.#damaged.delete(project);
  }

  #show(): void {
    const { metrics } = this;
    const projects = [...this.#projects.values()];
    const sum = (of: (figures: ProjectFigures) => number) => projects.reduce((total, one) => total + of(one), 0);
    for (const kind of storedKinds)
      metrics.storedBytes.set(
        { kind },
        sum(({ stored }) => stored.bytes[kind]),
      );
    for (const kind of waitingKinds)
      metrics.waiting.set(
        { kind },
        sum(({ waiting }) => waiting.filter((one) => one === kind).length),
      );
    metrics.undelivered.set(sum((figures) => figures.undelivered));
    metrics.projectsOverQuota.set(sum(({ stored }) => stored.projectsOverQuota));
    metrics.projectsDamaged.set(this.#damaged.size);
    metrics.budgetLeft.set(Math.min(1, ...projects.flatMap(({ budgetLeft }) => budgetLeft ?? [])));
  }
}

function figuresOf(store: ProjectStore, cell: Cell): ProjectFigures {
  return store.snapshot((reader) => {
    const stored = new StoredSum(cell.storage);
    stored.add(reader);
    const waiting = readWaiting(reader, store.config).map(({ kind }) => kind);
    const undelivered = someUndelivered(reader, 0).messages;
    const shares = listBudgets(reader, store.config).flatMap(({ usd, tokens, turns }) =>
      [usd, tokens, turns].flatMap(({ limit, used }) => (limit === null ? [] : [Math.max(0, 1 - used / limit)])),
    );
    return { stored, waiting, undelivered, budgetLeft: shares.length === 0 ? undefined : Math.min(...shares) };
  });
}
