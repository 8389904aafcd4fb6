import * as z from 'zod';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { plainText } from '@suzumio/protocol/plain-text';
import { messageFor } from '@suzumio/store/mail/messages';
import { defineTool } from './tool.js';

export const messagesRead = defineTool({
  name: 'messages.read',
  description: 'Read one message in full, by its id: one that you sent, or that was addressed to you or your channel.',
  input: z.strictObject({ id: plainText.min(1).max(100).describe('A message id such as msg_01ABC….') }),
  prepare:
    ({ id }) =>
    (tx, site) => {
      const message = messageFor(tx, site.agent, id);
      if (!message) {
        throw new SuzumioError('message-unknown', `There is no message "${id}" that you sent or were sent.`, {
          message: id,
        });
      }
      const { sender, recipient, channel, priority, kind, threadId, replyTo, createdAt, attachments } = message;
      const metadata = { id, sender, recipient, channel, priority, kind, threadId, replyTo, createdAt, attachments };
      return { output: message.body, metadata };
    },
});
