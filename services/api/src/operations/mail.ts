import * as z from 'zod';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { parse } from '@suzumio/runtime/http/validate';
import { type SendMessageRequest, sendMessageRequest } from '@suzumio/contract/operations/messages';
import { USER_ID } from '@suzumio/contract/model/project-config';
import type { OperationShape } from '@suzumio/contract/operations/operation';
import { priority } from '@suzumio/protocol/ids';
import type { Tx } from '@suzumio/store/sqlite/tx';
import { postMessage } from '@suzumio/store/mail/post-message';

const claims = z.object({ sender: z.string().optional(), priority: z.string().optional() });

/**
 * Refuses a person's mail with a forged sender or an unknown priority: with the same codes anywhere in a body.
 *
 * @throws SuzumioError `sender-forged`, `priority-unknown`; `invalid-request`
 */
export function refuseForgedMail({ mail }: OperationShape, body: unknown): void {
  if (mail === 'body') refuseClaims(body);
  if (mail !== 'message' || typeof body !== 'object' || body === null || !('message' in body)) return;
  if (body.message === undefined) return;
  refuseClaims(body.message);
  parse(sendMessageRequest, body.message, 'message');
}

function refuseClaims(mail: unknown): void {
  const claimed = claims.safeParse(mail);
  if (!claimed.success) return;
  const { sender, priority: urgency } = claimed.data;
  if (sender !== undefined && sender !== USER_ID) {
    throw new SuzumioError(
      'sender-forged',
      `Mail over HTTP is from "${USER_ID}"; leave "sender" out. Agents send with the tool messages.send.`,
    );
  }
  if (urgency !== undefined && !priority.safeParse(urgency).success) {
    throw new SuzumioError(
      'priority-unknown',
      `There is no priority "${urgency.slice(0, 40)}"; there are ${priority.options.join(', ')}.`,
    );
  }
}

/** Writes mail of the person; the token's name is the actor. */
export function postFromUser(tx: Tx, message: SendMessageRequest, actor: string) {
  return { ...postMessage(tx, { ...message, sender: USER_ID, actor }) };
}
