import { projectId } from '@suzumio/protocol/ids';
import * as z from 'zod';
import { decision, inboxItem, inboxKinds } from '../model/inbox.js';
import { json, resource } from './operation.js';
import { names, numeral, request } from './request.js';

/** The place of a message or an event among those of all projects: its moment, its project, its number. */
const writtenPlace = /^(\d{1,15})\.([a-z0-9-]+)\.(\d{1,15})$/;
const place = z
  .string()
  .regex(writtenPlace, { error: 'expected the `previous` of another part' })
  .transform((text) => {
    const [, atMs = '', project = '', seq = ''] = writtenPlace.exec(text) ?? [];
    return { atMs: Number(atMs), project, seq: Number(seq) };
  });

export const inboxQuery = request({
  project: projectId.optional().describe('Only what is of this project.'),
  kind: names(z.enum(inboxKinds)).optional().describe('Only items of this kind, or of these, with commas between.'),
  unread: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .describe('Only what the holder of the token has not marked as read.'),
  limit: numeral(1, 500).default(100).describe('How many messages the answer has at the most.'),
  before: place
    .optional()
    .describe('The `previous` of another part: this one has the messages before it, and nothing else.'),
});

export const inboxAnswer = z.object({
  items: z.array(inboxItem),
  previous: z.exactOptional(z.string()).describe('The `before` that goes back to older messages.'),
  moreWaiting: z.int().describe('How many more wait than an answer has.'),
  unreadable: z.array(z.string()).describe('Projects whose databases cannot be read.'),
});
export type InboxAnswer = z.infer<typeof inboxAnswer>;

export const inboxCounts = z.object({
  waiting: z
    .int()
    .describe('How many reports, failures, pauses and budgets wait, with those of the whole cell; not the messages.'),
  unread: z.int().describe('How many messages to `user` the holder of the token has not marked as read.'),
  projects: z
    .array(z.object({ project: z.string(), waiting: z.int(), failures: z.int().describe('Failed agents among them.') }))
    .describe('The projects in which something waits.'),
  unreadable: z.array(z.string()).describe('Projects whose databases cannot be read.'),
});
export type InboxCounts = z.infer<typeof inboxCounts>;

export const decidedQuery = request({
  project: projectId.optional().describe('Only what was decided in this project.'),
  limit: numeral(1, 200).default(50).describe('How many the answer has at the most.'),
  before: place.optional().describe('The `previous` of another part: this one has what was decided before.'),
});

export const decidedAnswer = z.object({
  items: z.array(decision),
  previous: z
    .exactOptional(z.string())
    .describe(
      'The `before` that goes back further: there is more to look at, even where this part has few items, or none.',
    ),
  unreadable: inboxCounts.shape.unreadable,
});
export type DecidedAnswer = z.infer<typeof decidedAnswer>;

/** The most items that are marked at once. */
const mostMarked = 500;

export const markReadRequest = request({
  items: z.array(z.string().max(400)).min(1).max(mostMarked).describe('The `id`s of items.'),
});

export const markReadAnswer = z.object({
  items: z.array(z.string()).describe('Those of them that are there, and are marked as read now.'),
});

/** What waits for a person, in every project. */
export const inbox = resource('Mail', {
  getInbox: {
    method: 'get',
    path: '/api/inbox',
    summary: 'What waits for a person, and what agents sent to `user`, in the projects that the token may read.',
    description:
      'First submitted reports, failed agents, pauses and budgets of which four fifths are used, the oldest first; then messages to `user`, the newest of them, the oldest first. What is settled is gone; a message stays.',
    query: inboxQuery,
    answers: { 200: { description: 'The items.', content: json(inboxAnswer) } },
  },
  countInbox: {
    method: 'get',
    path: '/api/inbox/counts',
    summary: 'How much waits for a person, in total and by project.',
    description: 'Made to be asked often: only projects that have changed since the last time are read.',
    query: request({}),
    answers: { 200: { description: 'The counts.', content: json(inboxCounts) } },
  },
  listDecided: {
    method: 'get',
    path: '/api/inbox/decided',
    summary: 'What people decided in the projects that the token may read, the newest first.',
    description:
      'From the events of the projects: reports that were approved or sent back, failed agents that were retried or reset, budgets that were changed, agents and projects that were resumed. One request looks at a bounded number of events.',
    query: decidedQuery,
    answers: { 200: { description: 'A part of the list.', content: json(decidedAnswer) } },
  },
  markRead: {
    method: 'post',
    path: '/api/inbox/read',
    scope: 'read',
    repeatable: false,
    summary: 'Marks items of the inbox as read.',
    description:
      "Marks belong to the token's name and are seen by its holder alone. Marking again changes nothing; what is not there any more is left out.",
    body: markReadRequest,
    answers: { 200: { description: 'They are marked.', content: json(markReadAnswer) } },
  },
});
