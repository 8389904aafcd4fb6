import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { type SystemAnswer, systemAnswer } from '@suzumio/contract/operations/service';
import { teamYaml } from '../../../test/support/cell.js';
import { type TestApi, testApi } from './support/api.js';
import { failTurn } from './support/play.js';
import { refusal } from './support/refusal.js';

const urls: string[] = [];
let api: TestApi;
beforeEach(async () => {
  urls.length = 0;
  api = await testApi({ toolhostUrls: () => urls });
});
afterEach(() => api.close());

async function system(): Promise<SystemAnswer> {
  const { status, json } = await api.get('/api/system');
  expect(status).toBe(200);
  // No field that the schema lacks: it would have been dropped.
  expect(systemAnswer.parse(json)).toEqual(json);
  return json as SystemAnswer;
}

test('nothing is said to be well that was not seen', async () => {
  const { services, toolhosts, queue, workers, failures, undelivered } = await system();
  expect(services.map(({ service, alive }) => `${service} ${String(alive)}`)).toEqual(['api true']);
  expect(toolhosts).toEqual([]);
  expect(queue).toEqual({ kind: 'memory', turns: { waiting: 0, active: 0, delayed: 0 } });
  expect(workers).toEqual({ connected: 0, ready: 0, slots: 0, busy: 0, elsewhere: 0, lost: 0 });
  expect({ failures, undelivered }).toEqual({
    failures: { agents: 0, items: [] },
    undelivered: { messages: 0, items: [] },
  });
});

test('a service that beat and stopped beating is told with when it was seen', async () => {
  const delist = await api.cell.catalog.processes.enlist({
    service: 'scheduler',
    cell: api.cell.id,
    transport: 'test',
  });
  expect((await system()).services).toContainEqual(expect.objectContaining({ service: 'scheduler', alive: true }));
  const seen = jest
    .spyOn(api.cell.catalog.processes, 'seen')
    .mockReturnValue([{ service: 'scheduler', host: 'north', sinceMs: 0, beatAtMs: 1_000, alive: false }]);
  expect((await system()).services).toEqual([
    {
      service: 'scheduler',
      host: 'north',
      since: '1970-01-01T00:00:00.000Z',
      seenAt: '1970-01-01T00:00:01.000Z',
      alive: false,
    },
  ]);
  seen.mockRestore();
  await delist();
  expect((await system()).services.map(({ service }) => service)).toEqual(['api']);
});

test('workers are counted as they told, and a queue that is away is unknown', async () => {
  const { id } = api.cell;
  await api.transport.announce({ worker: 'w1', slots: 4, busy: 3, state: 'ready', version: '1.0.0' });
  await api.transport.announce({ worker: 'w2', slots: 0, state: 'not-ready', cells: [id] });
  await api.transport.announce({ worker: 'w3', slots: 2, busy: 2, state: 'ready', cells: ['another'] });
  expect((await system()).workers).toEqual({ connected: 2, ready: 1, slots: 4, busy: 3, elsewhere: 1, lost: 0 });
  jest.spyOn(api.transport, 'fleet').mockRejectedValueOnce(new Error('away'));
  jest.spyOn(api.transport, 'turnJobs').mockRejectedValueOnce(new Error('away'));
  expect(await system()).toMatchObject({ workers: null, queue: { turns: null } });
});

test('each ToolHost is asked with the token of services: what it answers is told', async () => {
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.headers.authorization);
    const isOther = request.url !== '/health' || asked.length > 1;
    response.writeHead(isOther ? 500 : 200, { 'content-type': 'application/json' });
    response.end(isOther ? 'Nothing.' : JSON.stringify({ version: '1.2.3' }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  urls.push(url);
  expect((await system()).toolhosts).toEqual([{ url, version: '1.2.3', problem: null }]);
  expect(asked).toEqual([`Bearer ${api.cell.directory.serviceToken()}`]);
  expect((await system()).toolhosts).toEqual([{ url, version: null, problem: expect.any(String) }]);
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
  expect((await system()).toolhosts).toEqual([{ url, version: null, problem: expect.any(String) }]);
});

test('failed agents and undelivered mail of all projects are told, no project hiding those of others', async () => {
  for (const name of ['desk', 'river']) {
    await api.create(`${teamYaml.replace('name: team', `name: ${name}`)}\nturn: { maxAttempts: 1 }`);
    for (const agent of ['ada', 'ben']) await failTurn(api, name, agent);
  }
  const { failures, undelivered, projects } = await system();
  expect(projects).toBe(2);
  expect(failures.agents).toBe(4);
  expect(failures.items.map(({ project, agent }) => `${project} ${agent}`)).toEqual([
    'desk ada',
    'river ada',
    'desk ben',
    'river ben',
  ]);
  expect(undelivered.messages).toBe(4);
  expect(undelivered.items[0]).toEqual({
    project: 'desk',
    seq: 1,
    agent: 'ada',
    turnNumber: 1,
    next: 'redeliver desk 1 --agent ada',
    request: {
      operation: 'redeliverMessage',
      params: { project: 'desk', message: '1', body: { agent: 'ada' } },
      asks: [],
    },
  });
  expect(failures.items[0]).toMatchObject({
    next: 'agents retry desk ada',
    request: { operation: 'retryAgent', params: { project: 'desk', agent: 'ada' } },
  });
  await api.post('/api/projects/desk/agents/ada/reset', { redeliver: true });
  expect(await system()).toMatchObject({ failures: { agents: 3 }, undelivered: { messages: 3 } });
});

test('only tokens of the whole cell see it', async () => {
  await api.create();
  const token = await api.token('read', 'team');
  expect(refusal(await api.get('/api/system', { token })).code).toBe('forbidden');
  expect((await api.get('/api/system', { token: await api.token('read') })).status).toBe(200);
});
