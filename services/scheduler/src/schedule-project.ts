import { holderOf, placeOf } from '@suzumio/runtime/queue/jobs';
import { type TurnJob, turnJobId, type TurnJobRef } from '@suzumio/protocol/turn-job';
import type { Metrics } from '@suzumio/runtime/observability/metrics';
import type { PlacesTaken, Transport } from '@suzumio/runtime/queue/transport';
import type { Cell } from '@suzumio/store/cell/cell';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import type { SqlReader } from '@suzumio/store/sqlite/sql';
import {
  deliverableTurns,
  deliverTurn,
  forgetDelivery,
  type OpenCircuits,
  type QueuedTurn,
  unclaimedDelivery,
} from '@suzumio/store/turns/deliver-turn';
import { giveUpWaiting, impatientTurns } from '@suzumio/store/turns/give-up-waiting';
import { agentsToStart, type CellBounds, startTurns } from '@suzumio/store/turns/start-turns';

/** What a visit knows besides the project's state. */
interface Look {
  bounds: CellBounds;
  away: OpenCircuits;
  /** Jobs that seemed lost and were looked up. Others that seem lost are looked up next time. */
  asked: ReadonlySet<string>;
  /** Those of them that are still in the queue. */
  live: ReadonlySet<string>;
  /** Queued turns that seemed to need a job. */
  deliverable: readonly QueuedTurn[];
}

interface Delivery {
  job: TurnJob;
  place: string;
  again: boolean;
}

/**
 * Schedules a project: starts a turn for each agent that is ready, and puts queued turns on the queue, most urgent
 * first, as far as there are places. Safe alongside other schedulers: decisions are made again inside the transaction,
 * and places are shared by all.
 *
 * A project with nothing to do costs some reads and no transaction.
 */
export class ProjectScheduler {
  constructor(
    private readonly cell: Cell,
    private readonly transport: Transport,
    private readonly metrics: Metrics,
  ) {}

  /** Whether what is scheduled can be put on the queue. */
  queueAnswers(): Promise<boolean> {
    return this.transport.healthy();
  }

  /**
   * @param places how many the project was dealt; without it the project takes free ones, and none while others wait
   * @returns how many turns were put on the queue. Afterwards the project is in the line if more of its turns want a
   *   place.
   * @throws SuzumioError `server-unreachable` when the queue cannot be reached; undelivered turns are delivered later
   */
  async schedule(store: ProjectStore, places?: number): Promise<number> {
    const { catalog, disk } = this.cell;
    const line = catalog.waitingLine;
    if (catalog.pause.current !== null || disk.isShortFor('rows')) return 0;
    const look = await this.#look(store);
    const starting = agentsToStart(store.reader, store.config, look.bounds);
    const wanting = [...this.#due(look.deliverable, look), ...starting].sort(byPriority);
    if (wanting.length === 0) {
      if (places !== undefined) await line.leave(store.project);
      return 0;
    }
    const most = places ?? (line.empty ? wanting.length : 0);
    if (most === 0 && starting.length === 0) {
      await line.join(store.project);
      return 0;
    }
    const chosen = wanting.slice(0, most).map(({ agent }) => placeOf({ project: store.project, agent }));
    const { delivered, left } = await this.#deliver(store, look, chosen);
    await (left > 0 ? line.join(store.project) : line.leave(store.project));
    return delivered;
  }

  async #look(store: ProjectStore): Promise<Look> {
    const { catalog, context, disk, id: cell } = this.cell;
    const nowMs = context.now();
    const day = catalog.spending.budget;
    const away = new Map([...catalog.circuits.away(store.project), ...(day ? [[day.gate, day.endsMs] as const] : [])]);
    if (impatientTurns(store.reader, nowMs, away).length > 0) await store.write((tx) => giveUpWaiting(tx, away));
    const closed = [...away].filter(([, untilMs]) => untilMs > nowMs).map(([key]) => key);
    // Without room for files, the first capture of a turn would fail.
    const bounds = { day, closed, withoutWorkspaces: disk.isShortFor('files') };
    const deliverable = this.#deliverable(store.reader, store, away, nowMs);
    const lost = deliverable.filter((turn) => turn.lost).map((turn) => jobOf(cell, turn));
    const live = lost.length === 0 ? new Set<string>() : await this.transport.liveTurnJobs(lost);
    return { bounds, away, asked: new Set(lost.map(turnJobId)), live, deliverable };
  }

