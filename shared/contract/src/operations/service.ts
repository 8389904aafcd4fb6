import { z } from 'zod';
import { json, resource } from './operation.js';
import { namedListOf, namedPage, numeral, request } from './request.js';

export const healthAnswer = z.object({
  status: z.literal('ok'),
  version: z.string(),
  access: z
    .enum(['tokens', 'open'])
    .describe('Whether all else needs a token, or is open to everybody on the machine.'),
});

/** Workers by name. */
export const workersQuery = request({
  ...namedPage,
  limit: numeral(1, 100).default(100).describe('How many the part has at the most.'),
});

/** A worker, as it last told the fleet of itself. Null is what it has not told. */
export const workerView = z.object({
  worker: z.string(),
  state: z
    .enum(['ready', 'not-ready', 'draining'])
    .nullable()
    .describe('`draining`: it stops when what it runs has ended. `not-ready`: it can run no turns of this cell now.'),
  problem: z.string().nullable().describe('The code of what its host lacks, or with which this cell refuses it.'),
  slots: z.int().describe('Turns that it takes at a time; 0 while it takes none.'),
  backends: z.array(z.string()).nullable(),
  images: z.array(z.string()).nullable().describe('The images that its Docker has, by name.'),
});
export type WorkerView = z.infer<typeof workerView>;

export const workerListAnswer = namedListOf(workerView).extend({
  elsewhere: z.int().describe('How many workers serve other cells only.'),
});
export type WorkerListAnswer = z.infer<typeof workerListAnswer>;

/** What the server says of itself and of its workers. */
export const service = resource('Service', {
  listWorkers: {
    method: 'get',
    path: '/api/workers',
    wholeCell: true,
    summary: 'The workers that the queue knows now, by name: for tokens of the whole cell.',
    description: 'As each told of itself lately; a worker that is gone drops out of the list by itself.',
    query: workersQuery,
    answers: { 200: { description: 'A part of the list.', content: json(workerListAnswer) } },
    refusals: ['server-unreachable'],
  },
  getHealth: {
    method: 'get',
    path: '/health',
    summary: 'Whether anybody is there.',
    description: 'Answers as soon as requests are taken. It looks at no database and no queue.',
    answers: { 200: { description: 'Somebody is.', content: json(healthAnswer) } },
  },
  getDescription: {
    method: 'get',
    path: '/openapi.json',
    summary: 'This description.',
    description: 'Made from the operations that the routes are made of.',
    answers: { 200: { description: 'An OpenAPI document.', content: json(z.looseObject({ openapi: z.string() })) } },
  },
  getDescriptionPage: {
    method: 'get',
    path: '/docs',
    summary: 'This description, as a page.',
    description: 'For people; the document for programs is `/openapi.json`.',
    answers: { 200: { description: 'A page that loads nothing else.', content: { 'text/html': z.string() } } },
  },
});
