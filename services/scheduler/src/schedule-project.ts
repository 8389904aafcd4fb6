import { isSuzumioError } from '@suzumio/shared/errors/suzumio-error';
import type { Logger } from '@suzumio/shared/observability/logger';
import type { Metrics } from '@suzumio/shared/observability/metrics';
import { type TurnJob, turnJobId, type TurnJobRef } from '@suzumio/shared/queue/jobs';
import type { Transport } from '@suzumio/shared/queue/transport';
import type { ProjectStore } from '@suzumio/shared/store/project-store';
import {
  deliverableTurns,
  deliverTurn,
  forgetDelivery,
  type ProvidersAway,
  type QueuedTurn,
} from '@suzumio/shared/store/verbs/deliver-turn';
import type { DayBudget } from '@suzumio/shared/model/day-budget';
import { giveUpWaiting, impatientTurns } from '@suzumio/shared/store/verbs/give-up-waiting';
import { agentsToStart, startTurns } from '@suzumio/shared/store/verbs/start-turns';

export interface ProjectSchedulerDependencies {
  cell: string;
  transport: Transport;
  /** How many turns the fleet can run at once. */
  fleetSlots: () => Promise<number>;
  now: () => number;
  /** Whether no turn of the whole cell begins now. */
  paused: () => boolean;
  /** Whether the disk has no room for what turns would do. */
  diskIsShort: () => boolean;
  /** Which models are away for a project. */
  providersAway: (project: string) => ProvidersAway;
  /** What the cell's day has left, where it is bounded. */
  dayBudget: () => DayBudget | undefined;
  logger: Logger;
  metrics: Metrics;
}

/** What a look at the queue said: which jobs it still has, and how many of one project it should have. */
interface QueueFacts {
  live: ReadonlySet<string>;
  /** Jobs that were asked for. Another one that seems lost is asked for next time. */
  asked: ReadonlySet<string>;
  limit: number;
}

type QueuedTurns = ReturnType<typeof deliverableTurns>;

interface Delivery {
  job: TurnJob;
  /** The job that this one takes the place of, if it may still be there. */
  replaces: TurnJobRef | undefined;
  again: boolean;
}

/**
 * Does what a project needs now: starts a turn for each agent that is ready, and sees to it that queued turns have a
 * job. Safe beside any number of others that do the same: what it does is decided again inside its transaction.
 *
 * A project with nothing to do costs some reads and no transaction.
 */
export class ProjectScheduler {
  constructor(private readonly dependencies: ProjectSchedulerDependencies) {}

  /** @throws SuzumioError `server-unreachable` when the queue is away; what was not delivered stays to be delivered */
  async schedule(store: ProjectStore): Promise<void> {
    if (this.dependencies.paused() || this.dependencies.diskIsShort()) return;
    const day = this.dependencies.dayBudget();
    const away = new Map([
      ...this.dependencies.providersAway(store.project),
      ...(day ? [[day.gate, day.endsMs] as const] : []),
    ]);
    const nowMs = this.dependencies.now();
    if (impatientTurns(store.reader, nowMs, away).length > 0) await store.write((tx) => giveUpWaiting(tx, away));
    const bounds = { day, closed: [...away].filter(([, untilMs]) => untilMs > nowMs).map(([key]) => key) };
    const starting = agentsToStart(store.reader, store.config, bounds).length;
    const { maxConcurrentTurns } = store.config.scheduler;
    const queued = deliverableTurns(store.reader, nowMs, away, maxConcurrentTurns);
    if (starting + queued.wanting.length === 0) return;
    const facts = await this.#askQueue(queued, starting);
    if (starting + this.#due(queued, facts).length === 0) return;

    const deliveries = await store.write((tx) => {
      startTurns(tx, bounds);
      return this.#due(deliverableTurns(tx, tx.nowMs, away, maxConcurrentTurns), facts).flatMap((due) => {
        const job = deliverTurn(tx, due.turn, due.delivery);
        if (!job) return [];
        const replaces = due.delivery > 0 && !due.lost ? this.#ref(due) : undefined;
        return [{ job: { cell: this.dependencies.cell, ...job }, replaces, again: due.lost }];
      });
    });
    await this.#deliver(store, deliveries);
  }

  /** Most looks find one turn and an empty queue: those need not ask. */
  async #askQueue({ wanting, outstanding }: QueuedTurns, starting: number): Promise<QueueFacts> {
    const { transport, fleetSlots } = this.dependencies;
    const lost = wanting.filter((queued) => queued.lost).map((queued) => this.#ref(queued));
    const [live, slots] = await Promise.all([
      lost.length === 0 ? new Set<string>() : transport.liveTurnJobs(lost),
      wanting.length + outstanding + starting > 1 ? fleetSlots() : 1,
    ]);
    return { live, asked: new Set(lost.map(turnJobId)), limit: Math.max(1, slots) };
  }

  /** Turns that get a job now: of one project the queue holds no more than the fleet can run at once. */
  #due({ wanting, outstanding }: QueuedTurns, { live, asked, limit }: QueueFacts): QueuedTurn[] {
    const due = wanting.filter((queued) => {
      const id = turnJobId(this.#ref(queued));
      return !queued.lost || (asked.has(id) && !live.has(id));
    });
    const inQueue = outstanding + wanting.length - due.length;
    return due.slice(0, Math.max(0, limit - inQueue));
  }

  /** Puts jobs on the queue that the store already knows of. */
  async #deliver(store: ProjectStore, deliveries: readonly Delivery[]): Promise<void> {
    const { transport, metrics } = this.dependencies;
    const failed: { job: TurnJob; error: unknown }[] = [];
    await Promise.all(
      deliveries.map(async ({ job, replaces, again }) => {
        try {
          await transport.addTurnJob(job);
          metrics.turnJobs.inc({ outcome: again ? 'redelivered' : 'delivered' });
        } catch (error) {
          metrics.turnJobs.inc({ outcome: 'undelivered' });
          failed.push({ job, error });
          return;
        }
        if (replaces) await this.#remove(replaces);
      }),
    );
    const [first] = failed;
    if (!first) return;
    await store.write((tx) => {
      for (const { job } of failed) forgetDelivery(tx, job.turn, job.delivery);
    });
    throw first.error;
  }

  /** A job that stays claims the turn or is refused: either is well. */
  async #remove(ref: TurnJobRef): Promise<void> {
    try {
      await this.dependencies.transport.removeTurnJob(ref);
    } catch (error) {
      if (!isSuzumioError(error, 'server-unreachable')) throw error;
      this.dependencies.logger.debug({ err: error, turn: ref.turn }, 'an older job stays in the queue');
    }
  }

  #ref({ turn, epoch, delivery }: QueuedTurn): TurnJobRef {
    return { cell: this.dependencies.cell, turn, epoch, delivery };
  }
}
