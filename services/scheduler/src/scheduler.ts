import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { Logger } from '@suzumio/runtime/observability/logger';
import type { Metrics } from '@suzumio/runtime/observability/metrics';
import { type Consumer, closeWithinMs, type Transport } from '@suzumio/runtime/queue/transport';
import { settledWithin } from '@suzumio/runtime/queue/within';
import type { Cell } from '@suzumio/store/cell/cell';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { type ActiveTurns, countActiveTurns } from '@suzumio/store/turns/read-turns';
import { isMigrating } from '@suzumio/store/projects/large-migrations';
import { collectContent } from '@suzumio/store/content/collect-content';
import { readStatus } from '@suzumio/store/projects/read-project';
import { unclaimedDelivery } from '@suzumio/store/turns/deliver-turn';
import { agentsToStart } from '@suzumio/store/turns/start-turns';
import { Leases } from './leases.js';
import { QuietProjects } from './quiet-projects.js';
import { Refill } from './refill.js';
import { forEachBounded, type Rounds, roundsOnDemand, startRounds } from './rounds.js';
import { ProjectScheduler } from './schedule-project.js';
import { StorageFigures } from './storage-figures.js';

export interface SchedulerConfig {
  /** What carries this cell's jobs, as the catalog records it. */
  transportName: string;
  /** How often every unsettled project is looked at, unless it had nothing to do and its files are as they were. @default 2_000 */
  sweepIntervalMs?: number;
  /** How often leases are judged. @default 500 */
  leaseCheckMs?: number;
  /** How often one project is looked through for content that nothing refers to any more. @default 60_000 */
  contentCheckMs?: number;
  /** How long a ToolHost must have served before a lease is judged. @default 15_000 */
  leaseMs?: number;
}

export interface SchedulerDependencies {
  cell: Cell;
  transport: Transport;
  logger: Logger;
  metrics: Metrics;
}

