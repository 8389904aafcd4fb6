import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { retry } from '@suzumio/protocol/retry';

/** How long the owner of a call may miss heartbeats before another process makes the call. */
export const callLeaseMs = 20_000;
export const heartbeatIntervalMs = 5_000;

/** How often a call that waits for another one polls. */
export const pollInterval = { firstDelayMs: 200, longestDelayMs: 1_000 };

/** Writes a paid answer. A busy store must not lose it, so the write is retried. */
export function writePaid<Result>(write: () => Promise<Result>): Promise<Result> {
  return retry(write, {
    firstDelayMs: 10,
    longestDelayMs: 1_000,
    patienceMs: 60_000,
    isRetryable: (error) => isSuzumioError(error, 'store-busy'),
  });
}
