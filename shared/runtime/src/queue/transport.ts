import type { TurnJob, TurnJobRef } from '@suzumio/protocol/turn-job';
import type { WorkerPresence } from '@suzumio/protocol/worker-presence';

/** How long `close` of a consumer waits for its handlers. Who needs longer stops taking work first and waits itself. */
export const closeWithinMs = 5_000;

/** Something that takes work until it is closed. `close` waits for handlers that run, {@link closeWithinMs} at most. */
export interface Consumer {
  close(): Promise<void>;
}

/** News that a project has events up to `seq`: a hint, never a fact. */
export interface EventHint {
  project: string;
  seq: number;
}

/** What became of a wish for places in the queue. */
export interface PlacesTaken {
  /** The places that were asked for and are held now. */
  held: ReadonlySet<string>;
  /** How many more could be taken now. */
  free: number;
}

/**
 * What carries hints and jobs between the services of a cell. It holds no truth: what it loses, the sweep finds
 * in SQLite. `wake` and `hint` never throw, never wait and never delay an answer.
 */
export interface Transport {
  /** Says that a project may have something to schedule. */
  wake(project: string): void;
  /** Takes wakes; two of one project never run at once, and one that comes during a run causes another run. */
  consumeWakes(handler: (project: string) => Promise<void>): Consumer;

  /** Says that a project has new events. */
  hint(hint: EventHint): void;
  onHint(listener: (hint: EventHint) => void): () => void;

  /**
   * Takes places in the queue (`placeOf`) for turns of this cell, in their order: as many places are held at a time as the
   * fleet has slots, whichever cell takes them. One that is held already counts as taken. Rejects as `addTurnJob` does.
   */
  takePlaces(places: readonly string[]): Promise<PlacesTaken>;
  /** Gives places back. A hint: a place that stays held without a turn that waits is found by the sweep. */
  givePlacesBack(places: readonly string[]): void;
  /** Places that have been held for longer than `olderThanMs`. Rejects as `addTurnJob` does. */
  heldPlaces(olderThanMs: number): Promise<string[]>;

  /**
   * Puts a job on the turn queue; one whose id is there already is left as it is.
   *
   * @throws SuzumioError `server-unreachable` when the queue cannot be reached now
   */
  addTurnJob(job: TurnJob): Promise<void>;
  /** The ids (`turnJobId`) of those of these jobs that wait in the queue or run. Rejects as `addTurnJob` does. */
  liveTurnJobs(jobs: readonly TurnJobRef[]): Promise<ReadonlySet<string>>;
  /** How many jobs on the turn queue, of all cells, no worker has taken. Rejects as `addTurnJob` does. */
  waitingTurnJobs(): Promise<number>;
  /** How many jobs are taken before this one; undefined where it does not wait. Rejects as `addTurnJob` does. */
  turnJobsAhead(job: TurnJobRef): Promise<number | undefined>;
  /** Takes turn jobs, at most `concurrency` at a time. The handler's outcome means nothing to the queue. */
  consumeTurns(options: { concurrency: number }, handler: (job: TurnJob) => Promise<void>): TurnConsumer;

  /** A worker says that it lives; forgotten after ten seconds. */
  announce(presence: WorkerPresence): Promise<void>;
  /** A worker says that it goes: it is forgotten at once. */
  depart(worker: string): Promise<void>;
  /** What each worker that lives has last said. Rejects as `addTurnJob` does. */
  fleet(): Promise<WorkerPresence[]>;

  /** Whether jobs can be carried now. */
  healthy(): Promise<boolean>;
  /** Calls `listener` whenever jobs can be carried again after they could not: the moment for a sweep. */
  onRecovered(listener: () => void): () => void;
  /** Closes every consumer, then all connections; bounded, also while the queue is unreachable. */
  close(): Promise<void>;
}

/** A worker's hold on the turn queue. */
export interface TurnConsumer extends Consumer {
  /** Takes no further job; those that run go on. */
  pause(): Promise<void>;
  resume(): void;
}
