import * as z from 'zod';
import { agentId, priority, projectId, supportedStep, turnId } from '../ids.js';
import { isShallow, tooDeep } from '../nesting.js';
import { toolpackId } from './manifest.js';

/** The route by which a toolpack's runner module reaches its project. */
export const supportPath = '/support';

/** The most of one step. */
export const maxSupportCalls = 100;

/**
 * What a toolpack records: work for an agent or a channel, which is mail here; a useful effect; or nothing but that it was
 * recorded.
 */
export const toolpackSignal = z.object({
  kind: z.string().min(1).max(200),
  targetAgent: z.string().max(200).optional(),
  targetChannel: z.string().max(200).optional(),
  priority: priority.optional(),
  payload: z.record(z.string(), z.unknown()).refine(isShallow, tooDeep).optional(),
  usefulEffect: z.boolean().optional(),
});
export type ToolpackSignal = z.infer<typeof toolpackSignal>;

/** The body of `POST /support`: a call of the controller module, or a signal. */
export const supportRequest = z.object({
  project: projectId,
  agent: agentId,
  turn: turnId,
  /** The step of the toolpack's tool, which has begun. */
  step: supportedStep,
  /** Which of that step's: from 1. The same number is answered the same. */
  number: z.int().min(1).max(maxSupportCalls),
  toolpack: toolpackId,
  asks: z.union([
    z.strictObject({ tool: z.string().min(1).max(100), input: z.unknown().refine(isShallow, tooDeep) }),
    z.strictObject({ signal: toolpackSignal }),
  ]),
});
export type SupportRequest = z.infer<typeof supportRequest>;
