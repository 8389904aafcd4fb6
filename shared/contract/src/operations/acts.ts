import { projectId } from '@suzumio/protocol/ids';
import * as z from 'zod';
import { actView } from '../model/acts.js';
import { json, resource } from './operation.js';
import { numeral, request } from './request.js';

/** The place of an act among those of all projects: its moment, its project (none: the cell), its number. */
const place = /^(\d{1,15})\.([a-z0-9-]*)\.(\d{1,15})$/;

export const actsQuery = request({
  project: projectId.optional().describe('Only what was done to this project.'),
  actor: z.string().max(200).optional().describe("Only what this one did: a token's name, or `user`."),
  limit: numeral(1, 500).default(100).describe('How many the part has at the most.'),
  before: z
    .string()
    .regex(place, { error: 'expected the `previous` of another part' })
    .transform((text) => {
      const [, atMs = '', project = '', seq = ''] = place.exec(text) ?? [];
      return { atMs: Number(atMs), project, seq: Number(seq) };
    })
    .optional()
    .describe('The `previous` of another part: this one has what was done before.'),
});

export const actListAnswer = z.object({
  items: z.array(actView),
  previous: z
    .exactOptional(z.string())
    .describe('The `before` that goes back. A part may be short, or empty, where much was looked at in vain.'),
  unreadable: z.array(z.string()).describe('Projects whose databases cannot be read.'),
});

/** Who did what. */
export const acts = resource('Access', {
  listActs: {
    method: 'get',
    path: '/api/acts',
    summary: 'What people did, the newest first: who started, stopped, approved, paused, deleted, made tokens.',
    description:
      'From the events of the projects that the token may read, and for administrators of the whole cell also what was done to the cell. Mail is no act, and neither is what agents do. Of a project that is deleted, only that is left.',
    query: actsQuery,
    answers: { 200: { description: 'A part of the list.', content: json(actListAnswer) } },
  },
});
