import * as z from 'zod';
import { failure } from '@suzumio/protocol/failure-codes';
import { nextStep } from './next-request.js';
import { pause } from './pause.js';
import { agentStates, turnStatuses } from './states.js';

const time = z.iso.datetime();

export const agentView = z.object({
  id: z.string(),
  base: z.string().describe('Its key in the project file: agents made by one `count` share it.'),
  role: z.string(),
  displayName: z.string().nullable(),
  team: z.string().nullable(),
  profile: z.string().nullable().describe('The id of the profile that it started from.'),
  prompt: z.string(),
  tools: z.array(z.string()).describe('The tools that it may call.'),
  model: z.string().nullable().describe('The preset of models that it thinks with.'),
  state: z.enum(agentStates),
  stopping: z.boolean().describe('Whether it stops when its turn has ended.'),
  paused: pause.nullable().describe('Set where it starts no turns for a while, in any state.'),
  activeTurn: z
    .object({
      id: z.string(),
      number: z.int(),
      status: z.enum(turnStatuses),
      attempt: z.int(),
      queuedAt: time,
      startedAt: time.nullable(),
      /** When its next attempt is due, where it waits. */
      notBefore: time.nullable(),
      /** Why its last attempt ended, where it waits for another. */
      failure: failure.nullable(),
    })
    .nullable(),
  unread: z.int().describe('Messages that wait in its inbox.'),
  undelivered: z.int().describe('Messages that it read in turns which failed or were cancelled.'),
  turns: z.int().describe('How many it has had.'),
  failure: failure
    .extend({ turn: z.string(), turnNumber: z.int(), attempt: z.int(), ...nextStep.shape })
    .nullable()
    .describe('Why its turn failed, where it has, and what leads on from there.'),
});
export type AgentView = z.infer<typeof agentView>;
