import type { Policy } from '@suzumio/core/policy/policy';
import { loadPolicy } from '@suzumio/runtime/disk/load-policy';
import { policyFileOf } from '@suzumio/runtime/disk/policy-file';
import type { Logger } from '@suzumio/runtime/observability/logger';
import type { Metrics } from '@suzumio/runtime/observability/metrics';
import type { ControlPlaneEnvironment } from '@suzumio/runtime/process/service-environment';
import { createBullMqTransport } from '@suzumio/runtime/queue/bullmq-transport';
import type { Transport } from '@suzumio/runtime/queue/transport';
import { Cell } from '@suzumio/store/cell/cell';
import { databaseMemory } from '@suzumio/store/sqlite/memory-limits';
import { storeHooks, tellCopied } from './store-hooks.js';

/** What the services of a control plane share: the policy, the data, and the transport of hints and jobs. */
export interface ControlPlane {
  policy: Policy;
  cell: Cell;
  transport: Transport;
  /** The transport's name in the catalog: processes with different transports must not share a data directory. */
  transportName: string;
  close(): Promise<void>;
}

interface ControlPlaneOptions {
  logger: Logger;
  metrics: Metrics;
  /** Called with a fatal error, such as a schema of a later version. */
  fail: (error: unknown) => void;
  /** What open databases may take of this process's memory. @default what other services have for them */
  databaseBytes?: number;
}

/**
 * Opens a data directory over Redis, for services in processes of their own; every commit that appends events is
 * announced over the transport.
 */
export function openControlPlaneOverRedis(
  settings: ControlPlaneEnvironment,
  options: ControlPlaneOptions,
): ControlPlane {
  const { SUZUMIO_ROOT: root, SUZUMIO_CELL: id, SUZUMIO_REDIS_URL: redisUrl } = settings;
  const { logger, databaseBytes } = options;
  const policy = loadPolicy(policyFileOf(root, settings.SUZUMIO_POLICY_FILE));
  const { host, pathname } = new URL(redisUrl);
  const transport = createBullMqTransport({ redisUrl, cell: id, logger });
  const { maxOpen } = databaseMemory(databaseBytes);
  const hooks = storeHooks({ ...options, transport });
  const cell = Cell.open(root, { id, hooks, maxOpen, storage: policy.storage });
  tellCopied(cell, logger);
  return {
    policy,
    cell,
    transport,
    transportName: `redis ${host}${pathname}`,
    async close() {
      await transport.close();
      await cell.close();
    },
  };
}
