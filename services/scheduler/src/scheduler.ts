import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { Logger } from '@suzumio/runtime/observability/logger';
import type { Metrics } from '@suzumio/runtime/observability/metrics';
import { type Consumer, closeWithinMs, type Transport } from '@suzumio/runtime/queue/transport';
import { settledWithin } from '@suzumio/runtime/queue/within';
import type { Cell } from '@suzumio/store/cell/cell';
import { CellFigures } from './cell-figures.js';
import { ContentCollection } from './content-collection.js';
import { LeaseCheck } from './lease-check.js';
import { Refill } from './refill.js';
import { type Rounds, roundsOnDemand, startRounds } from './rounds.js';
import { ProjectScheduler } from './schedule-project.js';
import { Sweep } from './sweep.js';
import { type Cause, Visits } from './visits.js';

export interface SchedulerConfig {
  /** The transport of this cell's jobs, as recorded in the catalog. */
  transportName: string;
  /** The interval of sweeps over unsettled projects. @default 2_000 */
  sweepIntervalMs?: number;
  /** The interval of lease checks. @default 500 */
  leaseCheckMs?: number;
  /** The interval of content collection, one project each. @default 60_000 */
  contentCheckMs?: number;
  /** The interval at which the gauges of changed projects are read. @default 15_000 */
  figuresMs?: number;
  /** How long a ToolHost must have served before a lease is judged. @default 15_000 */
  leaseMs?: number;
}

export interface SchedulerDependencies {
  cell: Cell;
  transport: Transport;
  logger: Logger;
  metrics: Metrics;
}

/**
 * Starts turns for mail and puts them on the queue, on wakes and in sweeps; ends attempts whose leases have run out. It
 * never writes a message. Any number may run.
 */
export class Scheduler {
  readonly #visits: Visits;
  readonly #projects: ProjectScheduler;
  readonly #leases: LeaseCheck;
  readonly #sweep: Sweep;
  readonly #content: ContentCollection;
  readonly #figures: CellFigures;
  readonly #refill: Refill;
  /** A refill may take long, so nothing waits for it: other rounds go on meanwhile. */
  readonly #fills: Rounds;
  #rounds: Rounds[] = [];
  #consumer: Consumer | undefined;
  #forgetRecovery: (() => void) | undefined;
  #delist: (() => Promise<void>) | undefined;

  constructor(
    private readonly config: SchedulerConfig,
    private readonly dependencies: SchedulerDependencies,
  ) {
    const { cell, transport, logger, metrics } = dependencies;
    this.#visits = new Visits(cell, metrics, logger);
    this.#figures = new CellFigures(cell, transport, this.#visits, metrics, logger);
    this.#projects = new ProjectScheduler(cell, transport, metrics);
    this.#leases = new LeaseCheck(cell, this.#visits, { metrics, logger }, config.leaseMs ?? 15_000);
    this.#sweep = new Sweep(cell, this.#visits, this.#projects, this.#leases, this.#figures);
    this.#content = new ContentCollection(cell, this.#visits, logger);
    this.#refill = new Refill(cell, transport, this.#visits, this.#projects);
    this.#fills = roundsOnDemand(() => this.#round('refill', () => this.#refill.run()));
  }

  async start(): Promise<void> {
    const { cell, transport } = this.dependencies;
    const {
      transportName,
      sweepIntervalMs = 2_000,
      leaseCheckMs = 500,
      contentCheckMs = 60_000,
      figuresMs = 15_000,
    } = this.config;
    this.#delist = await cell.catalog.processes.enlist({
      service: 'scheduler',
      cell: cell.id,
      transport: transportName,
    });
    const sweeps = startRounds(sweepIntervalMs, () => this.#round('sweep', () => this.#sweepAll()));
    const leases = startRounds(leaseCheckMs, () => this.#round('leases', () => this.#checkLeases()));
    const content = startRounds(contentCheckMs, () => this.#round('content', () => this.#content.run()));
    const searches = roundsOnDemand(() => this.#round('search', () => this.#sweep.search(() => sweeps.now())));
    searches.now();
    const figures = startRounds(figuresMs, () => this.#round('figures', () => this.#figures.run()));
    this.#rounds = [sweeps, searches, leases, content, figures];
    this.#consumer = transport.consumeWakes((project) => this.#woken(project));
    this.#forgetRecovery = transport.onRecovered(() => {
      this.#sweep.noteRecovery();
      sweeps.now();
    });
  }

  async stop(): Promise<void> {
    this.#visits.stop();
    this.#forgetRecovery?.();
    const stopped = Promise.all([
      this.#consumer?.close(),
      ...[...this.#rounds, this.#fills].map((each) => each.stop()),
    ]);
    if (!(await settledWithin(stopped, closeWithinMs)))
      this.dependencies.logger.warn('stopped during a visit to a project');
    await this.#delist?.();
    this.#delist = undefined;
  }

  /** Handles a wake: the project has new mail, or a claim has freed a place. */
  async #woken(project: string): Promise<void> {
    await this.#visits.one('wake', project, (store) => this.#projects.schedule(store));
    this.#fills.now();
  }

  async #sweepAll(): Promise<void> {
    if (!(await this.#sweep.run())) return;
    this.#refill.reclaimNext();
    this.#fills.now();
  }

  async #checkLeases(): Promise<void> {
    const requeued = await this.#leases.run();
    if (requeued.length === 0) return;
    this.#refill.scheduleNext(requeued);
    this.#fills.now();
  }

  /** Runs a round over projects; if the catalog cannot be read, the next round tries again. */
  async #round(cause: Exclude<Cause, 'wake'>, body: () => Promise<void>): Promise<void> {
    const { metrics, logger } = this.dependencies;
    const begun = performance.now();
    try {
      await body();
    } catch (error) {
      metrics.schedulingFailures.inc({ during: cause });
      // The transport logs outages itself.
      const level = isSuzumioError(error, 'server-unreachable') ? 'debug' : 'error';
      logger[level]({ err: error, cause }, 'a round failed');
    }
    if (cause !== 'refill') metrics.sweepDuration.observeMs({ round: cause }, performance.now() - begun);
  }
}
