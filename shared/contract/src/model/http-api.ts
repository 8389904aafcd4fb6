import { z } from 'zod';
import { suggest } from '../errors/suggest.js';
import { directoryEntry, maxAttachments } from '@suzumio/protocol/artifacts';
import { duration } from '@suzumio/protocol/duration';
import { priority, projectId } from '@suzumio/protocol/ids';
import { maxMessageBytes } from '@suzumio/protocol/message-kind';
import { auditEntry, tokenAgents, tokenExpiry, tokenName, tokenScope, tokenView } from './access-token.js';
import { artifactName, maxArtifactDescription } from './artifact-name.js';
import { budgetChange, budgetReached, budgetView } from './budget.js';
import { storageReached } from './storage.js';
import { eventType, projectEvent } from './event.js';
import { USER_ID } from './project-config.js';
import { labels, labelWord, maxLabels } from './labels.js';
import { pause } from './pause.js';
import { projectStatuses } from './project-status.js';
import { usageGroups } from './usage.js';
import {
  agentView,
  artifactView,
  conversationEntry,
  messageView,
  projectView,
  summaryView,
  toolCallView,
  turnView,
} from './views.js';

// What the HTTP API takes and answers. Requests refuse what they do not know; answers may grow fields.

/** The longest request body. */
export const maxRequestBytes = 1024 * 1024;

/** An object with these fields and no others; an unknown one is told what was probably meant. */
export function request<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape);
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? unknownFields(issue.keys, known) : undefined),
  });
}

function unknownFields(keys: readonly string[], known: readonly string[]): string {
  const hint = (key: string) => {
    const meant = suggest(key, known);
    if (meant !== undefined) return `did you mean ${meant}?`;
    return known.length === 0 ? 'there are none' : `known are ${known.join(', ')}`;
  };
  return keys
    .slice(0, 5)
    .map((key) => `unknown field "${key.slice(0, 60)}" (${hint(key)})`)
    .join('; ');
}

/** A whole number as it stands in a query. */
export function numeral(min: number, max: number) {
  const error = `expected a whole number from ${min} to ${max}`;
  return z.preprocess(
    (text: string | number) => (typeof text === 'string' && /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN),
    z.int({ error }).min(min, { error }).max(max, { error }),
  );
}

/** Names with commas between them, as they stand in a query. */
function names<Name extends z.ZodType>(name: Name) {
  return z.preprocess(
    (text: string | readonly string[]) =>
      [text].flat().flatMap((part) => (typeof part === 'string' ? part.split(',') : [part])),
    z.array(name).min(1),
  );
}

// Queries.

export const noQuery = request({});

/** Without `after`, the newest; with it, those that follow that place in the list. */
export const page = {
  limit: numeral(1, 1000).default(100),
  after: numeral(0, Number.MAX_SAFE_INTEGER).optional(),
};
export const pageQuery = request(page);
/** Projects that have all of the labels and one of the statuses, oldest first. `after` is the `next` of the part before. */
export const projectsQuery = request({
  label: names(labelWord)
    .refine((all) => all.length <= maxLabels, { error: `at most ${maxLabels} labels` })
    .optional(),
  /** Only projects of these statuses, as the cell's index knows them. */
  status: names(z.enum(projectStatuses)).optional(),
  /** With `detail`, each with what a project by itself is read with: a part of the list may then be short. */
  include: z.enum(['detail']).optional(),
  limit: numeral(1, 1000).default(1000),
  after: z
    .string()
    .regex(/^\d{1,15}\.[a-z0-9][a-z0-9-]{0,62}$/, { error: 'expected the next of an earlier part' })
    .transform((text) => ({ createdAtMs: Number.parseInt(text), id: text.slice(text.indexOf('.') + 1) }))
    .optional(),
});
/** Only events of these types. */
const types = names(eventType).optional();
export const eventsQuery = request({ ...page, types });
/** Only those of one name, the newest last. */
export const artifactsQuery = request({ ...page, name: z.string().max(200).optional() });
/** One file of a directory. */
export const contentQuery = request({ path: z.string().min(1).max(1024).optional() });
export const turnsQuery = request({ ...page, agent: z.string().optional() });
/** Messages after the one of this place, oldest first; without `after` from the first on. */
export const conversationQuery = request(page);
export const turnLogQuery = request({ attempt: numeral(1, Number.MAX_SAFE_INTEGER).optional() });
/** Unread mail; or, where `undelivered` is true, mail that was read by turns which failed or were cancelled. */
export const inboxQuery = request({
  ...page,
  agent: z.string().optional(),
  undelivered: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true'),
});
export const toolCallsQuery = request({ ...page, turn: z.string().optional() });
/** What a file is called that is given to a project. */
export const uploadQuery = request({
  name: artifactName,
  description: z.string().max(maxArtifactDescription).optional(),
});
/** A day of UTC, or a moment. */
const moment = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })], { error: 'expected a day, such as 2026-11-21, or a moment' })
  .transform((text) => Date.parse(text));
