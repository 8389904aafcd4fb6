import type { RepositoryDiffJob } from '@suzumio/protocol/repository-diff';
import type { TurnJob, TurnJobRef } from '@suzumio/protocol/turn-job';
import type { LostWorker, WorkerPresence } from '@suzumio/protocol/worker-presence';

/** How long a consumer's `close` waits for its handlers. A caller that needs longer pauses first and waits itself. */
export const closeWithinMs = 5_000;

/** A consumer takes work until it is closed. `close` waits for running handlers, {@link closeWithinMs} at most. */
export interface Consumer {
  close(): Promise<void>;
}

/** A hint, which may be lost, that a project has events up to `seq`. */
export interface EventHint {
  project: string;
  seq: number;
}

/** How many jobs of all cells are on the turn queue. */
export interface TurnJobCounts {
  waiting: number;
  active: number;
  delayed: number;
}

/** The result of taking places in the queue. */
export interface PlacesTaken {
  /** Those of the requested places that are held now. */
  held: ReadonlySet<string>;
  /** How many more could be taken now. */
  free: number;
}

/**
 * Carries hints and jobs between the services of a cell. It is no source of truth: the sweep finds what it loses in
 * SQLite. `wake` and `hint` never throw or wait.
 */
export interface Transport {
  /** Where jobs are kept. */
  readonly kind: 'redis' | 'memory';

  /** Signals that a project may need scheduling. */
  wake(project: string): void;
  /** Consumes wakes; two of one project never run at once, and one that arrives during a run causes another run. */
  consumeWakes(handler: (project: string) => Promise<void>): Consumer;

  /** Signals that a project has new events. */
  hint(hint: EventHint): void;
  onHint(listener: (hint: EventHint) => void): () => void;

  /**
   * Takes places in the queue (`placeOf`) for turns of this cell, in order: the fleet's slots limit how many are held,
   * over all cells. A place that is held already counts as taken. Rejects as `addTurnJob` does.
   */
  takePlaces(places: readonly string[]): Promise<PlacesTaken>;
  /** Frees places. This is a hint: the sweep finds a place that stays held without a queued turn. */
  givePlacesBack(places: readonly string[]): void;
  /** Places held for longer than `olderThanMs`. Rejects as `addTurnJob` does. */
  heldPlaces(olderThanMs: number): Promise<string[]>;

  /**
   * Puts a job on the turn queue; an existing job with its id stays unchanged.
   *
   * @throws SuzumioError `server-unreachable` when the queue cannot be reached now
   */
  addTurnJob(job: TurnJob): Promise<void>;
  /** The ids (`turnJobId`) of those of these jobs that wait or run. Rejects as `addTurnJob` does. */
  liveTurnJobs(jobs: readonly TurnJobRef[]): Promise<ReadonlySet<string>>;
  /** Rejects as `addTurnJob` does. */
  turnJobs(): Promise<TurnJobCounts>;
  /** How many jobs precede this one; undefined where it does not wait. Rejects as `addTurnJob` does. */
  turnJobsAhead(job: TurnJobRef): Promise<number | undefined>;
  /** Consumes turn jobs, at most `concurrency` at a time. The queue ignores the handler's outcome. */
  consumeTurns(options: { concurrency: number }, handler: (job: TurnJob) => Promise<void>): TurnConsumer;

  /** Puts a comparison of commits on its queue. Rejects as `addTurnJob` does. */
  addRepositoryDiff(job: RepositoryDiffJob): Promise<void>;
  /** Consumes comparisons, one at a time. The queue ignores the handler's outcome. */
  consumeRepositoryDiffs(handler: (job: RepositoryDiffJob) => Promise<void>): TurnConsumer;

  /** Announces a worker, for ten seconds. */
  announce(presence: WorkerPresence): Promise<void>;
  /** Withdraws a worker's announcement at once. */
  depart(worker: string): Promise<void>;
  /** The last announcement of each live worker. Rejects as `addTurnJob` does. */
  fleet(): Promise<WorkerPresence[]>;
  /** The workers that fell silent without a farewell within a day, the last one first. Rejects as `addTurnJob` does. */
  lostWorkers(): Promise<LostWorker[]>;

  /** Whether the queue can be reached now. */
  healthy(): Promise<boolean>;
  /** Calls `listener` after each outage: the moment for a sweep. */
  onRecovered(listener: () => void): () => void;
  /** Closes every consumer, then all connections; bounded, also while the queue is unreachable. */
  close(): Promise<void>;
}

/** A worker's consumer of a queue. */
export interface TurnConsumer extends Consumer {
  /** Takes no more jobs; running ones continue. */
  pause(): Promise<void>;
  resume(): void;
}
