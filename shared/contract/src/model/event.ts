import { z } from 'zod';

/** All types of events, past tense, noun first. */
export const eventTypes = [
  'project.initialized',
  'project.started',
  'project.submitted',
  'project.changes-requested',
  'project.completed',
  'project.stopped',
  'project.restored',
  'message.created',
  'message.redelivered',
  'message.redacted',
  'task.assigned',
  'task.accepted',
  'task.done',
  'task.declined',
  'turn.queued',
  'turn.started',
  'turn.requeued',
  'turn.completed',
  'turn.failed',
  'turn.cancelled',
  'tool.called',
  'model.answered',
  'budget.reached',
  'artifact.published',
  'artifact.redacted',
  'agent.waiting',
  'agent.stopped',
  'agent.started',
  'agent.reset',
  'agent.paused',
  'agent.resumed',
  'project.paused',
  'project.resumed',
  'budget.changed',
] as const;

export const eventType = z.enum(eventTypes);
export type EventType = z.infer<typeof eventType>;

/** One entry of a project's timeline. */
export const projectEvent = z.object({
  id: z
    .string()
    .regex(/^\d+-\d+$/)
    .describe('Where a stream goes on: `<epoch>-<seq>`. A restored backup begins another epoch.'),
  seq: z.int().positive().describe('Its place in the timeline, from 1.'),
  type: eventType,
  actor: z.string().describe("Who brought it about: an agent, a token's name, `user` or `system`."),
  agent: z.string().nullable().describe('The agent that it is about.'),
  turn: z.string().nullable().describe('The turn that it is about.'),
  data: z.record(z.string(), z.unknown()).describe('What the type adds.'),
  createdAt: z.iso.datetime(),
});
export type ProjectEvent = z.infer<typeof projectEvent>;
