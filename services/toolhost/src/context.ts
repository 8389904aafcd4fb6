import type { Logger } from '@suzumio/shared/observability/logger';
import type { Metrics } from '@suzumio/shared/observability/metrics';
import type { Transport } from '@suzumio/shared/queue/transport';
import type { Cell } from '@suzumio/shared/store/cell';

/** What the ToolHost works with. */
export interface ToolhostDependencies {
  cell: Cell;
  transport: Transport;
  logger: Logger;
  metrics: Metrics;
}

/** What its handlers share. */
export interface ToolhostContext extends ToolhostDependencies {
  /** The secret from which attempts' tokens are derived. */
  cellKey: string;
  /** What workers show to claim turns. */
  workerToken: string;
  leaseMs: number;
}
