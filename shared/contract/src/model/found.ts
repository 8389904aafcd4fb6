import * as z from 'zod';
import { projectStatuses } from './project-status.js';
import { foundText } from './search.js';
import { turnStatuses } from './states.js';

const time = z.iso.datetime();
const found = foundText.describe('The place in its text, in pieces.');

/** Something in which words were found. */
export const foundItem = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('project'), project: z.string(), status: z.enum(projectStatuses), found }),
    z.object({
      kind: z.literal('agent'),
      project: z.string(),
      agent: z.string(),
      displayName: z.string().nullable(),
      role: z.string(),
    }),
    z.object({
      kind: z.literal('turn'),
      project: z.string(),
      agent: z.string(),
      turnNumber: z.int(),
      status: z.enum(turnStatuses),
      at: time.describe('When it was queued.'),
      found,
    }),
    z.object({
      kind: z.literal('file'),
      project: z.string(),
      artifact: z.string(),
      name: z.string(),
      creator: z.string(),
      at: time,
    }),
    z.object({
      kind: z.literal('mail'),
      project: z.string(),
      seq: z.int(),
      sender: z.string(),
      to: z.string().describe('An agent, `user`, or a channel.'),
      at: time,
      found,
    }),
  ])
  .describe('A project, agent, turn, published file or message in which the words were found.');
export type FoundItem = z.infer<typeof foundItem>;
export type FoundKind = FoundItem['kind'];

export const foundKinds = ['project', 'agent', 'turn', 'file', 'mail'] as const satisfies readonly FoundKind[];
