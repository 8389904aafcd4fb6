import type { PackInspector } from '@suzumio/control-plane/packs/pack-inspector';
import type { Logger } from '@suzumio/runtime/observability/logger';
import type { Metrics } from '@suzumio/runtime/observability/metrics';
import type { HostPaths } from '@suzumio/core/policy/host-paths';
import type { Policy } from '@suzumio/core/policy/policy';
import type { Transport } from '@suzumio/runtime/queue/transport';
import type { ToolHosts } from './live/toolhosts.js';
import type { Cell } from '@suzumio/store/cell/cell';

/** The API's collaborators. */
export interface ApiDependencies {
  cell: Cell;
  transport: Pick<
    Transport,
    | 'kind'
    | 'healthy'
    | 'wake'
    | 'hint'
    | 'onHint'
    | 'fleet'
    | 'lostWorkers'
    | 'turnJobs'
    | 'turnJobsAhead'
    | 'addRepositoryDiff'
  >;
  logger: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;
  metrics: Pick<Metrics, 'mailAccepted' | 'requestsRefused'> & { sseClients: Pick<Gauge, 'set' | 'inc' | 'dec'> };
}

type Gauge = Metrics['sseClients'];

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
  /** The directory with the examples of this installation, with its links resolved. @default none */
  examples?: string | undefined;
  /** Inspects packs that people push. */
  packs: PackInspector;
  /** Where the ToolHosts tell what running turns do; undefined where nothing is known of any. */
  toolhosts?: ToolHosts | undefined;
  /** Set where no service runs: the data directory is read, and there is no queue. */
  unserved?: boolean;
}
