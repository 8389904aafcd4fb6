import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Sql } from '@suzumio/store/sqlite/sql';
import { eventually } from './support/poll.js';
import { type Stack, startStack } from './support/stack.js';

let stack: Stack;
beforeEach(async () => {
  stack = await startStack({ backends: ['process'], workers: 0, sweepMs: 200 });
});
afterEach(() => stack.stop());

const file = `
name: team
task: Do the work.
backend: { kind: process, runner: { mode: mock } }
agents:
  ada: { role: writer, prompt: Write., tools: [] }
`;

/** What a later version does to a database. */
function migrated(database: string): void {
  const sql = Sql.open(database);
  sql.handle.pragma('user_version = 4711');
  sql.close();
}

const ended = (...names: ('api' | 'scheduler' | 'toolhost')[]) =>
  eventually('they have ended', () => names.every((name) => stack.services[name].every(({ running }) => !running)));

/** What each service said at its end. */
const lastWords = () =>
  stack
    .logs()
    .split('\n')
    .filter((line) => line.includes('"fatal"'))
    .map((line) => JSON.parse(line) as { service: string; code: string; msg: string })
    .map(({ service, code, msg }) => ({ service, code, msg }));

test('a later version’s catalog ends every service, each with the same sentence', async () => {
  const catalog = join(stack.root, 'catalog.db');
  migrated(catalog);
  await ended('api', 'scheduler', 'toolhost');
  const told = { code: 'schema-newer', msg: expect.stringContaining(`${catalog} has schema 4711`) as unknown };
  const words = lastWords();
  expect([...words].sort((a, b) => a.service.localeCompare(b.service))).toEqual(
    ['api', 'scheduler', 'toolhost'].map((service) => ({ service, ...told })),
  );
  expect(new Set(words.map(({ msg }) => msg)).size).toBe(1);
});

test('a later version’s project ends the services that use it', async () => {
  expect(await stack.api('POST', '/projects', { file, start: true })).toMatchObject({ status: 201 });
  const project = join(stack.root, 'projects', 'team', 'project.db');
  migrated(project);
  const body = { recipient: 'ada', body: 'Go.' };
  expect(await stack.api('POST', '/projects/team/messages', body)).toMatchObject({
    status: 500,
    body: { code: 'schema-newer' },
  });
  await ended('api');
  expect(lastWords()).toContainEqual({
    service: 'api',
    code: 'schema-newer',
    msg: expect.stringContaining(`${project} has schema 4711`) as unknown,
  });
});
