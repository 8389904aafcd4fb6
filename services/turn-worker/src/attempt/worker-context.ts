import type { Logger } from '@suzumio/runtime/observability/logger';
import type { Metrics } from '@suzumio/runtime/observability/metrics';
import type { AttemptStates } from './attempt-states.js';

/** What a worker counts of its attempts. */
export type AttemptMetrics = Pick<
  Metrics,
  'turnJobsTaken' | 'attemptsRunning' | 'attemptsStopped' | 'stageDuration' | 'requestsRefused'
>;

/** The worker that attempts are made by. */
export interface WorkerContext {
  /** This worker's id. */
  worker: string;
  states: AttemptStates;
  logger: Logger;
  metrics?: AttemptMetrics | undefined;
  /** Aborted when this worker is told to stop: no turn begins any more. */
  stopping: AbortSignal;
  /** A monotonic clock. */
  now: () => number;
  /** An attempt met what any other one would meet: this host may not be able to run any. */
  onSuspect: () => void;
  /** An attempt was ended from elsewhere, perhaps because its project was deleted. */
  onCancelled: () => void;
}
