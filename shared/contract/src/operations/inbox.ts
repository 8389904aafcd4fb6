import { projectId } from '@suzumio/protocol/ids';
import { z } from 'zod';
import { inboxItem, inboxKinds } from '../model/inbox.js';
import { json, resource } from './operation.js';
import { names, numeral, request } from './request.js';

/** The place of a message among those of all projects: its moment, its project, its number. */
const place = /^(\d{1,15})\.([a-z0-9-]+)\.(\d{1,15})$/;

export const inboxQuery = request({
  project: projectId.optional().describe('Only what is of this project.'),
  kind: names(z.enum(inboxKinds)).optional().describe('Only items of this kind, or of these, with commas between.'),
  unread: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .describe('Only what the holder of the token has not marked as read.'),
  limit: numeral(1, 500).default(100).describe('How many messages the answer has at the most.'),
  before: z
    .string()
    .regex(place, { error: 'expected the `previous` of another part' })
    .transform((text) => {
      const [, atMs = '', project = '', seq = ''] = place.exec(text) ?? [];
      return { atMs: Number(atMs), project, seq: Number(seq) };
    })
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
