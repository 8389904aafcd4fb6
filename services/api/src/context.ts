import type { Logger } from '@suzumio/runtime/observability/logger';
import type { Metrics } from '@suzumio/runtime/observability/metrics';
import type { HostPaths } from '@suzumio/core/policy/host-paths';
import type { Policy } from '@suzumio/core/policy/policy';
import type { Transport } from '@suzumio/runtime/queue/transport';
import type { Cell } from '@suzumio/store/cell/cell';

/** What the API works with. */
export interface ApiDependencies {
  cell: Cell;
  transport: Transport;
  logger: Logger;
  metrics: Metrics;
}

/** What its routers share. */
export interface ApiContext extends ApiDependencies {
  /** What posted files may ask of a host. */
  policy: Policy;
  /** What all projects together may spend on models in a day, in dollars. */
  budgetUsdPerDay?: number | undefined;
  /** The path below which the API is reached, without a slash at its end; empty where it is reached itself. */
  publicPath: string;
  /** This machine's disk, as far as posted files name paths of it. */
  host: HostPaths;
}
