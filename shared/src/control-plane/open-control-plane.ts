import type { Logger } from '../observability/logger.js';
import type { Metrics } from '../observability/metrics.js';
import { createBullMqTransport } from '../queue/bullmq-transport.js';
import type { Transport } from '../queue/transport.js';
import { Cell } from '../store/cell.js';

/** What the services of a control plane share: the data and what carries hints and jobs. */
export interface ControlPlane {
  cell: Cell;
  transport: Transport;
  /** What the catalog is told of the transport: processes that differ in it must not share a data directory. */
  transportName: string;
  close(): Promise<void>;
}

interface ControlPlaneOptions {
  root: string;
  cellId: string;
  logger: Logger;
  metrics: Metrics;
}

/** Opens a data directory; every commit that appends events is announced over the transport. */
export function openControlPlane(
  options: ControlPlaneOptions & { transport: Transport; transportName: string },
): ControlPlane {
  const { transport, transportName, metrics } = options;
  const cell = Cell.open(options.root, {
    id: options.cellId,
    hooks: {
      onEvents: (project, seq) => transport.hint({ project, seq }),
      onTransaction: (durationMs) => metrics.storeTransactionDuration.observeMs({ outcome: 'committed' }, durationMs),
    },
  });
  return {
    cell,
    transport,
    transportName,
    async close() {
      await transport.close();
      await cell.close();
    },
  };
}

/** The same over Redis, for services that run as processes of their own. */
export function openControlPlaneOverRedis(options: ControlPlaneOptions & { redisUrl: string }): ControlPlane {
  const { redisUrl, cellId, logger } = options;
  const { host, pathname } = new URL(redisUrl);
  return openControlPlane({
    ...options,
    transport: createBullMqTransport({ redisUrl, cell: cellId, logger }),
    transportName: `redis ${host}${pathname}`,
  });
}
