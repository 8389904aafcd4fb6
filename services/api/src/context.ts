import type { Logger } from '@suzumio/runtime/observability/logger';
import type { Metrics } from '@suzumio/runtime/observability/metrics';
import type { HostPaths } from '@suzumio/core/policy/host-paths';
import type { Policy } from '@suzumio/core/policy/policy';
import type { Transport } from '@suzumio/runtime/queue/transport';
import type { Cell } from '@suzumio/store/cell/cell';

/** The API's collaborators. */
export interface ApiDependencies {
  cell: Cell;
  transport: Transport;
  logger: Logger;
  metrics: Metrics;
}

/** What the operations share. */
export interface ApiContext extends ApiDependencies {
  /** The policy for posted project files. */
  policy: Policy;
  /** The budget of all projects for a day, in dollars. */
  budgetUsdPerDay?: number | undefined;
  /** The public path prefix of the API, without a trailing slash; empty without one. */
  publicPath: string;
  /** This machine's file system, for paths in posted project files. */
  host: HostPaths;
}