export interface Scheduler {
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** What a sweep has found so far. */
interface Sweep extends ActiveTurns {
  /** Whether the queue answers: what waits for one that is away is not asked for again, project by project. */
  deliverable: boolean;
}

type Cause = 'wake' | 'sweep' | 'search' | 'leases' | 'content' | 'refill';

/** No project is looked through for old content more often than this. */
const contentPassMs = 60 * 60 * 1000;

/** How many projects are looked at at a time. */
const atOnce = 8;

/**
 * Starts turns for mail and gives them to the queue, on a wake or by its own rounds; ends attempts whose lease ran out.
 * It never writes a message. Run as many as you like.
 */
export function createScheduler(config: SchedulerConfig, dependencies: SchedulerDependencies): Scheduler {
  const { cell, transport, logger, metrics } = dependencies;
  const { sweepIntervalMs = 2_000, leaseCheckMs = 500, contentCheckMs = 60_000, leaseMs = 15_000 } = config;
  const projects = new ProjectScheduler({
    cell: cell.id,
    transport,
    line: cell.catalog.waitingLine,
    now: cell.context.now,
    paused: () => cell.catalog.pause.current !== null,
    diskIsShort: () => cell.disk.isShortFor('rows'),
    providersAway: (project) => cell.catalog.providers.away(project),
    dayBudget: () => cell.catalog.spending.budget,
    metrics,
  });
  const refill = new Refill({
    transport,
    line: cell.catalog.waitingLine,
    schedule: (project, places) => look('refill', project, (store) => projects.schedule(store, places)),
    waitingJob: (project, agent) =>
      look('refill', project, ({ reader }) => {
        const delivery = unclaimedDelivery(reader, agent);
        return delivery && { cell: cell.id, ...delivery };
      }),
  });
  /** Projects that the sweep need not open. */
  const quiet = new QuietProjects();
  /** Projects whose last look failed, so that a lasting failure is told once. */
  const failing = new Set<string>();
  const leases = new Leases(leaseMs, cell.context.now);
  let recovered = false;
  let stopping = false;
  let consumer: Consumer | undefined;
  let sweeps: Rounds | undefined;
  let leaseChecks: Rounds | undefined;
  let contentChecks: Rounds | undefined;
  /** Projects whose content is to be looked through before all of them are again. */
  let unlooked: string[] = [];
  let nextPassMs = 0;
  const storage = new StorageFigures(cell.storage, cell.disk, () => performance.now());
  const fills = roundsOnDemand(fillQueue);
  const searches = roundsOnDemand(() => round('search', findUnsettled));
  /** Projects whose turns wait for a job again because a lease ran out. */
  const requeued = new Set<string>();
  /** Whether places that nobody uses are looked for when the queue is filled next. */
  let reclaimNext = false;
  let forgetRecovery: (() => void) | undefined;
  let delist: (() => Promise<void>) | undefined;

  /** Does something with one project; whatever goes wrong with it stays with it, and is answered undefined. */
  async function look<Result>(
    cause: Cause,
    project: string,
    body: (store: ProjectStore) => Promise<Result> | Result,
    { wait = false } = {},
  ): Promise<Result | undefined> {
    try {
      const result = await cell.stores.use(project, body, { wait });
      failing.delete(project);
      return result;
    } catch (error) {
      // The next sweep sees whether that is done.
      if (isMigrating(error)) return undefined;
      metrics.schedulingFailures.inc({ during: cause });
      if (isSuzumioError(error, 'project-unknown')) leases.forget(project);
      // The transport says by itself that it is away; a project that is gone has nothing to be scheduled.
      const expected = isSuzumioError(error, 'server-unreachable', 'project-unknown');
      const level = expected || failing.has(project) ? 'debug' : 'error';
      logger[level]({ err: error, project, cause }, 'a project could not be looked after');
      if (!expected) failing.add(project);
      return undefined;
    }
  }

  /**
   * Gives places of the queue that are free to projects that wait for them. It may take as long as the queue and many
   * projects do, so nobody waits for it: leases are judged and projects are looked at meanwhile.
   */
  async function fillQueue(): Promise<void> {
    const projectsAgain = [...requeued];
    requeued.clear();
    const reclaims = reclaimNext;
    reclaimNext = false;
    await forEachBounded(projectsAgain, atOnce, async (project) => {
      await look('leases', project, (store) => projects.schedule(store));
    });
    if (cell.catalog.pause.current !== null) return;
    try {
      if (reclaims) await refill.reclaim();
      await refill.run();
    } catch (error) {
      metrics.schedulingFailures.inc({ during: 'refill' });
      const level = isSuzumioError(error, 'server-unreachable') ? 'debug' : 'error';
      logger[level]({ err: error }, 'the queue could not be filled');
    }
  }

  /** What a wake asks for: it may be sent because of the project's own mail, or because a claim has freed a place. */
  async function woken(project: string): Promise<void> {
    await look('wake', project, (store) => projects.schedule(store));
    fills.now();
  }

  /** Runs a round over projects; without a catalog to name them there is nothing to do until the next. */
  async function round(cause: 'sweep' | 'search' | 'leases' | 'content', body: () => Promise<void>): Promise<void> {
    const begun = performance.now();
    try {
      await body();
    } catch (error) {
      metrics.schedulingFailures.inc({ during: cause });
      logger.error({ err: error, cause }, 'a round failed');
    }
    metrics.sweepDuration.observeMs({ round: cause }, performance.now() - begun);
  }

  async function sweep(): Promise<void> {
    // Deliveries to a queue that is away would be written down and taken back, for every turn in every round.
    const found: Sweep = { deliverable: recovered || (await transport.healthy()), queued: 0, running: 0 };
    recovered = false;
    const unsettled = cell.catalog.unsettledProjects();
    const body = (project: string) =>
      quiet.visit(project, cell.directory.projectFile(project), async () => {
        const isQuiet = await look('sweep', project, (store) => sweepProject(store, found));
        return isQuiet === true;
      });
    await forEachBounded(unsettled, atOnce, body, () => stopping);
    if (stopping) return;
    quiet.keep(unsettled);
    if (found.deliverable) {
      reclaimNext = true;
      fills.now();
    }
    await tell(found);
  }

  /** The figures of the whole cell; every scheduler finds the same. */
  async function tell(active: ActiveTurns): Promise<void> {
    metrics.turnsQueued.set(active.queued);
    metrics.turnsRunning.set(active.running);
    storage.tell(
      metrics,
      cell.catalog.projects().map(({ id }) => id),
    );
    try {
      metrics.turnJobsWaiting.set(await transport.waitingTurnJobs());
    } catch (error) {
      metrics.turnJobsWaiting.remove();
      logger.debug({ err: error }, 'the length of the queue is not known');
    }
  }

  /** Whether the project has nothing to do until somebody commits something: no turn, and no mail that waits for one. */
  async function sweepProject(store: ProjectStore, found: Sweep): Promise<boolean> {
    await leases.note(store);
    storage.note(store);
    if (found.deliverable) {
      await projects.schedule(store).catch((error: unknown) => {
        if (isSuzumioError(error, 'server-unreachable')) found.deliverable = false;
        throw error;
      });
    }
    const { queued, running } = countActiveTurns(store.reader);
    found.queued += queued;
    found.running += running;
    if (readStatus(store.reader).settled) await cell.noteStatus(store.project);
    return queued + running === 0 && agentsToStart(store.reader, store.config).length === 0;
  }

  /** The catalog may have missed the last word of a process that was killed: a project's own database decides. */
  async function findUnsettled(): Promise<void> {
    const known = new Set(cell.catalog.unsettledProjects());
    const others = cell.catalog.projects().filter(({ id }) => !known.has(id));
    const search = async (store: ProjectStore) => {
      storage.note(store);
      if (readStatus(store.reader).settled) return;
      await cell.noteStatus(store.project);
      sweeps?.now();
    };
    const body = ({ id }: { id: string }) => look('search', id, search, { wait: true });
    await forEachBounded(others, atOnce, body, () => stopping);
  }

  async function checkLeases(): Promise<void> {
    const due = leases.due();
    if (due.length === 0) return;
    const servingSince = cell.catalog.toolhostServingSince();
    if (servingSince === undefined || cell.context.now() - servingSince < leaseMs) return;
    await forEachBounded(
      due,
      atOnce,
      (project) => look('leases', project, expireLeases),
      () => stopping,
    );
    if (requeued.size > 0) fills.now();
  }

  async function expireLeases(store: ProjectStore): Promise<void> {
    const ended = await leases.expire(store);
    for (const { turn, attempt } of ended) {
      metrics.leasesExpired.inc({});
      logger.warn({ project: store.project, turn, attempt }, 'a lease ran out: the worker was not heard of');
    }
    if (ended.length > 0) requeued.add(store.project);
  }

  /** One project a round: disks have better things to do, and what is left over waits for a day anyway. */
  async function collect(): Promise<void> {
    if (unlooked.length === 0 && cell.context.now() >= nextPassMs) {
      unlooked = cell.catalog.projects().map(({ id }) => id);
      nextPassMs = cell.context.now() + contentPassMs;
    }
    const project = unlooked.pop();
    if (project === undefined) return;
    await look('content', project, async (store) => {
      const files = await collectContent(store, cell.directory.projectDir(project), cell.context.now());
      storage.note(store);
      if (files > 0) logger.info({ project, files }, 'removed content that nothing referred to');
    });
  }

  return {
    async start() {
      metrics.leasesExpired.inc({}, 0);
      delist = await cell.catalog.enlist({ service: 'scheduler', cell: cell.id, transport: config.transportName });
      sweeps = startRounds(sweepIntervalMs, () => round('sweep', sweep));
      leaseChecks = startRounds(leaseCheckMs, () => round('leases', checkLeases));
      contentChecks = startRounds(contentCheckMs, () => round('content', collect));
      searches.now();
      consumer = transport.consumeWakes(woken);
      forgetRecovery = transport.onRecovered(() => {
        recovered = true;
        sweeps?.now();
      });
    },
    async stop() {
      stopping = true;
      forgetRecovery?.();
      const rounds = [sweeps, searches, leaseChecks, contentChecks, fills];
      const stopped = Promise.all([consumer?.close(), ...rounds.map((some) => some?.stop())]);
      if (!(await settledWithin(stopped, closeWithinMs))) logger.warn('stopped while a project was being looked at');
      await delist?.();
      delist = undefined;
    },
  };
}
