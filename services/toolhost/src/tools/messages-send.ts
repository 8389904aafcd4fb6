import * as z from 'zod';
import { atWork } from '@suzumio/contract/model/busy-agent';
import { postMessage } from '@suzumio/store/mail/post-message';
import { messageFields, name } from './message-fields.js';
import { defineTool } from './tool.js';

export const messagesSend = defineTool({
  name: 'messages.send',
  description:
    'Send a message to one agent (recipient) or to a channel, never both. It wakes whoever it is addressed to. ' +
    'Send to "user" to tell the person something. To answer a message use messages.reply.',
  input: z.strictObject({
    recipient: name.optional().describe('An agent id or name, or "user".'),
    channel: name.optional().describe('A channel such as "#project".'),
    ...messageFields,
  }),
  prepare: (input) => (tx, site) => {
    const message = postMessage(tx, { ...input, sender: site.agent, actor: site.agent, turn: site.turn });
    const to = input.channel ?? input.recipient ?? '';
    return {
      output: [`Sent to ${to} as ${message.id}.`, ...atWork(message.busy, String)].join(' '),
      metadata: { message: message.id, recipients: message.recipients },
    };
  },
});
