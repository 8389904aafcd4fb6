import { attachment, artifactKind } from '@suzumio/protocol/artifacts';
import { failureCode } from '@suzumio/protocol/failure-codes';
import { priority } from '@suzumio/protocol/ids';
import { messageKind } from '@suzumio/protocol/message-kind';
import { z } from 'zod';
import { budgetChange, budgetReached } from './budget.js';
import { labels } from './labels.js';
import { pause } from './pause.js';
import { fileCounts } from './workspace.js';

/** What one type of event tells: a sentence, and the shape of its data. */
function told<Shape extends z.ZodRawShape>(sentence: string, shape: Shape) {
  return { sentence, data: z.object(shape) };
}

const text = z.string();
const count = z.int().nonnegative();
const number = z.int().positive();

const taskMoved = { task: text, assigner: text, message: text };
const paused = pause.pick({ reason: true }).shape;
const failed = { number, attempt: count, code: failureCode, message: text };

/** Every type of event, past tense, noun first. The agent and the turn that an event is about stand beside its data. */
export const eventTable = {
  'project.initialized': told('The project was made from its file.', {
    agents: z.array(text),
    channels: z.array(text),
  }),
  'project.started': told('The project runs: agents with unread mail get turns.', {}),
  'project.submitted': told('An agent handed in a version of the report.', { version: number }),
  'project.changes-requested': told('The report was sent back, with a message to an agent.', {
    version: count,
    recipient: text,
  }),
  'project.completed': told('The report was approved; nothing runs any more.', { version: count }),
  'project.stopped': told('The project was stopped; with `now`, turns that ran were cancelled.', { now: z.boolean() }),
  'project.restored': told('The project goes on from a copy, in a new epoch.', { epoch: number, before: number }),
  'message.created': told(
    'A message was written, to an agent, to `user` or to a channel; `excerpt` is its beginning.',
    {
      message: text,
      kind: messageKind,
      sender: text,
      recipient: text.optional(),
      channel: text.optional(),
      thread: text,
      replyTo: text.optional(),
      priority,
      excerpt: text,
      attachments: z.array(attachment).optional(),
    },
  ),
  'message.redelivered': told('A message that a turn had read is unread again.', {
    message: text,
    seq: number,
    turnNumber: number,
  }),
  'message.redacted': told('The text of a message was removed.', {
    message: text,
    seq: number,
    because: text.nullable(),
  }),
  'task.assigned': told('A task was given to the least loaded agent of a role.', {
    task: text,
    assigner: text,
    role: text,
    team: text.optional(),
    priority,
    excerpt: text,
  }),
  'task.accepted': told('The assignee took a task on, in a message.', taskMoved),
  'task.done': told('The assignee did a task, as a message says.', taskMoved),
  'task.declined': told('The assignee declined a task, as a message says.', taskMoved),
  'turn.queued': told('An agent is to get a turn; with `retry`, one that had ended goes on.', {
    number,
    priority: priority.optional(),
    retry: z.literal(true).optional(),
  }),
  'turn.started': told('A worker, or a handler with its credential, began an attempt. Times are milliseconds.', {
    number,
    attempt: number,
    worker: text,
    credential: text.optional(),
    backend: text,
    sinceQueuedMs: z.int(),
    sinceMessageMs: z.int().optional(),
  }),
  'turn.requeued': told('An attempt ended without its turn, which is tried again in `inMs` milliseconds.', {
    ...failed,
    inMs: count,
  }),
  'turn.completed': told(
    'A turn ended well; `files` is how many of its workspace it has changed. With `unsaved`, the agent goes on with the files that it began with.',
    {
      number,
      attempt: number,
      durationMs: z.int(),
      messages: count,
      artifacts: count,
      unsaved: z.object({ code: text, message: text }).optional(),
      files: fileCounts.optional(),
    },
  ),
  'turn.failed': told('A turn failed for good; its mail is kept.', failed),
  'turn.cancelled': told('A turn was cancelled.', { number, reason: text }),
  'tool.called': told('An agent called a tool; `code` says why it failed or was refused.', {
    tool: text,
    step: text,
    attempt: number,
    outcome: z.enum(['succeeded', 'failed', 'refused']),
    code: text.optional(),
  }),
  'model.answered': told('A model answered; what that cost is in billionths of a dollar.', {
    step: text,
    preset: text,
    model: text,
    inputTokens: count,
    outputTokens: count,
    nanoUsd: count,
    durationMs: z.int(),
    calls: count,
    finishReason: text.nullable(),
  }),
  'budget.reached': told('A budget is used up: that of the agent, or of the project, which `of` names.', {
    of: text,
    ...budgetReached.pick({ limit: true, message: true }).shape,
  }),
  'artifact.published': told('A file or a directory was published under a name.', {
    artifact: text,
    name: text,
    kind: artifactKind,
    files: count,
    sizeBytes: count,
    sha256: text,
  }),
  'artifact.redacted': told('The content of an artifact was removed.', {
    artifact: text,
    name: text,
    because: text.nullable(),
  }),
  'workspace.cloned': told('A workspace became a clone of a repository; its branch begins at the commit.', {
    repository: text,
    ref: text.optional(),
    branch: text,
    commit: text,
  }),
  'agent.waiting': told('An agent ended its turn because it can do nothing until mail comes.', {
    reason: text.optional(),
  }),
  'agent.stopped': told('An agent gets no turns; with `afterTurn`, once that turn has ended.', {
    now: z.boolean(),
    afterTurn: number.optional(),
  }),
  'agent.started': told('A stopped agent gets turns again.', {}),
  'agent.reset': told("An agent's failed turn was given up; `redelivered` are messages that are unread again.", {
    redelivered: z.array(text),
  }),
  'agent.paused': told('An agent was paused, by somebody or by reaching a limit of the project file.', {
    ...paused,
    limit: pause.shape.limit.unwrap().optional(),
  }),
  'agent.resumed': told('A paused agent gets turns again.', {}),
  'project.labelled': told('What the project is filed under was changed: these labels were set, and those removed.', {
    set: labels,
    removed: z.array(text),
  }),
  'project.paused': told('The project starts no turns until it is resumed.', paused),
  'project.resumed': told('A paused project starts turns again.', {}),
  'budget.changed': told(
    "Limits were set over those of the project file: the agent's, or the project's.",
    budgetChange.shape,
  ),
} as const;

