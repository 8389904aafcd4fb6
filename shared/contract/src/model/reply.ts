import * as z from 'zod';
import { maxListedRecipients, messageView } from './message.js';

/** Why no reply to a message comes for now. */
export const noReplyCodes = [
  'no-agent',
  'unanswerable',
  'project-initialized',
  'project-stopped',
  'project-submitted',
  'project-completed',
  'agent-failed',
  'agent-stopped',
  'agent-retired',
  'turn-failed',
  'turn-cancelled',
  'turn-ended',
] as const;

export const noReplyReason = z.object({
  agent: z.string().nullable().describe('Whose reply does not come; null where it went to no agent.'),
  code: z.enum(noReplyCodes),
  sentence: z.string().describe('What it is, for a person.'),
  next: z.string().nullable().describe('The command of `suzumio` that comes next, without its name.'),
});
export type NoReplyReason = z.infer<typeof noReplyReason>;

/** Whether a message has been answered. */
export const replyAnswer = z.object({
  message: z.string().describe('The id of the message that was asked for.'),
  state: z
    .enum(['replied', 'waiting', 'not-expected'])
    .describe(
      '`replied`: there is a reply; `waiting`: the time was up, and one may still come; `not-expected`: for now none will come, because of all `reasons`.',
    ),
  reply: messageView.nullable().describe('The first reply to who sent the message.'),
  reasons: z
    .array(noReplyReason)
    .describe(
      `Where no reply is expected, why not: one for each agent that has the message, at most ${maxListedRecipients}.`,
    ),
});
export type ReplyAnswer = z.infer<typeof replyAnswer>;
