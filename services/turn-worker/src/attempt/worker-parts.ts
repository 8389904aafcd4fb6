import type { AttemptRef, ClaimAnswer } from '@suzumio/protocol/attempts';
import type { HostPaths } from '@suzumio/core/policy/host-paths';
import type { Policy } from '@suzumio/core/policy/policy';
import type { Logger } from '@suzumio/runtime/observability/logger';
import type { Metrics } from '@suzumio/runtime/observability/metrics';
import type { TurnWorkerConfig } from '../config.js';
import type { Cells } from '../toolhost/cells.js';
import type { TurnEngine } from '../engine/turn-engine.js';
import type { Workspaces } from '../workspace/workspaces.js';
import type { AttemptStates } from './attempt-states.js';
import type { WorkerPaths } from './turn-directory.js';
import type { WorkerDisk } from './worker-disk.js';

/** The engines of a worker, by the backend that they are. */
export type Engines = Partial<Record<ClaimAnswer['backend'], TurnEngine>>;

/** What the turns of a project may ask of this host. */
export type PolicyOf = (of: Pick<AttemptRef, 'cell' | 'project'>) => Policy;

/** What a worker counts of its attempts. */
export type AttemptMetrics = Pick<
  Metrics,
  'turnJobsTaken' | 'attemptsRunning' | 'attemptsStopped' | 'stageDuration' | 'requestsRefused'
>;

/** What all attempts of a worker share. */
export interface WorkerParts {
  config: Pick<TurnWorkerConfig, 'limits' | 'relay'>;
  cells: Cells;
  policyOf: PolicyOf;
  paths: WorkerPaths;
  /** The disk that mounts come from, as it is now. */
  host: () => HostPaths;
  /** This worker's id. */
  worker: string;
  engines: Engines;
  workspaces: Workspaces;
  disk: WorkerDisk;
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
