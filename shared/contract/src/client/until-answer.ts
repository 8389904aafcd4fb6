import { retry } from '@suzumio/protocol/retry';
import { mayBeTriedAgain } from './event-stream.js';

export interface Patience {
  /** @default no limit */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal;
}

/** One request waits no longer than this. */
const mostMs = 50_000;
/** How long a server that stops is asked again. */
const away = { firstDelayMs: 500, longestDelayMs: 5_000, patienceMs: 60_000 };

/**
 * Asks with a `timeout` until an answer is final or the time is up. A server that stops meanwhile is asked again for a
 * minute.
 *
 * @returns the last answer
 */
export async function untilAnswer<Answer>(
  ask: (timeout: string) => Promise<Answer>,
  isFinal: (answer: Answer) => boolean,
  { timeoutMs = Infinity, signal }: Patience,
): Promise<Answer> {
  const deadlineMs = performance.now() + timeoutMs;
  const isOver = () => performance.now() >= deadlineMs;
  const isRetryable = (error: unknown) => !isOver() && signal?.aborted !== true && mayBeTriedAgain(error);
  const once = () => {
    const leftMs = Math.max(0, Math.round(deadlineMs - performance.now()));
    return ask(`${String(Math.min(leftMs, mostMs))}ms`);
  };
  for (;;) {
    const answer = await retry(once, { ...away, isRetryable, signal });
    if (isFinal(answer) || isOver()) return answer;
  }
}
