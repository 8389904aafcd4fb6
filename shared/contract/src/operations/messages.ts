import { maxAttachments, maxMessageBytes } from '@suzumio/protocol/content';
import { priority } from '@suzumio/protocol/ids';
import * as z from 'zod';
import type { ErrorCode } from '../errors/codes.js';
import { USER_ID } from '../model/project-config.js';
import { redaction, redactionLeft, redactionReason } from '../model/redaction.js';
import { replyAnswer } from '../model/reply.js';
import { searchMeaning, searchText } from '../model/search.js';
import { mailCount } from '../model/mail-count.js';
import { busyAgent } from '../model/busy-agent.js';
import { messageDetail, messageView } from '../model/message.js';
import { threadView } from '../model/thread.js';
import { json, resource } from './operation.js';
import { listOf, noQuery, page, pageQuery, request, timeRange } from './request.js';
import { waitTimeout } from './wait-timeout.js';

export const inboxQuery = request({
  ...page,
  agent: z.string().optional().describe('Only those of this agent.'),
  undelivered: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .describe('With `true`, mail that was read by turns which failed or were cancelled, in place of unread mail.'),
});

/** Only messages of which all of this holds. */
export const messagesQuery = request({
  ...page,
  ...timeRange,
  sender: z.string().optional().describe("An agent's id, `user` or `system`."),
  recipient: z.string().optional().describe("Whom they are addressed to: an agent's id, or `user`."),
  channel: z.string().max(200).optional().describe('The channel or team that they are addressed to.'),
  priority: priority.optional().describe('Only those of this priority.'),
  state: z
    .enum(['unread', 'read', 'undelivered'])
    .optional()
    .describe(
      '`unread`: an agent has still to read it; `undelivered`: a turn that failed or was cancelled has read it; `read`: every agent that it went to has read it.',
    ),
  turn: z.string().optional().describe('Only those that this turn was given or has sent: its id, or `agent:number`.'),
  search: searchText.optional().describe(searchMeaning),
});

export const messageBody = z
  .string()
  .regex(/\S/, { error: 'a message needs a text' })
  .refine((text) => Buffer.byteLength(text) <= maxMessageBytes, { error: `at most ${maxMessageBytes} bytes` });

export const attachments = z
  .array(z.string().min(1).max(200))
  .max(maxAttachments)
  .optional()
  .describe('Artifacts of the project, by id or name (the newest of that name).');

/** An agent, by its id or display name, or a channel or team, by its name. */
export const named = z.string().max(200);

/** What all mail of the person has. */
export const mailFields = {
  priority: priority
    .default('P1')
    .describe('How urgent it is, `P0` first. It orders mail and turns, and interrupts nothing.'),
  body: messageBody,
  attachments,
  sender: z.literal(USER_ID).optional().describe('Mail over HTTP is always from the person.'),
};

const addressed = {
  recipient: named.optional().describe('An agent, by its id or display name.'),
  channel: named.optional().describe('A channel, with its `#`.'),
};

/** Mail from the person: to an agent (its id or display name) or to a channel. */
export const sendMessageRequest = request({ ...addressed, ...mailFields });
export type SendMessageRequest = z.output<typeof sendMessageRequest>;

export const postedMessage = z.object({
  id: z.string(),
  seq: z.int().describe("Its number in the project's mail."),
  recipients: z.array(z.string()).describe('The agents that have it unread now.'),
  busy: z.array(busyAgent).describe('Those of them that are at work, and read it after the turn that runs.'),
});

export const messageListAnswer = listOf(messageView);

export const threadListAnswer = listOf(threadView);

export const mailCountsAnswer = z.object({ items: z.array(mailCount) });

/** An answer, in the thread of what it answers. Without `recipient` and `channel` it goes to who wrote that. */
export const replyRequest = request({
  message: named.describe('The id or number of the message that it answers.'),
  ...addressed,
  ...mailFields,
});

/** An announcement to a team, or without one to all agents. */
export const broadcastRequest = request({ team: named.optional().describe('Without it, all agents.'), ...mailFields });

export const redeliverRequest = request({
  agent: z.string().max(200).optional().describe('Only for this one of the agents that have the message undelivered.'),
});

export const redactRequest = request({
  because: redactionReason.optional().describe('Why, in a few words that are kept and shown.'),
});

export const replyQuery = request({ timeout: waitTimeout });

/** Who removed it first, and what is not removed yet. */
export const redactedAnswer = z.object({
  id: z.string(),
  redacted: redaction,
  left: z.array(redactionLeft).describe('What is not removed yet, or not by this.'),
});
export type RedactedAnswer = z.infer<typeof redactedAnswer>;

export const postedReply = postedMessage.extend({
  threadId: z.string(),
  to: z.string().describe('Who or what it is addressed to.'),
});

/** The agents that have the message unread again. */
export const redeliveredMessage = z.object({ id: z.string(), agents: z.array(z.string()) });

/** Why mail to a named recipient may be refused. */
export const mailRefusals = [
  'recipient-unknown',
  'recipient-ambiguous',
  'recipient-self',
  'channel-unknown',
  'attachment-unknown',
  'priority-unknown',
  'sender-forged',
  'idempotency-mismatch',
] as const satisfies readonly ErrorCode[];

