import { setTimeout as sleep } from 'node:timers/promises';
import { ToolHostUnavailable } from './toolhost-errors.js';

const firstPauseMs = 100;
const longestPauseMs = 2_000;

/**
 * Repeats `operation` while it fails with {@link ToolHostUnavailable}, with growing pauses, until `patienceMs` have
 * passed or `signal` says so; then its last error is thrown.
 */
export async function retrying<T>(
  operation: () => Promise<T>,
  { patienceMs, signal, now }: { patienceMs: number; signal: AbortSignal; now: () => number },
): Promise<T> {
  const giveUpAt = now() + patienceMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return await operation();
    } catch (error) {
      if (!(error instanceof ToolHostUnavailable) || signal.aborted || now() + pauseMs > giveUpAt) throw error;
      await sleep(pauseMs, undefined, { signal }).catch(() => {
        throw error;
      });
    }
  }
}
