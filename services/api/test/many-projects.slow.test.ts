import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { projectListAnswer } from '@suzumio/contract/operations/projects';
import { teamYaml, watchUse } from '../../../test/support/cell.js';
import { type TestApi, testApi } from './support/api.js';

const maxOpen = 16;
const projects = Array.from({ length: 24 }, (_, n) => `team-${String(n)}`);

let api: TestApi;
let seen: ReturnType<typeof watchUse>;

beforeAll(async () => {
  api = await testApi({}, undefined, { maxOpen });
  for (const project of projects) await api.create(teamYaml.replace('name: team', `name: ${project}`));
  seen = watchUse(api.cell.stores);
});
beforeEach(() => {
  seen.used.length = 0;
});
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(() => api.close());

test.each(['/api/projects?include=detail', '/api/usage', '/api/usage?by=agent'])(
  '%s opens each project once, and no more at a time than there is memory for',
  async (path) => {
    expect((await api.get(path)).status).toBe(200);
    expect(seen.used.toSorted()).toEqual(projects.toSorted());
    expect(seen.mostOpen).toBe(maxOpen);
  },
);

test('/api/projects opens none', async () => {
  const { json } = await api.get('/api/projects');
  expect(projectListAnswer.parse(json).items).toHaveLength(projects.length);
  expect(seen.used).toEqual([]);
});

test('a part of a list with details opens 250 projects at the most', async () => {
  const [one] = api.cell.catalog.projects.list({ limit: 1 }).items;
  if (!one) throw new Error('there is no project');
  const many = Array.from({ length: 300 }, (_, at) => ({ ...one, createdAtMs: at }));
  jest.spyOn(api.cell.catalog.projects, 'list').mockReturnValue({ items: many });
  const { items, next } = projectListAnswer.parse((await api.get('/api/projects?include=detail')).json);
  expect([items.length, seen.used.length, next]).toEqual([250, 250, `249.${one.id}`]);
});

test.each(['/api/projects?include=detail', '/api/usage'])(
  '%s opens no further project when nobody waits for the answer any more',
  async (path) => {
    const asked = Promise.withResolvers<ServerResponse>();
    const onRequest = (message: unknown) => {
      asked.resolve((message as { response: ServerResponse }).response);
    };
    subscribe('http.server.request.start', onRequest);
    const gone = new AbortController();
    const { stores } = api.cell;
    const use = stores.use.bind(stores);
    const ended = Promise.withResolvers<unknown>();
    jest.spyOn(stores, 'use').mockImplementation(async (project, body, options) => {
      if (seen.used.length === 2) {
        const response = await asked.promise;
        gone.abort();
        await once(response, 'close');
        // What follows it follows at once.
        setTimeout(ended.resolve, 50);
      }
      return use(project, body, options);
    });
    const headers = { authorization: `Bearer ${api.adminToken}` };
    await expect(fetch(`${api.url}${path}`, { headers, signal: gone.signal })).rejects.toThrow();
    unsubscribe('http.server.request.start', onRequest);
    await ended.promise;
    expect(seen.used).toHaveLength(3);
  },
);
