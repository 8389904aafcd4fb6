import type { StorageLimits } from '@suzumio/contract/model/storage';
import type { Logger } from '@suzumio/runtime/observability/logger';
import type { Metrics } from '@suzumio/runtime/observability/metrics';
import { createBullMqTransport } from '@suzumio/runtime/queue/bullmq-transport';
import type { Transport } from '@suzumio/runtime/queue/transport';
import { Cell } from '@suzumio/store/cell/cell';
import { storeHooks, tellCopied } from './store-hooks.js';

/** What the services of a control plane share: the data, and the transport of hints and jobs. */
export interface ControlPlane {
  cell: Cell;
  transport: Transport;
  /** The transport's name in the catalog: processes with different transports must not share a data directory. */
  transportName: string;
  close(): Promise<void>;
}

interface ControlPlaneOptions {
  root: string;
  cellId: string;
  redisUrl: string;
  logger: Logger;
  metrics: Metrics;
  /** Called with a fatal error, such as a schema of a later version. */
  fail: (error: unknown) => void;
  /** The policy's storage limits. */
  storage: StorageLimits;
}

/**
 * Opens a data directory over Redis, for services in processes of their own; every commit that appends events is
 * announced over the transport.
 */
export function openControlPlaneOverRedis({
  root,
  cellId,
  redisUrl,
  storage,
  ...options
}: ControlPlaneOptions): ControlPlane {
  const { host, pathname } = new URL(redisUrl);
  const transport = createBullMqTransport({ redisUrl, cell: cellId, logger: options.logger });
  const cell = Cell.open(root, { id: cellId, hooks: storeHooks({ ...options, transport }), storage });
  tellCopied(cell, options.logger);
  return {
    cell,
    transport,
    transportName: `redis ${host}${pathname}`,
    async close() {
      await transport.close();
      await cell.close();
    },
  };
}
