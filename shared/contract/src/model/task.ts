import * as z from 'zod';
import { priority } from '@suzumio/protocol/ids';
import { foundText } from './search.js';
import { taskStates } from './task-states.js';

const time = z.iso.datetime();

/** An assigned task. */
export const taskView = z.object({
  id: z.string().describe('That of the message which assigned it, and of the thread that began with it.'),
  seq: z.int().describe('The number of that message.'),
  assigner: z.string().describe('An agent, or `user`.'),
  assignee: z.string(),
  role: z.string().describe('What was asked for.'),
  team: z.string().nullable(),
  priority,
  excerpt: z.string().describe('The beginning of its text.'),
  state: z.enum(taskStates),
  stateMessage: z.string().nullable().describe('The reply that brought it into this state; null while it is open.'),
  createdAt: time,
  stateAt: time,
  found: z.exactOptional(foundText).describe('In the answer to a search: where in the text it was found.'),
});
export type TaskView = z.infer<typeof taskView>;
