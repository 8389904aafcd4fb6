import { z } from 'zod';

/** Everything that a project's timeline can say, past tense, noun first. */
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

/** One entry of a project's timeline. Its id is `<epoch>-<seq>`: a restored backup starts another epoch. */
export const projectEvent = z.object({
  id: z.string().regex(/^\d+-\d+$/),
  seq: z.int().positive(),
  type: eventType,
  actor: z.string(),
  agent: z.string().nullable(),
  turn: z.string().nullable(),
  data: z.record(z.string(), z.unknown()),
  createdAt: z.iso.datetime(),
});
export type ProjectEvent = z.infer<typeof projectEvent>;
