import { liveFrame } from '@suzumio/protocol/live';
import * as z from 'zod';
import { turnStatuses } from '../model/states.js';
import { conversationEntry } from '../model/conversation.js';
import { toolCallView } from '../model/tool-call.js';
import { listedTurn, turnDetail } from '../model/turn.js';
import { json, resource } from './operation.js';
import { emptyRequest, listOf, names, numeral, page, request, timeRange } from './request.js';

export const turnsQuery = request({
  ...page,
  ...timeRange,
  agent: z.string().optional().describe('Only those of this agent.'),
  status: z.enum(turnStatuses).optional().describe('Only those that are so.'),
  askedOn: z.iso
    .date()
    .optional()
    .describe('Only those whose calls of models ended on this day of UTC, or some of them.'),
  model: z.string().max(200).optional().describe('Only those that called this model; with `askedOn`, on that day.'),
  include: names(z.enum(['attempts', 'wokenBy', 'asked']))
    .optional()
    .describe('What each turn has besides, separated by commas: the fields of these names.'),
});

export const turnQuery = request({
  without: z
    .enum(['calls'])
    .optional()
    .describe('With `calls`, `calls` is empty: they are read in parts, as a conversation or as tool calls.'),
});

/** A conversation begins with its first message, unless `after`, `before` or the order say otherwise. */
export const conversationQuery = request(page);

export const turnLogQuery = request({
  attempt: numeral(1, Number.MAX_SAFE_INTEGER).optional().describe('Which attempt; without it, the newest.'),
});

export const toolCallsQuery = request({
  ...page,
  ...timeRange,
  turn: z.string().optional().describe('Only those of this turn: its id, or `agent:number`.'),
  agent: z.string().optional().describe('Only those of this agent.'),
  tool: z.string().max(200).optional().describe('Only those of this tool.'),
  status: toolCallView.shape.status.optional().describe('Only those of which this became, such as `refused`.'),
});

export const cancelAnswer = z.object({ turn: z.string(), number: z.int(), agent: z.string() });

/** The data of a live stream's `end`, its last event: the attempt is over, or none runs. */
export const liveEnd = z.object({
  attempt: z.int(),
  status: z
    .enum(turnStatuses)
    .describe('What became of the turn; `queued` or `running` when it goes on with another attempt.'),
});
export type LiveEnd = z.infer<typeof liveEnd>;

/** An event of the live stream of a turn: `live` with one of its frames, or `end`. */
export const liveMessage = z.union([
  z.object({ event: z.literal('live'), data: liveFrame }),
  z.object({ event: z.literal('end'), data: liveEnd }),
]);
export type LiveMessage = z.infer<typeof liveMessage>;

export const turnListAnswer = listOf(listedTurn);

export const toolCallListAnswer = listOf(toolCallView);

export const conversationAnswer = listOf(conversationEntry);

/** Turns, and what they did. */
export const turns = resource('Turns', {
  listTurns: {
    method: 'get',
    path: '/api/projects/:project/turns',
    summary: 'The turns of a project, or those of one agent.',
    description: 'The newest, unless `after` is given; oldest of them first.',
    query: turnsQuery,
    answers: { 200: { description: 'A part of the list.', content: json(turnListAnswer) } },
    refusals: ['agent-unknown'],
  },
  getTurn: {
    method: 'get',
    path: '/api/projects/:project/turns/:turn',
    summary: 'A turn with its prompt, its attempts and its tool calls.',
    query: turnQuery,
    answers: { 200: { description: 'The turn.', content: json(turnDetail) } },
    refusals: ['turn-unknown'],
  },
  getTurnLog: {
    method: 'get',
    path: '/api/projects/:project/turns/:turn/log',
    summary: "What the container of a turn's attempt printed; of the newest attempt, unless another is asked for.",
    query: turnLogQuery,
    answers: { 200: { description: 'The log.', content: { 'text/plain': z.string() } } },
    refusals: ['turn-unknown'],
  },
  getTurnConversation: {
    method: 'get',
    path: '/api/projects/:project/turns/:turn/conversation',
    summary:
      'What the model of a turn was told and answered, question by question; from the beginning, unless `after` says otherwise.',
    description: 'Long texts and arguments are cut, and say by how much.',
    query: conversationQuery,
    answers: { 200: { description: 'A part of the conversation.', content: json(conversationAnswer) } },
    refusals: ['turn-unknown'],
  },
  followTurn: {
    method: 'get',
    path: '/api/projects/:project/turns/:turn/live',
    summary:
      'What a turn does while it does it, as server-sent events: what its model says, and what its commands print.',
    description:
      'Events are `live`, whose data is `{kind: "model", step, text}`, `{kind: "output", step, stream, text}` or `{kind: "gap", bytes}`, and at the end of the attempt `end` with `{attempt, status}`; at once where the turn is over. Nothing of it is on record: it begins now, a slow reader loses some (`gap`), and the step that follows has all. Comments keep the connection alive.',
    query: emptyRequest,
    answers: {
      200: { description: 'Events, until the attempt is over.', content: { 'text/event-stream': z.string() } },
    },
    refusals: ['turn-unknown', 'live-unavailable', 'live-full'],
  },
  cancelTurn: {
    method: 'post',
    path: '/api/projects/:project/turns/:turn/cancel',
    scope: 'operate',
    summary: 'Cancels a turn that is queued or running. What has run of it is ended at once.',
    description: 'Its container is ended, its mail is undelivered, and its agent is free for other mail.',
    body: emptyRequest,
    answers: { 200: { description: 'It is cancelled.', content: json(cancelAnswer) } },
    refusals: ['turn-unknown', 'turn-state-refused'],
  },
  listToolCalls: {
    method: 'get',
    path: '/api/projects/:project/tool-calls',
    summary: 'The tool calls of a project, or those of one turn.',
    query: toolCallsQuery,
    answers: { 200: { description: 'A part of the list.', content: json(toolCallListAnswer) } },
    refusals: ['turn-unknown', 'agent-unknown'],
  },
});
