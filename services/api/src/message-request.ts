import { z } from 'zod';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { parse } from '@suzumio/runtime/http/validate';
import { type SendMessageRequest, sendMessageRequest } from '@suzumio/contract/model/http-api';
import { USER_ID } from '@suzumio/contract/model/project-config';
import { priority } from '@suzumio/protocol/ids';
import type { Tx } from '@suzumio/store/sqlite/tx';
import { postMessage } from '@suzumio/store/mail/post-message';

const claims = z.object({ sender: z.string().optional(), priority: z.string().optional() });

/** Reads a message that a person sends. `where` is its place in the request. */
export function readMessage(body: unknown, where: string): SendMessageRequest {
  return readMail(sendMessageRequest, body, where);
}

/**
 * Reads mail of a person, of whatever kind.
 *
 * @throws SuzumioError `sender-forged` and `priority-unknown`, which have codes of their own; `invalid-request`
 */
export function readMail<Mail extends z.ZodType>(schema: Mail, body: unknown, where = 'body'): z.output<Mail> {
  const claimed = claims.safeParse(body);
  if (claimed.success) {
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
  return parse(schema, body, where);
}

/** Writes it, in the name of whose token it came with. */
export function postFromUser(tx: Tx, message: SendMessageRequest, actor: string) {
  return { ...postMessage(tx, { ...message, sender: USER_ID, actor }) };
}
