import * as z from 'zod';
import { artifactKind, attachment } from '@suzumio/protocol/artifacts';
import { attemptStats, unpublishedArtifacts, unsavedWorkspace } from '@suzumio/protocol/attempts';
import { failure } from '@suzumio/protocol/failure-codes';
import { labels } from './labels.js';
import { priority, projectId } from '@suzumio/protocol/ids';
import { messageKind } from '@suzumio/protocol/message-kind';
import { agentStates, turnStatuses } from './states.js';
import { nextStep } from './next-request.js';
import { pause } from './pause.js';
import { projectStatuses } from './project-status.js';
import { redaction } from './redaction.js';
import { foundText } from './search.js';
import { taskStates } from './task-states.js';
import { fileCounts } from './workspace.js';

const time = z.iso.datetime();

/** A project, as people and programs read it. */
export const projectView = z.object({
  id: projectId,
  status: z.enum(projectStatuses),
  task: z.string().describe('What the team is to do.'),
  labels: labels.describe('What it is filed under.'),
  standingTeam: z.string().nullable().describe('The team whose standing project it is: it is never submitted.'),
  reportPath: z.string().nullable().describe("The report's file, relative to the project's directory."),
  reportVersion: z.int().nullable().describe('The newest version of the report; null while there is none.'),
  reportBy: z.string().nullable().describe('The agent that submitted it; null while there is none.'),
  createdAt: time,
  statusAt: time.describe('Since when it has its status.'),
  startedAt: time.nullable().describe('When it ran for the first time.'),
  turns: z.object({ total: z.int(), active: z.int(), failed: z.int() }),
  messages: z.int(),
  artifacts: z.int(),
  tokens: z
    .int()
    .describe('What its models were asked and have answered; where scripts stand for models, what runners say.'),
  costUsd: z.number().describe('What its models have cost.'),
  paused: pause.nullable().describe('Set where it starts no turns for a while.'),
});
export type ProjectView = z.infer<typeof projectView>;

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

export const messageView = z.object({
  id: z.string(),
  seq: z.int().describe("Its number in the project's mail."),
  sender: z.string().describe('An agent, `user` or `system`.'),
  recipient: z.string().nullable(),
  channel: z.string().nullable(),
  priority,
  kind: messageKind,
  body: z.string(),
  threadId: z.string().describe('The thread that it is in.'),
  replyTo: z.string().nullable().describe('The message that it answers.'),
  turn: z.string().nullable().describe('The turn that sent it.'),
  actor: z.string().describe("Who sent it: an agent, a token's name, `user` or `system`."),
  createdAt: time,
  redacted: redaction.nullable().describe('Set where its text was removed: what stands there says so.'),
  attachments: z.array(attachment).describe('The artifacts that it carries.'),
  recipients: z
    .array(
      z.object({
        agent: z.string(),
        turn: z.string().nullable(),
        turnNumber: z.int().nullable().describe('The number of that turn among those of its agent.'),
        turnStatus: z.enum(turnStatuses).nullable().describe('What became of that turn.'),
        readAt: time.nullable(),
        undelivered: z.boolean(),
      }),
    )
    .describe(
      'Which turn read it, for each agent that it was addressed to; null while it is unread. It is undelivered where that turn failed or was cancelled. A list has the first 50 of them, a single message all.',
    ),
  delivery: z
    .object({ recipients: z.int(), read: z.int(), undelivered: z.int() })
    .describe(
      'How many agents it was addressed to, how many of them have read it, and how many of those have it undelivered.',
    ),
  found: z.exactOptional(foundText).describe('In the answer to a search: where in the text it was found.'),
});
export type MessageView = z.infer<typeof messageView>;

/** A message in a line. */
export const messageLine = messageView
  .pick({ id: true, seq: true, sender: true, recipient: true, channel: true, priority: true, createdAt: true })
  .extend({ excerpt: z.string().describe('The beginning of its text.') });
export type MessageLine = z.infer<typeof messageLine>;

/** How many messages of a thread are counted, its newest: an answer takes a bounded time. */
export const mostCountedInThread = 10_000;

/** A thread: how much is in it, how it began, and what came last. */
export const threadView = z.object({
  id: z.string().describe('That of the message which began it.'),
  seq: z.int().describe('The number of its last message: its place in the list.'),
  messages: z.int().describe('How many it has; of longer ones the newest 10,000 are counted.'),
  unread: z.int().describe('How many of them some agent has still to read.'),
  first: messageLine,
  last: messageLine,
});
export type ThreadView = z.infer<typeof threadView>;

/** How much mail went one way. */
export const mailCount = z.object({
  sender: z.string().describe('An agent, `user` or `system`.'),
  recipient: z.string().nullable().describe('An agent or `user`; null where it went to a channel.'),
  channel: z.string().nullable(),
  messages: z.int(),
  lastAt: time.describe('When the last was sent.'),
});
export type MailCount = z.infer<typeof mailCount>;

