import type { StorageLimits } from '@suzumio/contract/model/storage';
import type { Logger } from '@suzumio/runtime/observability/logger';
import type { Metrics } from '@suzumio/runtime/observability/metrics';
import { createBullMqTransport } from '@suzumio/runtime/queue/bullmq-transport';
import type { Transport } from '@suzumio/runtime/queue/transport';
import { Cell } from '@suzumio/store/cell/cell';
import type { ProjectStoreHooks } from '@suzumio/store/projects/project-store';
import { eventCounter } from './event-counter.js';

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
  logger: Logger;
  metrics: Metrics;
  /** Called with a fatal error, such as a schema of a later version. */
  fail: (error: unknown) => void;
  /** The policy's storage limits. */
  storage: StorageLimits;
}

/** Opens a data directory; every commit that appends events is announced over the transport. */
export function openControlPlane(
  options: ControlPlaneOptions & { transport: Transport; transportName: string },
): ControlPlane {
  const { transport, transportName } = options;
  const cell = Cell.open(options.root, { id: options.cellId, hooks: storeHooks(options), storage: options.storage });
  tellCopied(cell, options.logger);
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

/** The same over Redis, for services in processes of their own. */
export function openControlPlaneOverRedis(options: ControlPlaneOptions & { redisUrl: string }): ControlPlane {
  const { redisUrl, cellId, logger } = options;
  const { host, pathname } = new URL(redisUrl);
  return openControlPlane({
    ...options,
    transport: createBullMqTransport({ redisUrl, cell: cellId, logger }),
    transportName: `redis ${host}${pathname}`,
  });
}

/** Announces and counts what this process commits. */
export function storeHooks({
  transport,
  metrics,
  logger,
  fail,
}: Pick<ControlPlaneOptions, 'metrics' | 'logger' | 'fail'> & { transport: Transport }): ProjectStoreHooks {
  const count = eventCounter(metrics);
  return {
    onEvents(project, events) {
      const newest = events.at(-1);
      if (newest) transport.hint({ project, seq: newest.seq });
      events.forEach(count);
    },
    onTransaction: (outcome, durationMs) => metrics.storeTransactionDuration.observeMs({ outcome }, durationMs),
    onHookFailed: (project, err) =>
      logger.error({ err, project }, 'a transaction was committed, but announcing or counting it failed'),
    onOutdated: fail,
    onRestored(project, { epoch, before }) {
      logger.warn({ project, epoch, before }, 'a project was restored from a copy: it begins a new epoch');
      transport.wake(project);
    },
  };
}

/** Logs that the whole data directory is a copy: its projects begin new epochs when they are opened. */
export function tellCopied({ catalog, directory }: Cell, logger: Logger): void {
  if (!catalog.copied) return;
  logger.warn(
    { root: directory.root },
    'this data directory is a copy: its projects begin new epochs. Tokens that were revoked since it was copied are good again: revoke them anew.',
  );
}