export type EventType = keyof typeof eventTable;
export const eventTypes = Object.keys(eventTable) as [EventType, ...EventType[]];
export const eventType = z.enum(eventTypes);

/** What this version writes with each type. */
export type EventData = { readonly [Type in EventType]: Readonly<z.output<(typeof eventTable)[Type]['data']>> };

const entry = z.object({
  id: z
    .string()
    .regex(/^\d+-\d+$/)
    .describe('Where a stream goes on: `<epoch>-<seq>`. A restored backup begins another epoch.'),
  seq: z.int().positive().describe('Its place in the timeline, from 1.'),
  actor: z.string().describe("Who brought it about: an agent, a token's name, `user` or `system`."),
  agent: z.string().nullable().describe('The agent that it is about.'),
  turn: z.string().nullable().describe('The turn that it is about.'),
  createdAt: z.iso.datetime(),
});

/** The schema of each type's events, as they go over the wire. */
export const eventSchemas: Readonly<Record<string, z.ZodType>> = Object.fromEntries(
  eventTypes.map((type) => {
    const { sentence, data } = eventTable[type];
    return [type, entry.extend({ type: z.literal(type), data: data.loose() }).describe(sentence)];
  }),
);

/** Timelines are kept for as long as their projects, so some of what stands in them was written by other versions. */
export const otherEvent = entry
  .extend({ type: z.string(), data: z.record(z.string(), z.unknown()) })
  .describe(
    'An event that another version wrote: of a type that is not listed, or with other data. It is as it was written.',
  );

/**
 * One entry of a project's timeline, with the types of this version. An event of another version is taken as it is: fields
 * of its data may be missing.
 */
export type ProjectEvent = {
  [Type in EventType]: z.output<typeof entry> & { type: Type; data: EventData[Type] & Record<string, unknown> };
}[EventType];

export const projectEvent = z.union([...Object.values(eventSchemas), otherEvent]) as unknown as z.ZodType<ProjectEvent>;
