import * as z from 'zod';
import { eventType, projectEvent } from '../model/event.js';
import { projectStatuses } from '../model/project-status.js';
import { json, resource } from './operation.js';
import { projectAnswer } from './projects.js';
import { listOf, names, page, request, timeRange } from './request.js';
import { waitTimeout } from './wait-timeout.js';

const types = names(eventType).optional().describe('Only events of these types.');

export const eventsQuery = request({
  ...page,
  ...timeRange,
  types,
  agent: z.string().optional().describe('Only those about this agent.'),
  actor: z
    .string()
    .max(200)
    .optional()
    .describe("Only those that this one brought about: an agent, a token's name, `user` or `system`."),
});

const notAnEvent = 'expected the id of an event, such as 1-42';

export const eventCursor = z
  .string()
  .regex(/^(?:\d{1,9}-)?\d{1,15}$/, { error: notAnEvent })
  .transform((text) => {
    const [seq, epoch] = text.split('-').reverse();
    return { seq: Number(seq), ...(epoch === undefined ? {} : { epoch: Number(epoch) }) };
  })
  .describe('The event after which a stream goes on. A number alone is one of the epoch that the project is in.');
export type EventCursor = z.output<typeof eventCursor>;

export const streamQuery = request({ after: eventCursor.optional(), types });

export const waitQuery = request({
  status: names(z.enum(projectStatuses)).describe('The statuses that are waited for.'),
  timeout: waitTimeout,
});

export const waitAnswer = projectAnswer.extend({
  reached: z
    .enum(projectStatuses)
    .nullable()
    .describe('The status that was waited for; null when the time was up. The project may have left it since.'),
});
export type WaitAnswer = z.infer<typeof waitAnswer>;

export const eventListAnswer = listOf(projectEvent);

/** The data of the stream's `reset`: what the follower knows is of another epoch, and everything comes anew. */
export const streamReset = z.object({ epoch: z.int() });
export type StreamReset = z.infer<typeof streamReset>;

/** The data of the stream's `deleted`, its last event: the project is no more. */
export const streamDeleted = z.object({});
export type StreamDeleted = z.infer<typeof streamDeleted>;

const lastEventId = {
  'Last-Event-ID': {
    description: 'The last event that the client has; newer than what `after` says.',
    schema: eventCursor.optional(),
  },
};

const eventStream = { 'text/event-stream': z.string() };

/** The timeline of a project: as a list, as a stream, or waited for. */
export const events = resource('Events', {
  listEvents: {
    method: 'get',
    path: '/api/projects/:project/events',
    summary: 'What has happened in a project; with `Accept: text/event-stream`, the same as its stream.',
    description: 'The newest, unless `after` is given; oldest of them first. An event never changes.',
    query: eventsQuery,
    answers: {
      200: { description: 'A part of the list.', content: json(eventListAnswer) },
    },
    refusals: ['agent-unknown', 'server-unreachable'],
  },
  streamEvents: {
    method: 'get',
    path: '/api/projects/:project/stream',
    summary: 'What has happened in a project, and then what happens, as server-sent events.',
    description:
      'Each event has the id, the type and the JSON of the list. Comments keep the connection alive. `reset` says that the project is of another epoch, and everything comes anew; `deleted` ends the stream. A client that reconnects with `Last-Event-ID` misses nothing.',
    query: streamQuery,
    headers: lastEventId,
    answers: { 200: { description: 'Events, for as long as the client stays.', content: eventStream } },
    refusals: ['server-unreachable'],
  },
  waitForStatus: {
    method: 'get',
    path: '/api/projects/:project/wait',
    summary: 'Answers when the project has, or reaches, one of these statuses, or when the time is up.',
    description:
      'A request waits for 50 seconds at the most, whatever `timeout` says; then `reached` is null, and the client asks again.',
    query: waitQuery,
    answers: { 200: { description: 'It was reached, or not in time.', content: json(waitAnswer) } },
    refusals: ['server-unreachable'],
  },
});