/** Calls that ended from the one moment on, and before the other. */
export const usageQuery = request({
  by: z.enum(usageGroups).default('project'),
  project: projectId.optional(),
  from: moment.optional(),
  to: moment.optional(),
});
export const reportQuery = request({ version: numeral(1, Number.MAX_SAFE_INTEGER).optional() });

const notAnEvent = 'expected the id of an event, such as 1-42';

/** The event after which a stream goes on. A number alone is one of the epoch that the project is in. */
export const eventCursor = z
  .string()
  .regex(/^(?:\d{1,9}-)?\d{1,15}$/, { error: notAnEvent })
  .transform((text) => {
    const [seq, epoch] = text.split('-').reverse();
    return { seq: Number(seq), ...(epoch === undefined ? {} : { epoch: Number(epoch) }) };
  });
export type EventCursor = z.output<typeof eventCursor>;
export const streamQuery = request({ after: eventCursor.optional(), types });

/** The longest wait that one request may ask for. */
const maxWaitMs = 60_000;
/** The longest that it is kept waiting: what stands in front of a server gives up after 60 s, as a rule. */
export const longestWaitMs = 50_000;
export const waitQuery = request({
  status: names(z.enum(projectStatuses)),
  timeout: duration
    .pipe(z.int().max(maxWaitMs, { error: 'at most 60s' }))
    .default(30_000)
    .transform((ms) => Math.min(ms, longestWaitMs)),
});

// Requests.

export const messageBody = z
  .string()
  .regex(/\S/, { error: 'a message needs a text' })
  .refine((text) => Buffer.byteLength(text) <= maxMessageBytes, { error: `at most ${maxMessageBytes} bytes` });

/** Artifacts of the project, by id or name (the newest of that name). */
export const attachments = z.array(z.string().min(1).max(200)).max(maxAttachments).optional();

/** An agent, by its id or display name, or a team or role, by its name. */
export const named = z.string().max(200);

/** What all mail of the person has. */
export const mailFields = {
  priority: priority.default('P1'),
  body: messageBody,
  attachments,
  /** Mail over HTTP is always from the person. */
  sender: z.literal(USER_ID).optional(),
};

/** Mail from the person: to an agent (its id or display name) or to a channel. */
export const sendMessageRequest = request({ recipient: named.optional(), channel: named.optional(), ...mailFields });
export type SendMessageRequest = z.output<typeof sendMessageRequest>;

export const createProjectRequest = request({
  /** The project file's text. It is taken literally. */
  file: z.string().regex(/\S/, { error: 'expected the text of a project file' }),
  /** Whether the project runs at once. */
  start: z.boolean().default(false),
  /** The first mail. */
  message: sendMessageRequest.optional(),
  /** What the project is filed under. */
  labels: labels.optional(),
});

export const emptyRequest = request({});
export const stopRequest = request({
  /** Cancels what runs, instead of letting it go to its end. */
  now: z.boolean().default(false),
});
export const stopAgentRequest = request({
  /** Cancels the turn that it is at, instead of letting it go to its end. */
  now: z.boolean().default(false),
});
export const resetAgentRequest = request({
  /** Makes its undelivered mail unread again: a new turn reads it, and may repeat what an earlier one did. */
  redeliver: z.boolean().default(false),
});
export const pauseRequest = request({
  /** A note for the record. */
  reason: z.string().trim().min(1).max(500).optional(),
});
/** Limits over those of the project file; what is not named stays. At least one. */
export const budgetRequest = request({
  ...budgetChange.shape,
  /** Whose budget; without it, the project's. */
  agent: z.string().max(200).optional(),
}).refine(({ tokens, usd, turns }) => (tokens ?? usd ?? turns) !== undefined, {
  error: 'name a limit: tokens, usd or turns',
});
export const requestChangesRequest = request({ recipient: z.string().max(200), body: messageBody, attachments });

export const createTokenRequest = request({
  name: tokenName,
  scope: tokenScope,
  /** The one project that it opens; without it all of them. */
  project: projectId.optional(),
  /** The agents whose turns a handler's token opens; for no other scope. */
  agents: tokenAgents.optional(),
  /** After which time, such as `30d`, or at which moment it ends; without it never. */
  expires: tokenExpiry.optional(),
});
export type CreateTokenRequest = z.output<typeof createTokenRequest>;

export const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, { error: 'expected 1 to 255 visible ASCII characters' });

// Answers.

export const healthAnswer = z.object({
  status: z.literal('ok'),
  version: z.string(),
  /** Whether all else needs a token, or is open to everybody on the machine. */
  access: z.enum(['tokens', 'open']),
});
export type HealthAnswer = z.infer<typeof healthAnswer>;

/** What the cell's index says of a project: it may say `running` for a moment longer than is true. */
export const projectSummary = z.object({ id: projectId, status: z.enum(projectStatuses) });
/** The name of the project that is no more. */
export const deleteProjectAnswer = z.object({ id: projectId });
export type DeleteProjectAnswer = z.infer<typeof deleteProjectAnswer>;

export const postedMessage = z.object({
  id: z.string(),
  seq: z.int(),
  /** The agents that have it unread now. */
  recipients: z.array(z.string()),
});

