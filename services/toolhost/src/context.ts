import type { Logger } from '@suzumio/runtime/observability/logger';
import type { Metrics } from '@suzumio/runtime/observability/metrics';
import type { HostPaths } from '@suzumio/core/policy/host-paths';
import type { Policy } from '@suzumio/core/policy/policy';
import type { SecretSource } from '@suzumio/runtime/process/secret-source';
import type { Transport } from '@suzumio/runtime/queue/transport';
import type { Cell } from '@suzumio/store/cell/cell';
import type { BodyReader } from './bodies/body-reader.js';
import type { RunnerBodies } from './bodies/runner-bodies.js';
import type { RefusalPace } from './refusal-pace.js';

/** What the ToolHost works with. */
export interface ToolhostDependencies {
  cell: Cell;
  transport: Transport;
  logger: Logger;
  metrics: Metrics;
  /** The keys of providers. */
  secrets: SecretSource;
}

/** What its handlers share. */
export interface ToolhostContext extends ToolhostDependencies {
  /** The secret from which attempts' tokens are derived. */
  cellKey: string;
  leaseMs: number;
  /** What a project's turns may ask of a host now. */
  policyOf: (project: string) => Policy;
  /** This machine's disk, as far as projects name paths of it. */
  host: HostPaths;
  /** Takes the bodies of runners' requests. */
  bodies: RunnerBodies;
  /** Reads what is in them. */
  reader: BodyReader;
  /** When their refused calls are answered. */
  refusals: RefusalPace;
  /** Names this process to others that might make the same call of a model. */
  owner: string;
  /** What the whole cell may spend in a day. */
  dayLimitNanoUsd: number | undefined;
}
