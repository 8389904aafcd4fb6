import { z } from 'zod';
import { artifactKind, attachment } from '@suzumio/protocol/artifacts';
import { failure } from '@suzumio/protocol/failure-codes';
import { labels } from './labels.js';
import { priority, projectId } from '@suzumio/protocol/ids';
import { messageKind } from '@suzumio/protocol/message-kind';
import { agentStates, turnStatuses } from './states.js';
import { pause } from './pause.js';
import { projectStatuses } from './project-status.js';
import { taskStates } from './task-states.js';

const time = z.iso.datetime();

/** What people and programs read of a project. */
export const projectView = z.object({
  id: projectId,
  status: z.enum(projectStatuses),
  task: z.string(),
  /** What it was filed under when it was made. */
  labels,
  /** The team whose standing project it is: it is never submitted. */
  standingTeam: z.string().nullable(),
  reportPath: z.string().nullable(),
  reportVersion: z.int().nullable(),
  createdAt: time,
  statusAt: time,
  /** When it ran for the first time. */
  startedAt: time.nullable(),
  turns: z.object({ total: z.int(), active: z.int(), failed: z.int() }),
  messages: z.int(),
  artifacts: z.int(),
  /** What its models were asked and have answered; where scripts stand for models, what runners say. */
  tokens: z.int(),
  /** What its models have cost. */
  costUsd: z.number(),
  /** Set where it starts no turns for a while. */
  paused: pause.nullable(),
});
export type ProjectView = z.infer<typeof projectView>;

export const agentView = z.object({
  id: z.string(),
  base: z.string(),
  role: z.string(),
  displayName: z.string().nullable(),
  team: z.string().nullable(),
  /** The id of the profile that it started from. */
  profile: z.string().nullable(),
  prompt: z.string(),
  tools: z.array(z.string()),
  model: z.string().nullable(),
  state: z.enum(agentStates),
  /** Whether it stops when its turn has ended. */
  stopping: z.boolean(),
  /** Set where it starts no turns for a while, in any state. */
  paused: pause.nullable(),
  activeTurn: z
    .object({
      id: z.string(),
      number: z.int(),
      status: z.enum(turnStatuses),
      attempt: z.int(),
      queuedAt: time,
      startedAt: time.nullable(),
      /** When its next attempt is due, where that has to wait. */
      notBefore: time.nullable(),
      /** Why its last attempt ended, where it waits for another. */
      failure: failure.nullable(),
    })
    .nullable(),
  unread: z.int(),
  /** Messages that it read in turns which failed or were cancelled. */
  undelivered: z.int(),
  turns: z.int(),
  failure: failure.extend({ turn: z.string(), turnNumber: z.int(), attempt: z.int() }).nullable(),
});
export type AgentView = z.infer<typeof agentView>;

export const messageView = z.object({
  id: z.string(),
  seq: z.int(),
  sender: z.string(),
  recipient: z.string().nullable(),
  channel: z.string().nullable(),
  priority,
  kind: messageKind,
  body: z.string(),
  threadId: z.string(),
  replyTo: z.string().nullable(),
  turn: z.string().nullable(),
  actor: z.string(),
  createdAt: time,
  /** The artifacts that it carries. */
  attachments: z.array(attachment),
  /**
   * Which turn read it, for each agent that it was addressed to; null while it is unread. It is undelivered where that
   * turn failed or was cancelled. A list has the first 50 of them, a single message all.
   */
  recipients: z.array(
    z.object({ agent: z.string(), turn: z.string().nullable(), readAt: time.nullable(), undelivered: z.boolean() }),
  ),
  /** How many agents it was addressed to, how many of them have read it, and how many of those have it undelivered. */
  delivery: z.object({ recipients: z.int(), read: z.int(), undelivered: z.int() }),
});
export type MessageView = z.infer<typeof messageView>;

/** The recipients that each message of a list shows. */
export const maxListedRecipients = 50;

/** A place in a list: what `after` of the list's query counts. */
const seq = z.int();

/** Work that was assigned. */
export const taskView = z.object({
  /** That of the message which assigned it, and of the thread that began with it. */
  id: z.string(),
  /** The number of that message. */
  seq,
  /** An agent, or `user`. */
  assigner: z.string(),
  assignee: z.string(),
  /** What was asked for. */
  role: z.string(),
  team: z.string().nullable(),
  priority,
  /** The beginning of its text. */
  excerpt: z.string(),
  state: z.enum(taskStates),
  /** The reply that brought it into this state; null while it is open. */
  stateMessage: z.string().nullable(),
  createdAt: time,
  stateAt: time,
});
export type TaskView = z.infer<typeof taskView>;

export const turnView = z.object({
  id: z.string(),
  seq,
  agent: z.string(),
  number: z.int(),
  status: z.enum(turnStatuses),
  priority,
  attempt: z.int(),
  text: z.string().nullable(),
  usage: z.record(z.string(), z.unknown()).nullable(),
  endedByTool: z.string().nullable(),
  failure: failure.nullable(),
  queuedAt: time,
  notBefore: time.nullable(),
  startedAt: time.nullable(),
  endedAt: time.nullable(),
  toolCalls: z.int(),
});
export type TurnView = z.infer<typeof turnView>;

export const attemptView = z.object({
  number: z.int(),
  status: z.enum(['running', 'completed', 'failed', 'cancelled']),
  worker: z.string(),
  /** The name of the token that the worker claimed it with. */
  credential: z.string().nullable(),
  engine: z.string(),
  counted: z.boolean().nullable(),
  failure: failure.nullable(),
  stats: z.record(z.string(), z.unknown()).nullable(),
  startedAt: time,
  endedAt: time.nullable(),
});
export type AttemptView = z.infer<typeof attemptView>;