  /** Those of the turns that need a job: not those whose jobs seem lost and are not. */
  #due(deliverable: readonly QueuedTurn[], { asked, live }: Look): QueuedTurn[] {
    return deliverable.filter((turn) => {
      const id = turnJobId(jobOf(this.cell.id, turn));
      return !turn.lost || (asked.has(id) && !live.has(id));
    });
  }

  #deliverable(reader: SqlReader, { config }: ProjectStore, away: OpenCircuits, nowMs: number): QueuedTurn[] {
    if (this.cell.disk.isShortFor('files')) return [];
    return deliverableTurns(reader, nowMs, away, config.scheduler.maxConcurrentTurns);
  }

  /**
   * Starts turns and puts those with places on the queue. Places are requested while the transaction commits: usually
   * there is room, and nothing waits for the answer.
   */
  async #deliver(
    store: ProjectStore,
    look: Look,
    chosen: readonly string[],
  ): Promise<{ delivered: number; left: number }> {
    const taking = chosen.length === 0 ? noPlaces : this.transport.takePlaces(chosen);
    const [taken, recorded] = await Promise.allSettled([taking, this.#record(store, look, chosen)]);
    try {
      if (recorded.status === 'rejected') throw recorded.reason;
      const { deliveries, wanting } = recorded.value;
      const delivered = await this.#add(store, deliveries, taken);
      return { delivered, left: wanting - delivered };
    } finally {
      if (taken.status === 'fulfilled') this.#leaveUnused(store, taken.value.held);
    }
  }

  /** Records the deliveries, before the turns are put on the queue. */
  #record(
    store: ProjectStore,
    look: Look,
    chosen: readonly string[],
  ): Promise<{ deliveries: Delivery[]; wanting: number }> {
    const cell = this.cell.id;
    return store.write((tx) => {
      startTurns(tx, look.bounds);
      const due = this.#due(this.#deliverable(tx, store, look.away, tx.nowMs), look);
      const deliveries = due.flatMap((turn): Delivery[] => {
        const place = placeOf({ project: store.project, agent: turn.agent });
        const job = chosen.includes(place) ? deliverTurn(tx, turn.turn, turn.delivery) : undefined;
        return job ? [{ job: { cell, ...job }, place, again: turn.lost }] : [];
      });
      return { deliveries, wanting: due.length };
    });
  }

  /**
   * Puts jobs with places on the queue, and forgets the deliveries of the others.
   *
   * @returns how many were put on the queue
   * @throws the queue's error
   */
  async #add(
    store: ProjectStore,
    deliveries: readonly Delivery[],
    taken: PromiseSettledResult<Pick<PlacesTaken, 'held'>>,
  ): Promise<number> {
    const { transport, metrics } = this;
    const outcomes = await Promise.allSettled(
      deliveries.map(async ({ job, place, again }) => {
        if (taken.status === 'rejected') throw taken.reason;
        if (!taken.value.held.has(place)) return false;
        await transport.addTurnJob(job);
        metrics.turnJobs.inc({ outcome: again ? 'redelivered' : 'delivered' });
        return true;
      }),
    );
    const failures = outcomes.filter((outcome) => outcome.status === 'rejected');
    metrics.turnJobs.inc({ outcome: 'undelivered' }, failures.length);
    const undelivered = deliveries.filter((_delivery, at) => !isDone(outcomes[at]));
    if (undelivered.length > 0) {
      await store.write((tx) => {
        for (const { job } of undelivered) forgetDelivery(tx, job.turn, job.delivery);
      });
    }
    if (failures[0]) throw failures[0].reason;
    return deliveries.length - undelivered.length;
  }

  /** Frees places without a turn on the queue, of this visit or a concurrent one. */
  #leaveUnused(store: ProjectStore, held: ReadonlySet<string>): void {
    const unused = [...held].filter((place) => !unclaimedDelivery(store.reader, holderOf(place).agent));
    if (unused.length > 0) this.transport.givePlacesBack(unused);
  }
}

const noPlaces = { held: new Set<string>() };

function isDone(outcome: PromiseSettledResult<boolean> | undefined): boolean {
  return outcome?.status === 'fulfilled' && outcome.value;
}

/** `P0` sorts before `P3` as text. */
function byPriority(a: { priority: string }, b: { priority: string }): number {
  return a.priority < b.priority ? -1 : a.priority > b.priority ? 1 : 0;
}

function jobOf(cell: string, { turn, epoch, delivery }: QueuedTurn): TurnJobRef {
  return { cell, turn, epoch, delivery };
}
