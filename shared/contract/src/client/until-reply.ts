import type { ReplyAnswer } from '../model/reply.js';
import type { Client } from './client.js';
import { untilAnswer } from './until-answer.js';

export interface UntilReply {
  readonly project: string;
  /** The message that is answered, by id or number. */
  readonly message: string;
  /** @default no limit */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal;
}

/**
 * Waits until a message has a reply to its sender, or none is expected. A server that stops meanwhile is asked again
 * for a minute.
 *
 * @returns the reply; why none is expected; or that one may still come when the time was up
 */
export function untilReply(
  api: Pick<Client, 'waitForReply'>,
  { project, message, ...patience }: UntilReply,
): Promise<ReplyAnswer> {
  const { signal } = patience;
  return untilAnswer(
    (timeout) => api.waitForReply({ project, message, query: { timeout } }, { signal }),
    ({ state }) => state !== 'waiting',
    patience,
  );
}
