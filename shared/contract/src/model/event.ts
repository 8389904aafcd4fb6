import { attachment, artifactKind } from '@suzumio/protocol/artifacts';
import { failureCode } from '@suzumio/protocol/failure-codes';
import { priority } from '@suzumio/protocol/ids';
import { messageKind } from '@suzumio/protocol/message-kind';
import * as z from 'zod';
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
  'project.initialized': told('The project was created from its file.', {
    agents: z.array(text),
    channels: z.array(text),
  }),
  'project.started': told('The project runs: agents with unread mail get turns.', {}),
  'project.submitted': told('An agent handed in a version of the report.', { version: number }),
  'project.changes-requested': told('The report was sent back, with a message to an agent.', {
    version: count,
    recipient: text,
  }),
  'project.completed': told('The report was approved, and no more turns run.', { version: count }),
  'project.stopped': told('The project was stopped. With `now`, its running turns were cancelled.', {
    now: z.boolean(),
  }),
  'project.restored': told('The project was restored from a copy and began a new epoch.', {
    epoch: number,
    before: number,
  }),
  'message.created': told('A message was sent to an agent, to `user` or to a channel. `excerpt` is its beginning.', {
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
  }),
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
  'task.accepted': told('The assignee accepted a task, by a message.', taskMoved),
  'task.done': told('The assignee finished a task, by a message.', taskMoved),
  'task.declined': told('The assignee declined a task, by a message.', taskMoved),
  'turn.queued': told('A turn was queued. With `retry`, a turn that had ended continues.', {
    number,
    priority: priority.optional(),
    retry: z.literal(true).optional(),
  }),
  'turn.started': told('A worker or a handler began an attempt. Times are in milliseconds.', {
    number,
    attempt: number,
    worker: text,
    credential: text.optional(),
    backend: text,
    sinceQueuedMs: z.int(),
    sinceMessageMs: z.int().optional(),
  }),
  'turn.requeued': told('An attempt failed, and its turn is tried again in `inMs` milliseconds.', {
    ...failed,
    inMs: count,
  }),
  'turn.completed': told(
    'A turn completed. `calls` counts its calls of tools, `files` the files that it changed. With `unsaved`, its files could not be stored: the agent goes on with the newest capture.',
    {
      number,
      attempt: number,
      durationMs: z.int(),
      messages: count,
      artifacts: count,
      calls: count.optional(),
      unsaved: z.object({ code: text, message: text }).optional(),
      files: fileCounts.optional(),
    },
  ),
  'turn.failed': told('A turn failed for good. Its mail is kept.', failed),
  'turn.cancelled': told('A turn was cancelled.', { number, reason: text }),
  'workspace.restored': told("An agent's files are as they were after one of its turns, or before the first (0).", {
    turnNumber: count,
    files: fileCounts,
  }),
  'tool.called': told('An agent called a tool. `code` says why the call failed or was refused.', {
    tool: text,
    step: text,
    attempt: number,
    outcome: z.enum(['succeeded', 'failed', 'refused']),
    code: text.optional(),
  }),
  'signal.recorded': told(
    "A toolpack of the project's own recorded a signal. With `message` it is work for somebody, as mail; `useful` says that it had an effect.",
    { toolpack: text, kind: text, useful: z.boolean(), message: text.optional() },
  ),
  'model.answered': told('A model answered. The cost is in billionths of a dollar.', {
    step: text,
    preset: text,
    model: text,
    inputTokens: count,
    outputTokens: count,
    cachedTokens: count.optional(),
    nanoUsd: count,
    durationMs: z.int(),
    calls: count,
    finishReason: text.nullable(),
    changes: z.array(text).optional(),
  }),
  'budget.reached': told("A budget is used up: the agent's or the project's, as `of` says.", {
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
  'memory.noted': told(
    'A note was added to the memory of the agent; with `profile`, to that of the profile that it started from. Its text is no part of the event.',
    { note: text, sizeBytes: count, profile: text.optional() },
  ),
  'memory.edited': told("A note of the agent's was changed.", { note: text, sizeBytes: count }),
  'memory.forgotten': told("A note of the agent's, or of its `profile`, was erased.", {
    note: text,
    profile: text.optional(),
  }),
  'memory.redacted': told(
    "A note of the agent's, or of a `profile`, was removed from the memory and from what the project has recorded.",
    { note: text, profile: text.optional(), because: text.nullable() },
  ),
  'workspace.cloned': told('A workspace became a clone of a repository; its branch begins at the commit.', {
    repository: text,
    ref: text.optional(),
    branch: text,
    commit: text,
  }),
  'upstream.moved': told(
    'Before a turn, the repository of a workspace was found at another commit. `ahead` counts the commits that the workspace began without. With `rewritten`, the base or the commit of before is not in its history.',
    {
      repository: text,
      ref: text.optional(),
      from: text,
      to: text,
      ahead: count.optional(),
      rewritten: z.boolean(),
    },
  ),
  'upstream.missed': told('Before a turn, it could not be found out where the repository of a workspace is.', {
    repository: text,
    ref: text.optional(),
    code: failureCode,
    message: text,
  }),
  'git.pushed': told(
    'An agent or a person pushed to the shared repository. A `from` or `to` of null: it was not there, or is no longer.',
    {
      push: number,
      updates: z.array(z.object({ ref: text, from: text.nullable(), to: text.nullable() })),
      objects: count,
      sizeBytes: count,
    },
  ),
  'agent.waiting': told('An agent ended its turn to wait for mail.', {
    reason: text.optional(),
  }),
  'agent.stopped': told('An agent was stopped. With `afterTurn`, it stops when that turn ends.', {
    now: z.boolean(),
    afterTurn: number.optional(),
  }),
  'agent.started': told('A stopped agent was started.', {}),
  'agent.reset': told("An agent's failed turn was given up. The messages in `redelivered` are unread again.", {
    redelivered: z.array(text),
  }),
  'agent.paused': told('An agent was paused, by a person or by a limit of the project file.', {
    ...paused,
    limit: pause.shape.limit.unwrap().optional(),
  }),
  'agent.resumed': told('A paused agent was resumed.', {}),
  'project.labelled': told("The project's labels changed: some were set, some removed.", {
    set: labels,
    removed: z.array(text),
  }),
  'project.paused': told('The project was paused: it starts no turns until it is resumed.', paused),
  'project.resumed': told('A paused project was resumed.', {}),
  'config.changed': told(
    "A new version of the project's file is in force. `changed` has the first of the fields that it changed, `reverts` the version that it brings back.",
    {
      version: number,
      reverts: number.optional(),
      changes: count,
      changed: z.array(text),
      added: z.array(text),
      retired: z.array(text),
    },
  ),
  'budget.changed': told('Budget limits of the agent or of the project were changed.', budgetChange.shape),
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