/** What an agent that a message went to has made of it. */
export const messageReceipt = z.object({
  agent: z.string(),
  /** Whether it waits in the agent's inbox. */
  unread: z.boolean(),
  /** The turns that have read it, the earliest first: another one only after it was delivered again. */
  reads: z.array(
    z.object({
      turn: z.string(),
      /** The how-manieth turn of its agent that is. */
      turnNumber: z.int(),
      /** What became of the turn. */
      status: z.enum(turnStatuses),
      failure: failure.nullable(),
      /** The turn's attempts. The prompt of each held the message. */
      attempts: z.array(
        attemptView.pick({ number: true, status: true, failure: true, startedAt: true, endedAt: true }),
      ),
      readAt: time,
      /** Whether that turn failed or was cancelled, and the message was not delivered again. */
      undelivered: z.boolean(),
      /** When it was taken from that turn, to be delivered again. */
      voidedAt: time.nullable(),
    }),
  ),
});
export type MessageReceipt = z.infer<typeof messageReceipt>;

/** One message, and what became of it. */
export const messageDetail = messageView.extend({ receipts: z.array(messageReceipt) });
export type MessageDetail = z.infer<typeof messageDetail>;

export const toolCallView = z.object({
  id: z.string(),
  seq,
  turn: z.string(),
  /** The how-manieth turn of its agent that is. */
  turnNumber: z.int(),
  agent: z.string(),
  attempt: z.int(),
  step: z.string(),
  tool: z.string(),
  input: z.unknown(),
  status: z.enum(['running', 'succeeded', 'failed', 'refused', 'unknown']),
  output: z.unknown(),
  errorCode: z.string().nullable(),
  startedAt: time,
  endedAt: time.nullable(),
});
export type ToolCallView = z.infer<typeof toolCallView>;

export const artifactView = z.object({
  id: z.string(),
  seq,
  creator: z.string(),
  turn: z.string().nullable(),
  name: z.string(),
  kind: artifactKind,
  /** How many files it has; 1 where it is one. */
  files: z.int(),
  /** The stored file, or the list of what is in a directory, relative to the project's directory. */
  path: z.string(),
  workspacePath: z.string().nullable(),
  sha256: z.string(),
  sizeBytes: z.int(),
  description: z.string().nullable(),
  createdAt: time,
});
export type ArtifactView = z.infer<typeof artifactView>;

/** One call of a model. */
export const modelCallView = z.object({
  id: z.string(),
  step: z.string(),
  attempt: z.int(),
  /** Whether the turn asked, or wanted its agent's earlier turns summed up. */
  purpose: z.enum(['turn', 'summary']),
  status: z.enum(['running', 'answered', 'failed', 'lost']),
  /** The preset that answered; until one has, the one that was asked. */
  preset: z.string(),
  provider: z.string().nullable(),
  model: z.string().nullable(),
  inputTokens: z.int(),
  outputTokens: z.int(),
  costUsd: z.number(),
  /** Whether the tokens are estimated, because the provider counted none. */
  estimated: z.boolean(),
  errorCode: z.string().nullable(),
  startedAt: time,
  endedAt: time.nullable(),
});
export type ModelCallView = z.infer<typeof modelCallView>;

/** What an answer came from and came to. */
export const modelAnswerFacts = modelCallView
  .pick({ preset: true, model: true, inputTokens: true, outputTokens: true, costUsd: true, estimated: true })
  .extend({
    /** Why it ended, as the provider said. */
    finishReason: z.string().nullable(),
  });
export type ModelAnswerFacts = z.infer<typeof modelAnswerFacts>;

/** One message of a turn's conversation with its model. */
export const conversationEntry = z.object({
  /** Its place in the conversation, from 1. */
  seq,
  /**
   * `instructions`: what the model is told first; `memory`: notes on earlier turns; `earlier`: a message of an earlier turn;
   * `prompt`; `answer`; `result`: what a call came to.
   */
  kind: z.enum(['instructions', 'memory', 'earlier', 'prompt', 'answer', 'result']),
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  /** The step of an answer or a call; null for what the turn began with. */
  step: z.string().nullable(),
  /** The attempt that was answered so. Later ones are given the same, from the journal. */
  attempt: z.int().nullable(),
  text: z.string(),
  /** How much longer the text is, in UTF-16 code units. */
  cutChars: z.int(),
  /** What an answer calls, as its model wrote it; very long arguments are cut. */
  calls: z.array(z.object({ id: z.string(), name: z.string(), arguments: z.string() })),
  /** How many calls of the answer are not shown. */
  moreCalls: z.int(),
  /** The id of the call that a result is of. */
  call: z.string().nullable(),
  tool: z.string().nullable(),
  /** Why a call or a question was refused, or failed. */
  code: z.string().nullable(),
  answer: modelAnswerFacts.nullable(),
});
export type ConversationEntry = z.infer<typeof conversationEntry>;

/** What an agent remembers of turns that it is no longer told of in full. */
export const summaryView = z.object({
  /** The number of the last turn that it stands for. */
  throughTurn: z.int(),
  text: z.string(),
  /** The turn that had it written. */
  turn: z.string(),
  step: z.string(),
  createdAt: time,
});
export type SummaryView = z.infer<typeof summaryView>;

/** One turn with everything it did. */
export const turnDetail = turnView.extend({
  prompt: z.string().nullable(),
  reads: z.array(z.string()),
  attempts: z.array(attemptView),
  calls: z.array(toolCallView),
  modelCalls: z.array(modelCallView),
});
export type TurnDetail = z.infer<typeof turnDetail>;
