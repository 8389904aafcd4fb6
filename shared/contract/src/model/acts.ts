import * as z from 'zod';
import type { EventType } from './event.js';

/** Types of events that people bring about, or programs for them. What the system does by itself is none. */
export const actEvents = [
  'project.initialized',
  'project.started',
  'project.changes-requested',
  'project.completed',
  'project.stopped',
  'project.labelled',
  'config.changed',
  'project.paused',
  'project.resumed',
  'message.redelivered',
  'message.redacted',
  'artifact.redacted',
  'memory.noted',
  'memory.edited',
  'memory.forgotten',
  'memory.redacted',
  'turn.queued',
  'turn.cancelled',
  'workspace.restored',
  'git.pushed',
  'agent.stopped',
  'agent.started',
  'agent.reset',
  'agent.paused',
  'agent.resumed',
  'budget.changed',
] as const satisfies readonly EventType[];

/** What is done to the cell itself. Projects that are deleted leave this alone. */
const cellActs = [
  'project.deleted',
  'token.created',
  'token.revoked',
  'token.link-made',
  'profile.noted',
  'profile.note-edited',
  'profile.note-forgotten',
  'profile.note-redacted',
  'cell.paused',
  'cell.resumed',
] as const;
export type CellAct = (typeof cellActs)[number];

/** What somebody did: an event of a project, or something that was done to the cell. */
export const actView = z.object({
  at: z.iso.datetime(),
  actor: z.string().describe("Who did it: a token's name, or `user`."),
  type: z.string().describe(`An event's type, or one of ${cellActs.join(', ')}.`),
  project: z.string().nullable().describe('Null where it was done to the cell.'),
  subject: z.string().nullable().describe('The agent that it was done to, or the name of a token or a profile.'),
  turn: z.string().nullable().describe("The turn's id, where it was done to one."),
  data: z.record(z.string(), z.unknown()).describe("What the event says; empty where it is the cell's."),
});
export type ActView = z.infer<typeof actView>;
