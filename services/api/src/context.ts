import type { Logger } from '@suzumio/shared/observability/logger';
import type { Metrics } from '@suzumio/shared/observability/metrics';
import type { Transport } from '@suzumio/shared/queue/transport';
import type { Cell } from '@suzumio/shared/store/cell';

/** What the API works with. */
export interface ApiDependencies {
  cell: Cell;
  transport: Transport;
  logger: Logger;
  metrics: Metrics;
}

/** What its routers share. */
export interface ApiContext extends ApiDependencies {
  /** Real paths of the directories that a posted file may have workspaces copied from. */
  workspaceRoots: readonly string[];
}
