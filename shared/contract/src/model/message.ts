import * as z from 'zod';
import { attachment } from '@suzumio/protocol/artifacts';
import { failure } from '@suzumio/protocol/failure-codes';
import { priority } from '@suzumio/protocol/ids';
import { messageKind } from '@suzumio/protocol/message-kind';
import { attemptView } from './attempt.js';
import { redaction } from './redaction.js';
import { foundText } from './search.js';
import { turnStatuses } from './states.js';

const time = z.iso.datetime();

export const messageView = z.object({
  id: z.string(),
  seq: z.int().describe("Its number in the project's mail."),
  sender: z.string().describe('An agent, `user` or `system`.'),
  recipient: z.string().nullable(),
  channel: z.string().nullable(),
  priority,
  kind: messageKind,
  body: z.string(),
  threadId: z.string().describe('The thread that it is in.'),
  replyTo: z.string().nullable().describe('The message that it answers.'),
  turn: z.string().nullable().describe('The turn that sent it.'),
  actor: z.string().describe("Who sent it: an agent, a token's name, `user` or `system`."),
  createdAt: time,
  redacted: redaction.nullable().describe('Set where its text was removed: what stands there says so.'),
  attachments: z.array(attachment).describe('The artifacts that it carries.'),
  recipients: z
    .array(
      z.object({
        agent: z.string(),
        turn: z.string().nullable(),
        turnNumber: z.int().nullable().describe('The number of that turn among those of its agent.'),
        turnStatus: z.enum(turnStatuses).nullable().describe('What became of that turn.'),
        readAt: time.nullable(),
        undelivered: z.boolean(),
      }),
    )
    .describe(
      'Which turn read it, for each agent that it was addressed to; null while it is unread. It is undelivered where that turn failed or was cancelled. A list has the first 50 of them, a single message all.',
    ),
  delivery: z
    .object({ recipients: z.int(), read: z.int(), undelivered: z.int() })
    .describe(
      'How many agents it was addressed to, how many of them have read it, and how many of those have it undelivered.',
    ),
  found: z.exactOptional(foundText).describe('In the answer to a search: where in the text it was found.'),
});
export type MessageView = z.infer<typeof messageView>;

/** A message in a line. */
export const messageLine = messageView
  .pick({ id: true, seq: true, sender: true, recipient: true, channel: true, priority: true, createdAt: true })
  .extend({ excerpt: z.string().describe('The beginning of its text.') });
export type MessageLine = z.infer<typeof messageLine>;

/** The recipients that each message of a list shows. */
export const maxListedRecipients = 50;

/** What became of a message at one recipient. */
export const messageReceipt = z.object({
  agent: z.string(),
  unread: z.boolean().describe("Whether it waits in the agent's inbox."),
  reads: z
    .array(
      z.object({
        turn: z.string(),
        turnNumber: z.int().describe('The number of that turn among those of its agent.'),
        status: z.enum(turnStatuses).describe('What became of the turn.'),
        failure: failure.nullable(),
        attempts: z
          .array(attemptView.pick({ number: true, status: true, failure: true, startedAt: true, endedAt: true }))
          .describe("The turn's attempts. The prompt of each held the message."),
        readAt: time,
        undelivered: z
          .boolean()
          .describe('Whether that turn failed or was cancelled, and the message was not delivered again.'),
        voidedAt: time.nullable().describe('When it was taken from that turn, to be delivered again.'),
      }),
    )
    .describe('The turns that have read it, the earliest first: another one only after it was delivered again.'),
});
export type MessageReceipt = z.infer<typeof messageReceipt>;

/** One message, and what became of it. */
export const messageDetail = messageView.extend({ receipts: z.array(messageReceipt) });
export type MessageDetail = z.infer<typeof messageDetail>;
