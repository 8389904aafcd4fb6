import * as z from 'zod';
import { taskMoves } from '@suzumio/contract/model/task-states';
import { atWork } from '@suzumio/contract/model/busy-agent';
import { plainText } from '@suzumio/protocol/plain-text';
import { replyToMessage } from '@suzumio/store/mail/reply-to-message';
import { messageFields, name } from './message-fields.js';
import { defineTool } from './tool.js';

export const messagesReply = defineTool({
  name: 'messages.reply',
  description:
    'Answer a message that you have read. The answer stays in its thread and goes to whoever wrote it, unless you name ' +
    'another recipient or a channel. If the thread is about a task that you were assigned, say with "task" how it stands, ' +
    'to whoever assigned it: "accepted" when you begin something longer, "done" with the result, "declined" with the reason. The last two are final.',
  input: z.strictObject({
    message: plainText.min(1).max(100).describe('The id of the message that you answer, such as msg_01ABC….'),
    recipient: name.optional().describe('An agent id or name, or "user". Leave out to answer the sender.'),
    channel: name.optional().describe('A channel such as "#project", instead of a recipient.'),
    task: z.enum(taskMoves).optional().describe('What becomes of the task that you were assigned in this thread.'),
    ...messageFields,
  }),
  prepare: (input) => (tx, site) => {
    const reply = replyToMessage(tx, { ...input, sender: site.agent, actor: site.agent, turn: site.turn });
    const { id, recipients, threadId, to, task } = reply;
    const said = `Replied to ${to} as ${id}.${task ? ` Task ${task.id} is ${task.state}.` : ''}`;
    return {
      output: [said, ...atWork(reply.busy, String)].join(' '),
      metadata: { message: id, recipients, threadId, task },
    };
  },
});