/** The recipients that each message of a list shows. */
export const maxListedRecipients = 50;

const seq = z.int().describe("A place in a list: what `after` of the list's query counts.");

/** An assigned task. */
export const taskView = z.object({
  id: z.string().describe('That of the message which assigned it, and of the thread that began with it.'),
  seq: seq.describe('The number of that message.'),
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

export const turnView = z.object({
  id: z.string(),
  seq,
  agent: z.string(),
  number: z.int().describe('Its number among the turns of its agent.'),
  status: z.enum(turnStatuses),
  priority,
  attempt: z.int().describe('How many attempts it has had.'),
  configVersion: z
    .int()
    .describe("The version of the project's file that it runs with: the newest when its prompt was written."),
  text: z.string().nullable().describe('What it ended with.'),
  usage: z.record(z.string(), z.unknown()).nullable(),
  endedByTool: z.string().nullable().describe('The tool that ended it.'),
  failure: failure.nullable(),
  queuedAt: time,
  notBefore: time.nullable().describe('When its next attempt is due, where that has to wait.'),
  startedAt: time.nullable(),
  endedAt: time.nullable(),
  toolCalls: z.int(),
  files: fileCounts
    .nullable()
    .describe(
      'How many files of its workspace it has changed; null where it has changed nothing, or did not complete: the changes of its agent count those.',
    ),
});
export type TurnView = z.infer<typeof turnView>;

export const attemptView = z.object({
  number: z.int(),
  status: z.enum(['running', 'completed', 'failed', 'cancelled']),
  worker: z.string(),
  credential: z.string().nullable().describe('The name of the token that the worker claimed it with.'),
  engine: z.string(),
  counted: z.boolean().nullable().describe('Whether it counts towards the attempts that a turn may have.'),
  failure: failure.nullable(),
  stats: attemptStats
    .extend({ unsaved: unsavedWorkspace.optional(), unpublished: unpublishedArtifacts.optional() })
    .nullable()
    .describe(
      'What its worker measured and found. `ignoredFiles` is how many files are in directories that are not captured, `leftOut` what no snapshot holds: pipes, sockets, and names that are no text. With `unsaved`, the workspace could not be stored. `unpublished` is what its agent changed in its own directory of artifacts and could not publish.',
    ),
  startedAt: time,
  endedAt: time.nullable(),
});
export type AttemptView = z.infer<typeof attemptView>;

/** A turn in a list, with what was asked for besides. */
export const listedTurn = turnView.extend({
  attempts: z
    .exactOptional(
      z.array(
        attemptView
          .pick({ number: true, status: true, worker: true, startedAt: true, endedAt: true })
          .extend({ code: z.string().nullable().describe('Why it failed.') }),
      ),
    )
    .describe('With `include=attempts`: its newest attempts, 50 at the most, in their order.'),
  wokenBy: z
    .exactOptional(
      z
        .object({
          message: z.string().describe('The id of the first message that it was given.'),
          sender: z.string().describe('An agent, `user` or `system`.'),
          at: time.describe('When that was sent.'),
          messages: z.int().describe('How many messages it was given.'),
        })
        .nullable(),
    )
    .describe('With `include=wokenBy`: the mail that it was given; null while it has none.'),
  asked: z
    .exactOptional(
      z.object({
        calls: z.int(),
        inputTokens: z.int(),
        outputTokens: z.int(),
        costUsd: z.number(),
      }),
    )
    .describe('With `include=asked`: what its calls of models have come to.'),
});
export type ListedTurn = z.infer<typeof listedTurn>;

/** The attempts that each turn of a list shows. */
export const maxListedAttempts = 50;

/** What became of a message at one recipient. */
export const messageReceipt = z.object({
  agent: z.string(),
  unread: z.boolean().describe("Whether it waits in the agent's inbox."),
  reads: z
    .array(
      z.object({
        turn: z.string(),
        turnNumber: z.int().describe('The number of that turn among those of its agent.'),
        status: z.enum(turnStatuses).describe('What became of the turn.'),
        failure: failure.nullable(),
        attempts: z
          .array(attemptView.pick({ number: true, status: true, failure: true, startedAt: true, endedAt: true }))
          .describe("The turn's attempts. The prompt of each held the message."),
        readAt: time,
        undelivered: z
          .boolean()
          .describe('Whether that turn failed or was cancelled, and the message was not delivered again.'),
        voidedAt: time.nullable().describe('When it was taken from that turn, to be delivered again.'),
      }),
    )
    .describe('The turns that have read it, the earliest first: another one only after it was delivered again.'),
});
export type MessageReceipt = z.infer<typeof messageReceipt>;

/** One message, and what became of it. */
export const messageDetail = messageView.extend({ receipts: z.array(messageReceipt) });
export type MessageDetail = z.infer<typeof messageDetail>;

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

export const artifactView = z.object({
  id: z.string(),
  seq,
  creator: z.string().describe('An agent, or `user`.'),
  turn: z.string().nullable(),
  name: z.string(),
  kind: artifactKind,
  files: z.int().describe('How many files it has; 1 where it is one.'),
  path: z
    .string()
    .describe("The stored file, or the list of what is in a directory, relative to the project's directory."),
  workspacePath: z.string().nullable().describe('Where it was in the workspace that it was published from.'),
  sha256: z.string(),
  sizeBytes: z.int(),
  description: z.string().nullable(),
  base: z.string().nullable().describe('The commit that a patch is against; null for anything else.'),
  createdAt: time,
  redacted: redaction.nullable().describe('Set where its content was removed.'),
});
export type ArtifactView = z.infer<typeof artifactView>;

/** One version of the report, and what a person decided on it. */
export const reportView = z.object({
  version: z.int(),
  agent: z.string().describe('The agent that submitted it.'),
  turnNumber: z.int(),
  createdAt: time,
  decision: z
    .object({
      kind: z.enum(['approved', 'changes-requested']),
      by: z.string().describe("Who decided: a token's name, or `user`."),
      at: time,
    })
    .nullable()
    .describe('The last decision on this version; null while there is none.'),
});
export type ReportView = z.infer<typeof reportView>;

/** One call of a model. */
export const modelCallView = z.object({
  id: z.string(),
  step: z.string(),
  attempt: z.int(),
  purpose: z
    .enum(['turn', 'summary'])
    .describe("Whether the turn asked, or wanted its agent's earlier turns summed up."),
  status: z.enum(['running', 'answered', 'failed', 'lost']),
  preset: z.string().describe('The preset that answered; until one has, the one that was asked.'),
  provider: z.string().nullable(),
  model: z.string().nullable(),
  inputTokens: z.int(),
  outputTokens: z.int(),
  costUsd: z.number(),
  estimated: z.boolean().describe('Whether the tokens are estimated, because the provider counted none.'),
  errorCode: z.string().nullable(),
  startedAt: time,
  endedAt: time.nullable(),
});
export type ModelCallView = z.infer<typeof modelCallView>;

/** The source and usage of an answer. */
export const modelAnswerFacts = modelCallView
  .pick({ preset: true, model: true, inputTokens: true, outputTokens: true, costUsd: true, estimated: true })
  .extend({
    finishReason: z.string().nullable().describe('Why it ended, as the provider said.'),
  });
export type ModelAnswerFacts = z.infer<typeof modelAnswerFacts>;

/** One message of a turn's conversation with its model. */
export const conversationEntry = z.object({
  seq: seq.describe('Its place in the conversation, from 1.'),
  kind: z
    .enum(['instructions', 'memory', 'earlier', 'prompt', 'answer', 'result'])
    .describe(
      '`instructions`: what the model is told first; `memory`: notes on earlier turns; `earlier`: a message of an earlier turn; `prompt`; `answer`; `result`: what a call came to.',
    ),
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  step: z.string().nullable().describe('The step of an answer or a call; null for what the turn began with.'),
  attempt: z
    .int()
    .nullable()
    .describe('The attempt that was answered so. Later ones are given the same, from the journal.'),
  text: z.string(),
  cutChars: z.int().describe('How much longer the text is, in UTF-16 code units.'),
  calls: z
    .array(z.object({ id: z.string(), name: z.string(), arguments: z.string() }))
    .describe('What an answer calls, as its model wrote it; very long arguments are cut.'),
  moreCalls: z.int().describe('How many calls of the answer are not shown.'),
  call: z.string().nullable().describe('The id of the call that a result is of.'),
  tool: z.string().nullable(),
  input: z.string().nullable().describe('What the call of a result was made with, as JSON; cut where it is very long.'),
  status: toolCallView.shape.status
    .nullable()
    .describe('What became of the call of a result; null where it was not made.'),
  code: z.string().nullable().describe('Why a call or a question was refused, or failed.'),
  startedAt: time.nullable().describe('When the question was asked, or the call was made.'),
  endedAt: time.nullable(),
  answer: modelAnswerFacts.nullable(),
});
export type ConversationEntry = z.infer<typeof conversationEntry>;

/** An agent's summary of turns that it no longer sees in full. */
export const summaryView = z.object({
  throughTurn: z.int().describe('The number of the last turn that it stands for.'),
  text: z.string(),
  turn: z.string().describe('The turn that had it written.'),
  step: z.string(),
  createdAt: time,
});
export type SummaryView = z.infer<typeof summaryView>;

/** One turn with everything that it did. */
export const turnDetail = turnView.extend({
  prompt: z.string().nullable(),
  reads: z.array(z.string()).describe('The ids of the messages that it was given.'),
  attempts: z.array(attemptView),
  calls: z.array(toolCallView),
  modelCalls: z.array(modelCallView),
});
export type TurnDetail = z.infer<typeof turnDetail>;
