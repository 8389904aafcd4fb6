import { z } from 'zod';
import { json, resource } from './operation.js';
import { numeral, request } from './request.js';

export const healthAnswer = z.object({
  status: z.literal('ok'),
  version: z.string(),
  /** Whether all else needs a token, or is open to everybody on the machine. */
  access: z.enum(['tokens', 'open']),
});
export type HealthAnswer = z.infer<typeof healthAnswer>;

/** By name; the list goes on after the one that the part before ended with. */
export const workersQuery = request({
  limit: numeral(1, 100).default(100),
  after: z.string().max(100).optional(),
});

/** A worker, as it last told the fleet of itself. Null is what it has not told. */
export const workerView = z.object({
  worker: z.string(),
  /** `draining`: it stops when what it runs has ended. `not-ready`: its host can run no turns now. */
  state: z.enum(['ready', 'not-ready', 'draining']).nullable(),
  /** The code of what its host lacks. */
  problem: z.string().nullable(),
  /** Turns that it takes at a time; 0 while it takes none. */
  slots: z.int(),
  backends: z.array(z.string()).nullable(),
  /** The images that its Docker has, by name. */
  images: z.array(z.string()).nullable(),
});
export type WorkerView = z.infer<typeof workerView>;

export const workerListAnswer = z.object({
  items: z.array(workerView),
  next: z.exactOptional(z.string()),
  /** How many workers serve other cells only. */
  elsewhere: z.int(),
});
export type WorkerListAnswer = z.infer<typeof workerListAnswer>;

/** What the server says of itself and of its workers. */
export const service = resource('Service', {
  listWorkers: {
    method: 'get',
    path: '/api/workers',
    wholeCell: true,
    summary: 'The workers that the queue knows now, by name: for tokens of the whole cell.',
    query: workersQuery,
    answers: { 200: { description: 'A part of the list.', content: json(workerListAnswer) } },
    refusals: ['server-unreachable'],
  },
  getHealth: {
    method: 'get',
    path: '/health',
    summary: 'Whether anybody is there.',
    answers: { 200: { description: 'Somebody is.', content: json(healthAnswer) } },
  },
  getDescription: {
    method: 'get',
    path: '/openapi.json',
    summary: 'This description.',
    answers: { 200: { description: 'An OpenAPI document.', content: json(z.looseObject({ openapi: z.string() })) } },
  },
  getDescriptionPage: {
    method: 'get',
    path: '/docs',
    summary: 'This description, as a page.',
    answers: { 200: { description: 'A page that loads nothing else.', content: { 'text/html': z.string() } } },
  },
});
