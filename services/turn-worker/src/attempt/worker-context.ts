import type { Logger } from '@suzumio/runtime/observability/logger';
import type { Metrics } from '@suzumio/runtime/observability/metrics';
import type { AttemptStates } from './attempt-states.js';

/** A worker's metrics of its attempts. */
export type AttemptMetrics = Pick<
  Metrics,
  | 'turnJobsTaken'
  | 'attemptsRunning'
  | 'attemptsStopped'
  | 'stageDuration'
  | 'requestsRefused'
  | 'captures'
  | 'capturedBytes'
  | 'captureDuration'
>;

/** The worker, as its attempts use it. */
export interface WorkerContext {
  /** This worker's id. */
  worker: string;
  states: AttemptStates;
  logger: Logger;
  metrics?: AttemptMetrics | undefined;
  /** Aborted when this worker stops: no turn begins any more. */
  stopping: AbortSignal;
  /** A monotonic clock. */
  now: () => number;
  /** An attempt failed as any other would: this host may be unable to run turns. */
  onSuspect: () => void;
  /** The ToolHost ended an attempt, perhaps because its project was deleted. */
  onCancelled: () => void;
}
