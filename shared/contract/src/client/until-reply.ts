import { retry } from '@suzumio/protocol/retry';
import type { ReplyAnswer } from '../model/reply.js';
import type { Client } from './client.js';
import { mayBeTriedAgain } from './event-stream.js';

export interface UntilReply {
  readonly project: string;
  /** The message that is answered, by id or number. */
  readonly message: string;
  /** @default no limit */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal;
}

/** One request waits no longer than this. */
const mostMs = 50_000;
/** How long a server that stops is asked again. */
const away = { firstDelayMs: 500, longestDelayMs: 5_000, patienceMs: 60_000 };

/**
 * Waits until a message has a reply to its sender, or none is expected. A server that stops meanwhile is asked again
 * for a minute.
 *
 * @returns the reply; why none is expected; or that one may still come when the time was up
 */
export async function untilReply(
  api: Pick<Client, 'waitForReply'>,
  { project, message, timeoutMs = Infinity, signal }: UntilReply,
): Promise<ReplyAnswer> {
  const deadlineMs = performance.now() + timeoutMs;
  const isOver = () => performance.now() >= deadlineMs;
  const isRetryable = (error: unknown) => !isOver() && signal?.aborted !== true && mayBeTriedAgain(error);
  const ask = () => {
    const leftMs = Math.max(0, Math.round(deadlineMs - performance.now()));
    const timeout = `${String(Math.min(leftMs, mostMs))}ms`;
    return api.waitForReply({ project, message, query: { timeout } }, { signal });
  };
  for (;;) {
    const answer = await retry(ask, { ...away, isRetryable, signal });
    if (answer.state !== 'waiting' || isOver()) return answer;
  }
}
