import type { ClaimAnswer } from '@suzumio/shared/protocol/attempts';
import type { Logger } from '@suzumio/shared/observability/logger';
import type { Metrics } from '@suzumio/shared/observability/metrics';
import type { TurnWorkerConfig } from '../config.js';
import type { TurnEngine } from '../engine/turn-engine.js';
import type { Workspaces } from '../workspace/workspaces.js';
import type { AttemptStates } from './attempt-states.js';
import type { WorkerPaths } from './turn-directory.js';

/** The engines of a worker, by the backend that they are. */
export type Engines = Partial<Record<ClaimAnswer['backend'], TurnEngine>>;

/** What a worker counts of its attempts. */
export type AttemptMetrics = Pick<Metrics, 'turnJobsTaken' | 'attemptsRunning' | 'attemptsStopped' | 'stageDuration'>;

/** What all attempts of a worker share. */
export interface WorkerParts {
  config: Pick<TurnWorkerConfig, 'cells' | 'limits'>;
  paths: WorkerPaths;
  /** This worker's id. */
  worker: string;
  engines: Engines;
  workspaces: Workspaces;
  states: AttemptStates;
  logger: Logger;
  metrics?: AttemptMetrics | undefined;
  /** A monotonic clock. */
  now: () => number;
  /** An attempt could not even start: this host may not be able to run any. */
  onSuspect: () => void;
}
