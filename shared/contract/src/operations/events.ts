import { z } from 'zod';
import { eventCursor, eventListAnswer, eventsQuery, streamQuery, waitAnswer, waitQuery } from '../model/http-api.js';
import { json, resource } from './operation.js';

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
    query: eventsQuery,
    answers: {
      200: { description: 'A part of the list.', content: { ...json(eventListAnswer), ...eventStream } },
    },
    refusals: ['server-unreachable'],
  },
  streamEvents: {
    method: 'get',
    path: '/api/projects/:project/stream',
    summary: 'What has happened in a project, and then what happens, as server-sent events.',
    query: streamQuery,
    headers: lastEventId,
    answers: { 200: { description: 'Events, for as long as the client stays.', content: eventStream } },
    refusals: ['server-unreachable'],
  },
  waitForStatus: {
    method: 'get',
    path: '/api/projects/:project/wait',
    summary: 'Answers when the project has, or reaches, one of these statuses, or when the time is up.',
    query: waitQuery,
    answers: { 200: { description: 'It was reached, or not in time.', content: json(waitAnswer) } },
    refusals: ['server-unreachable'],
  },
});
