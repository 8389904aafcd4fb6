import * as z from 'zod';
import { seq } from './seq.js';

const time = z.iso.datetime();

export const toolCallView = z.object({
  id: z.string(),
  seq,
  turn: z.string(),
  turnNumber: z.int().describe('The number of that turn among those of its agent.'),
  agent: z.string(),
  attempt: z.int(),
  step: z.string().describe('Its place in the turn.'),
  tool: z.string(),
  input: z.unknown(),
  status: z.enum(['running', 'succeeded', 'failed', 'refused', 'unknown']),
  output: z.unknown(),
  errorCode: z.string().nullable(),
  startedAt: time,
  endedAt: time.nullable(),
});
export type ToolCallView = z.infer<typeof toolCallView>;
