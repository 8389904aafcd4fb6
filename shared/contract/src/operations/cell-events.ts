import { projectId } from '@suzumio/protocol/ids';
import * as z from 'zod';
import { type ProjectEvent, eventType, projectEvent } from '../model/event.js';
import { labelWord, maxLabels } from '../model/labels.js';
import { eventCursor } from './events.js';
import { json, resource } from './operation.js';
import { names, numeral, request } from './request.js';

const filters = {
  label: names(labelWord)
    .refine((all) => all.length <= maxLabels, { error: `at most ${maxLabels} labels` })
    .optional()
    .describe('Only events of projects that have all of these labels.'),
  types: names(eventType).optional().describe('Only events of these types.'),
  agents: names(z.string().max(200)).optional().describe('Only events about these agents, in whichever project.'),
};

const after = eventCursor
  .optional()
  .describe("Where the cell's timeline goes on: the `next` of a list, or the `id` of a stream's last event.");

export const cellEventsQuery = request({
  ...filters,
  limit: numeral(1, 1000).default(100).describe('The longest part that is wanted.'),
  after,
});

export const cellStreamQuery = request({ ...filters, after });

/** An event, and the project that it is of. */
export type CellEvent = { project: string } & ProjectEvent;
export const cellEvent: z.ZodType<CellEvent> = z.intersection(z.object({ project: projectId }), projectEvent);

export const cellEventListAnswer = z.object({
  items: z.array(cellEvent),
  next: z.string().describe('The `after` with which the list, or the stream, goes on.'),
});

/** The data of the stream's notices about one project. */
export const cellNotice = z.object({ project: projectId, epoch: z.int() });
export type CellNotice = z.infer<typeof cellNotice>;

const eventStream = { 'text/event-stream': z.string() };

/** What happens in all projects of the cell, in one order. */
export const cellEvents = resource('Events', {
  listCellEvents: {
    method: 'get',
    path: '/api/events',
    summary: 'What has happened in all projects; with `Accept: text/event-stream`, the same as its stream.',
    description:
      "With `after`, what follows there in the order of the stream; without, the newest by their time. An event's `id` is one of its project. A token for one project gets the events of that one.",
    query: cellEventsQuery,
    answers: {
      200: { description: 'A part of the list.', content: json(cellEventListAnswer) },
    },
    refusals: ['server-unreachable'],
  },
  streamCellEvents: {
    method: 'get',
    path: '/api/stream',
    summary: 'What happens in all projects, as server-sent events, from now on or after a place.',
    description: 'A token for one project gets the events of that one.',
    query: cellStreamQuery,
    headers: {
      'Last-Event-ID': {
        description: 'The `id` of the last event that the client has; newer than what `after` says.',
        schema: eventCursor.optional(),
      },
    },
    answers: { 200: { description: 'Events, for as long as the client stays.', content: eventStream } },
    refusals: ['server-unreachable'],
  },
});