/** Mail: reading it, sending it, and what becomes of it. */
export const messages = resource('Mail', {
  listInbox: {
    method: 'get',
    path: '/api/projects/:project/inbox',
    summary: 'Unread mail, or mail that was read by turns which failed or were cancelled; of all agents or of one.',
    query: inboxQuery,
    answers: { 200: { description: 'A part of the list.', content: json(messageListAnswer) } },
    refusals: ['agent-unknown'],
  },
  listMessages: {
    method: 'get',
    path: '/api/projects/:project/messages',
    summary: 'All mail of a project.',
    query: messagesQuery,
    answers: { 200: { description: 'A part of the list.', content: json(messageListAnswer) } },
    refusals: ['agent-unknown', 'turn-unknown'],
  },
  sendMessage: {
    method: 'post',
    path: '/api/projects/:project/messages',
    mail: 'body',
    scope: 'mail',
    summary: 'Sends mail from the person, to an agent or to a channel.',
    description:
      'The message is stored before the answer; it wakes those that it is for, where the project runs. Mail is taken in every status.',
    body: sendMessageRequest,
    answers: { 201: { description: 'The message is in the inboxes that it is for.', content: json(postedMessage) } },
    refusals: [...mailRefusals, 'recipient-retired'],
  },
  replyToMessage: {
    method: 'post',
    path: '/api/projects/:project/replies',
    mail: 'body',
    scope: 'mail',
    summary: 'Answers a message, in its thread: whoever wrote it, unless it names another recipient or a channel.',
    body: replyRequest,
    answers: { 201: { description: 'The answer is in the inboxes that it is for.', content: json(postedReply) } },
    refusals: ['message-unknown', 'message-unanswerable', 'recipient-retired', ...mailRefusals],
  },
  broadcast: {
    method: 'post',
    path: '/api/projects/:project/broadcasts',
    mail: 'body',
    scope: 'mail',
    summary: 'Sends one message to every agent of a team, or to all.',
    description: 'All of them have it at once, in one transaction.',
    body: broadcastRequest,
    answers: { 201: { description: 'The message is in their inboxes.', content: json(postedMessage) } },
    refusals: ['team-unknown', 'attachment-unknown', 'priority-unknown', 'sender-forged', 'idempotency-mismatch'],
  },
  countMail: {
    method: 'get',
    path: '/api/projects/:project/mail-counts',
    summary: 'How many messages went from whom to whom, or to which channel, and when the last did.',
    query: noQuery,
    answers: { 200: { description: 'A row for each way that mail went.', content: json(mailCountsAnswer) } },
  },
  getMessage: {
    method: 'get',
    path: '/api/projects/:project/messages/:message',
    summary: 'A message, and what became of it: who has it unread, who read it in which turn, and how that turn went.',
    query: noQuery,
    answers: { 200: { description: 'The message.', content: json(messageDetail) } },
    refusals: ['message-unknown'],
  },
  waitForReply: {
    method: 'get',
    path: '/api/projects/:project/messages/:message/reply',
    summary:
      'Answers when a message has, or gets, a reply to its sender, when none is expected, or when the time is up.',
    description:
      'The first reply of any agent counts. None is expected once no agent that has the message can write one, as things are. A request waits for 50 seconds at the most, whatever `timeout` says; then `state` is `waiting`, and the client asks again.',
    query: replyQuery,
    answers: { 200: { description: 'The reply, or why there is none.', content: json(replyAnswer) } },
    refusals: ['message-unknown', 'server-unreachable'],
  },
  redeliverMessage: {
    method: 'post',
    path: '/api/projects/:project/messages/:message/redeliver',
    scope: 'operate',
    summary: 'Makes an undelivered message unread again: a new turn reads it, and may repeat what an earlier one did.',
    description: 'Only for agents whose turn with this message failed or was cancelled.',
    body: redeliverRequest,
    answers: { 200: { description: 'It is unread again.', content: json(redeliveredMessage) } },
    refusals: ['message-unknown', 'agent-unknown', 'redelivery-refused', 'idempotency-mismatch'],
  },
  redactMessage: {
    method: 'post',
    path: '/api/projects/:project/messages/:message/redact',
    scope: 'admin',
    summary: 'Removes the text of a message, and its copies in what the project has recorded.',
    description: 'It cannot be had back. Agents that know it begin their turns anew.',
    body: redactRequest,
    answers: {
      200: { description: 'It is redacted, by this request or an earlier one.', content: json(redactedAnswer) },
    },
    refusals: ['message-unknown', 'idempotency-mismatch'],
  },
  listThreads: {
    method: 'get',
    path: '/api/projects/:project/threads',
    summary: 'The threads of a project, in the order of their last messages.',
    description: 'A thread moves to the end of the list when a message joins it.',
    query: pageQuery,
    answers: { 200: { description: 'A part of the list.', content: json(threadListAnswer) } },
  },
  listThread: {
    method: 'get',
    path: '/api/projects/:project/threads/:thread',
    summary: 'The messages of one thread.',
    description: 'From the first message on, unless `after` is given.',
    query: pageQuery,
    answers: { 200: { description: 'A part of the list.', content: json(messageListAnswer) } },
    refusals: ['thread-unknown'],
  },
});
