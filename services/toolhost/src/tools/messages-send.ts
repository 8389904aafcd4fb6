import * as z from 'zod';
import { maxAttachments } from '@suzumio/shared/protocol/artifacts';
import { priority } from '@suzumio/shared/protocol/ids';
import { maxMessageBytes, postMessage } from '@suzumio/shared/store/verbs/post-message';
import { defineTool } from './tool.js';

export const messagesSend = defineTool({
  name: 'messages.send',
  description:
    'Send a message to one agent (recipient) or to a channel, never both. It wakes whoever it is addressed to. ' +
    'Send to "user" to tell the person something.',
  input: z.strictObject({
    recipient: z.string().min(1).max(200).optional().describe('An agent id or name, or "user".'),
    channel: z.string().min(1).max(200).optional().describe('A channel such as "#project".'),
    priority: priority.default('P1').describe('P0 is the most urgent, P3 the least.'),
    body: z
      .string()
      .min(1)
      .refine((body) => Buffer.byteLength(body) <= maxMessageBytes, `at most ${String(maxMessageBytes)} bytes`),
    attachments: z
      .array(z.string().min(1).max(200))
      .max(maxAttachments)
      .optional()
      .describe('Published artifacts to point the reader to: their ids, or names (the newest of that name).'),
  }),
  prepare: (input) => (tx, site) => {
    const message = postMessage(tx, { ...input, sender: site.agent, actor: site.agent, turn: site.turn });
    const to = input.channel ?? input.recipient ?? '';
    return {
      output: `Sent to ${to} as ${message.id}.`,
      metadata: { message: message.id, recipients: message.recipients },
    };
  },
});
