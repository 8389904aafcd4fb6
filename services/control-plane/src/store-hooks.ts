import type { Logger } from '@suzumio/runtime/observability/logger';
import type { Metrics } from '@suzumio/runtime/observability/metrics';
import type { Transport } from '@suzumio/runtime/queue/transport';
import type { Cell } from '@suzumio/store/cell/cell';
import type { ProjectStoreHooks } from '@suzumio/store/projects/project-store';
import { eventCounter } from './event-counter.js';

/** Announces and counts what this process commits. */
export function storeHooks({
  transport,
  metrics,
  logger,
  fail,
}: {
  transport: Transport;
  metrics: Metrics;
  logger: Logger;
  /** Called with a fatal error, such as a schema of a later version. */
  fail: (error: unknown) => void;
}): ProjectStoreHooks {
  const count = eventCounter(metrics);
  return {
    onCreated: (project) => transport.hint({ project, seq: 0 }),
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
