import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { describe, expect, test } from '@jest/globals';
import { eventTable, eventTypes, projectEvent } from '@suzumio/contract/model/event';

const written = {
  id: '1-7',
  seq: 7,
  type: 'turn.failed',
  actor: 'system',
  agent: 'ada',
  turn: 'turn_1',
  data: { number: 1, attempt: 1, code: 'time-limit', message: 'It took too long.' },
  createdAt: '2026-11-21T20:13:00.000Z',
};

describe('an event is read as it was written', () => {
  test.each([
    ['by this version', {}],
    ['with a field more', { data: { ...written.data, since: 3 } }],
    ['with less', { data: { number: 1 } }],
    ['with another kind of value', { data: { ...written.data, number: 'one' } }],
    ['with a name that is not known', { data: { ...written.data, code: 'stars-misaligned' } }],
    ['of a type that is not known', { type: 'weather.changed', data: { wind: ['north', 3] } }],
  ])('%s', (_, change) => {
    expect(projectEvent.parse({ ...written, ...change })).toEqual({ ...written, ...change });
  });
});

test('the table of docs/http-api.md has every type, its sentence and the names of its data', async () => {
  const page = await readFile(new URL('../../../../docs/http-api.md', import.meta.url), 'utf8');
  const cells = [...page.matchAll(/^\| `([a-z]+\.[a-z-]+)` +\|(.*)\|(.*)\|$/gm)].map(
    ([, type = '', told = '', data = '']) => [
      type,
      told.trim(),
      [...data.matchAll(/`(\w+\??)`/g)].map(([, name]) => name),
    ],
  );
  expect(cells).toEqual(
    eventTypes.map((type) => {
      const { sentence, data } = eventTable[type];
      const required = z.toJSONSchema(data).required ?? [];
      return [type, sentence, Object.keys(data.shape).map((name) => (required.includes(name) ? name : `${name}?`))];
    }),
  );
});