export const projectAnswer = z.object({ project: projectView });
export type ProjectAnswer = z.infer<typeof projectAnswer>;
export const projectDetailAnswer = projectAnswer.extend({
  agents: z.array(agentView),
  /** Set where the whole cell starts no turns for a while. */
  cellPaused: pause.nullable(),
  /** The budgets that keep agents from new turns. */
  budgetsReached: z.array(budgetReached),
  /** The bounds of what may be stored that are reached. */
  storageReached: z.array(storageReached),
});
export type ProjectDetailAnswer = z.infer<typeof projectDetailAnswer>;
export const projectListAnswer = z.object({
  items: z.array(
    projectSummary.extend({
      labels,
      /** With `include=detail`: the project as it is read by itself. */
      detail: z.exactOptional(projectDetailAnswer),
      /** In its place, where the project's own file cannot be used: why not, and what to do. Its status may be an old one. */
      problem: z.exactOptional(z.object({ code: z.string(), detail: z.string() })),
    }),
  ),
  /** The `after` with which the list goes on; the last part has none. */
  next: z.exactOptional(z.string()),
});
export type ProjectListAnswer = z.infer<typeof projectListAnswer>;
export const createProjectAnswer = projectAnswer.extend({
  message: postedMessage.nullable(),
  /** What is allowed in the file and probably not meant. */
  warnings: z.array(z.string()),
});
export type CreateProjectAnswer = z.infer<typeof createProjectAnswer>;
/** `reached` is the status that was waited for, null when the time was up; the project may have left it since. */
export const waitAnswer = projectAnswer.extend({ reached: z.enum(projectStatuses).nullable() });
export type WaitAnswer = z.infer<typeof waitAnswer>;
export const requestChangesAnswer = projectAnswer.extend({ message: postedMessage });
export type RequestChangesAnswer = z.infer<typeof requestChangesAnswer>;
export const retryAnswer = z.object({ turn: z.string(), number: z.int() });
export type RetryAnswer = z.infer<typeof retryAnswer>;

export const agentAnswer = z.object({ agent: agentView });
export type AgentAnswer = z.infer<typeof agentAnswer>;
/** `redelivered` are the ids of the messages that are unread again. */
export const resetAgentAnswer = agentAnswer.extend({ redelivered: z.array(z.string()) });
export type ResetAgentAnswer = z.infer<typeof resetAgentAnswer>;
export const cancelAnswer = z.object({ turn: z.string(), number: z.int(), agent: z.string() });
export type CancelAnswer = z.infer<typeof cancelAnswer>;
/** What a project's own database says; a scheduler is told to look at it. */
export const tickAnswer = z.object({ id: projectId, status: z.enum(projectStatuses) });
export type TickAnswer = z.infer<typeof tickAnswer>;

export const cellPauseAnswer = z.object({ paused: pause.nullable() });
export type CellPauseAnswer = z.infer<typeof cellPauseAnswer>;
export const budgetListAnswer = z.object({ items: z.array(budgetView) });
export type BudgetListAnswer = z.infer<typeof budgetListAnswer>;
/** What an agent remembers of turns that it is no longer told of in full, the newest first. */
export const summaryListAnswer = z.object({ items: z.array(summaryView) });
export type SummaryListAnswer = z.infer<typeof summaryListAnswer>;

export const tokenAnswer = z.object({ token: tokenView });
export type TokenAnswer = z.infer<typeof tokenAnswer>;
/** The only time that the secret is shown. */
export const createdTokenAnswer = tokenAnswer.extend({ secret: z.string() });
export type CreatedTokenAnswer = z.infer<typeof createdTokenAnswer>;
export const tokenListAnswer = z.object({ items: z.array(tokenView) });
export type TokenListAnswer = z.infer<typeof tokenListAnswer>;

/** Part of a list. `next` is the `after` with which the list goes on; an empty part has none. */
export function listOf<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item), next: z.exactOptional(z.int()) });
}
export const agentListAnswer = z.object({ items: z.array(agentView) });
export type AgentListAnswer = z.infer<typeof agentListAnswer>;
export const messageListAnswer = listOf(messageView);
export const eventListAnswer = listOf(projectEvent);
export const turnListAnswer = listOf(turnView);
export const toolCallListAnswer = listOf(toolCallView);
export const conversationAnswer = listOf(conversationEntry);
/** What is in an artifact that is a directory: the files and directories, each directory before what is in it. */
export const entryListAnswer = z.object({ items: z.array(directoryEntry) });
export const artifactListAnswer = listOf(artifactView);
export const auditAnswer = listOf(auditEntry);
export type AuditAnswer = z.infer<typeof auditAnswer>;

/** The data of the stream's `reset`: what the follower knows is of another epoch, and everything comes anew. */
export const streamReset = z.object({ epoch: z.int() });
export type StreamReset = z.infer<typeof streamReset>;
/** The data of the stream's `deleted`, its last event: the project is no more. */
export const streamDeleted = z.object({});
export type StreamDeleted = z.infer<typeof streamDeleted>;
