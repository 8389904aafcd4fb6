import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type WorkerListAnswer, workerListAnswer } from '@suzumio/contract/operations/service';
import { createBullMqTransport } from '@suzumio/runtime/queue/bullmq-transport';
import { freePort } from '../../../test/support/free-port.js';
import { eventually } from '../../../test/support/poll.js';
import { type TestApi, testApi } from './support/api.js';
import { refusal } from './support/refusal.js';

let api: TestApi;
beforeEach(async () => {
  api = await testApi();
});
afterEach(() => api.close());

async function workers(query = ''): Promise<WorkerListAnswer> {
  const { status, json } = await api.get(`/api/workers${query}`);
  expect(status).toBe(200);
  // No field that the schema lacks: it would have been dropped.
  expect(workerListAnswer.parse(json)).toEqual(json);
  return json as WorkerListAnswer;
}

test('there are none before one has come, and none after it has left', async () => {
  expect(await workers()).toEqual({ items: [], elsewhere: 0 });
  await api.transport.announce({ worker: 'w1', slots: 1 });
  expect((await workers()).items).toHaveLength(1);
  await api.transport.depart('w1');
  expect(await workers()).toEqual({ items: [], elsewhere: 0 });
});

test('each is listed with what it has said of itself, and null for what it has not', async () => {
  const { id } = api.cell;
  await api.transport.announce({ worker: 'w3', slots: 0, state: 'draining', cells: ['another', id] });
  await api.transport.announce({ worker: 'w2', slots: 0, state: 'not-ready', problem: 'engine-unreachable' });
  const images = ['suzumio-runner:dev'];
  await api.transport.announce({ worker: 'w1', slots: 2, state: 'ready', cells: [id], backends: ['docker'], images });
  await api.transport.announce({ worker: 'w4', slots: 1 });
  const silent = { state: null, problem: null, busy: null, version: null, backends: null, images: null };
  expect(await workers()).toEqual({
    items: [
      { ...silent, worker: 'w1', state: 'ready', slots: 2, backends: ['docker'], images },
      { ...silent, worker: 'w2', state: 'not-ready', problem: 'engine-unreachable', slots: 0 },
      { ...silent, worker: 'w3', state: 'draining', slots: 0 },
      { ...silent, worker: 'w4', slots: 1 },
    ],
    elsewhere: 0,
  });
});

test('of workers of other cells, no more is told than how many there are', async () => {
  await api.transport.announce({ worker: 'secret', slots: 1, cells: ['another'], images: ['secret:1'] });
  expect(await workers()).toEqual({ items: [], elsewhere: 1 });
});

test('one that this cell refuses is listed as one that cannot run its turns, also where others accept it', async () => {
  const { id } = api.cell;
  const refusedBy = [{ cell: id, code: 'token-rejected' }];
  await api.transport.announce({ worker: 'w1', slots: 0, state: 'not-ready', cells: [], refusedBy });
  await api.transport.announce({ worker: 'w2', slots: 2, state: 'ready', cells: ['another'], refusedBy });
  await api.transport.announce({ worker: 'w3', slots: 2, cells: [id], refusedBy: [{ cell: 'x', code: 'y' }] });
  const { items, elsewhere } = await workers();
  expect(items.map(({ worker, state, problem, slots }) => [worker, state, problem, slots])).toEqual([
    ['w1', 'not-ready', 'token-rejected', 0],
    ['w2', 'not-ready', 'token-rejected', 0],
    ['w3', null, null, 2],
  ]);
  expect(elsewhere).toBe(0);
});

test('the list goes on after a name', async () => {
  for (const worker of ['w3', 'w1', 'w2']) await api.transport.announce({ worker, slots: 1 });
  const first = await workers('?limit=2');
  expect([first.items.map(({ worker }) => worker), first.next]).toEqual([['w1', 'w2'], 'w2']);
  const last = await workers('?limit=2&after=w2');
  expect([last.items.map(({ worker }) => worker), last.next]).toEqual([['w3'], undefined]);
  expect(refusal(await api.get('/api/workers?limit=101')).code).toBe('invalid-request');
});

test('whoever may read the whole cell may ask, and nobody else', async () => {
  await api.create();
  expect((await api.get('/api/workers', { token: await api.token('read') })).status).toBe(200);
  expect(refusal(await api.get('/api/workers', { token: await api.token('admin', 'team') })).code).toBe('forbidden');
});

test('a queue that cannot be reached is said to be away', async () => {
  const port = await freePort();
  const cut = await testApi({}, (logger) =>
    createBullMqTransport({ redisUrl: `redis://127.0.0.1:${port}`, cell: 'cut', logger }),
  );
  try {
    await eventually('the queue to be missed', async () => {
      const { status, code } = refusal(await cut.get('/api/workers'));
      return status === 503 && code === 'server-unreachable';
    });
  } finally {
    await cut.close();
  }
});
