import { z } from 'zod';
import { healthAnswer } from '../model/http-api.js';
import { workerListAnswer, workersQuery } from '../model/workers.js';
import { json, resource } from './operation.js';

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
