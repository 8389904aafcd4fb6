import { readdir } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { projectListAnswer } from '@suzumio/contract/operations/projects';
import { createApi } from '@suzumio/api';
import { silentLogger } from '@suzumio/runtime/observability/logger';
import { createMetrics } from '@suzumio/runtime/observability/metrics';
import { createInProcessTransport } from '@suzumio/runtime/queue/in-process-transport';
import { Cell } from '@suzumio/store/cell/cell';
import { projectRow } from '@suzumio/store/rows';
import { eventually } from '../../../test/support/poll.js';
import { teamYaml } from '../../../test/support/cell.js';
import { type CallOptions, type TestApi, testApi } from './support/api.js';
import { beginTurn } from './support/play.js';
import { refusal } from './support/refusal.js';
import { openStream } from './support/sse-client.js';

const path = '/api/projects/team';
let api: TestApi;
beforeEach(async () => {
  // Only hints: what is told in time is not owed to the poll.
  api = await testApi({ events: { pollMs: 600_000 } });
  await api.create();
});
afterEach(() => api.close());

const remove = (options?: CallOptions) => api.call('DELETE', path, options);
const listed = async () => projectListAnswer.parse((await api.get('/api/projects')).json).items.map(({ id }) => id);
const onDisk = () => readdir(api.cell.directory.projectsDir);
const unknown = { status: 404, code: 'project-unknown' };

describe('DELETE of a project', () => {
  test('removes it with everything that is stored of it, and a second one is refused', async () => {
    await beginTurn(api, 'team', 'ada');
    const answer = await remove();
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({ id: 'team' });
    expect(await onDisk()).toEqual([]);
    expect(await listed()).toEqual([]);
    expect(api.logLines()).toContainEqual(expect.objectContaining({ project: 'team', actor: 'admin' }));
    for (const again of [await remove(), await api.get(path), await api.get(`${path}/messages`)]) {
      expect(refusal(again)).toMatchObject(unknown);
    }
  });

  test('frees its name for another one, whose events are of a later epoch', async () => {
    await remove();
    expect((await api.post('/api/projects', { file: teamYaml })).status).toBe(201);
    const { items } = (await api.get(`${path}/events`)).json as { items: { id: string }[] };
    expect(items.map(({ id }) => id)).toEqual(['2-1']);
  });

  test('needs an administrator of it, as it cannot be taken back', async () => {
    await api.create(teamYaml.replace('name: team', 'name: other'));
    for (const token of [
      await api.token('write'),
      await api.token('write', 'team'),
      await api.token('admin', 'other'),
    ]) {
      expect(refusal(await remove({ token }))).toMatchObject({ status: 403, code: 'forbidden' });
    }
    const own = await api.token('admin', 'team');
    expect((await remove({ token: own })).status).toBe(200);
    await api.create();
    expect(refusal(await remove({ token: own }))).toMatchObject({ status: 401, code: 'unauthenticated' });
    expect(await listed()).toEqual(['other', 'team']);
  });

  test('under a key is answered again without being done again', async () => {
    const headers = { 'idempotency-key': 'once' };
    expect((await remove({ headers })).status).toBe(200);
    expect((await remove({ headers })).json).toEqual({ id: 'team' });
    await api.create();
    expect((await remove({ headers })).status).toBe(200);
    expect(await listed()).toEqual(['team']);
    expect((await remove({ headers: { 'idempotency-key': 'twice' } })).status).toBe(200);
    expect(await listed()).toEqual([]);
  });

  test('takes nothing that says how', async () => {
    expect(refusal(await api.call('DELETE', `${path}?force=1`))).toMatchObject({ status: 400 });
    expect(refusal(await remove({ body: { force: true } }))).toMatchObject({ status: 400 });
    expect(await listed()).toEqual(['team']);
  });

  test('while mail is posted by many has each message accepted before or refused after', async () => {
    const posts = Array.from({ length: 50 }, (_, i) =>
      api.post(`${path}/messages`, { recipient: 'ada', body: `Message ${String(i)}` }),
    );
    await posts[0];
    const removed = await remove();
    expect(removed.status).toBe(200);
    const answers = await Promise.all(posts);
    expect([...new Set(answers.map(({ status }) => status))].filter((status) => status !== 404)).toEqual([201]);
    for (const answer of answers) if (answer.status !== 201) expect(refusal(answer)).toMatchObject(unknown);
  });
});

describe('whoever follows a project that is deleted', () => {
  test('gets a last event, and finds nothing when it comes again', async () => {
    const headers = { authorization: `Bearer ${api.adminToken}` };
    const stream = await openStream(`${api.url}${path}/stream?types=project.started`, headers);
    expect(await stream.next()).toMatchObject({ type: 'project.started' });
    await remove();
    expect(await stream.next()).toEqual({ id: '', type: 'deleted', data: {} });
    expect(await stream.next()).toBeUndefined();
    expect(refusal(await api.get(`${path}/stream`))).toMatchObject(unknown);
  });

  test('and waits for a status is told that it will never come', async () => {
    const answer = api.get(`${path}/wait?status=completed&timeout=60s`);
    const use = jest.spyOn(api.cell.stores, 'use');
    await eventually('somebody waits', () => use.mock.calls.length >= 2);
    await remove();
    expect(refusal(await answer)).toMatchObject(unknown);
  });

  test('at another server of the cell gets the last event there', async () => {
    const other = await secondServer(api.root);
    try {
      const headers = { authorization: `Bearer ${api.adminToken}` };
      const stream = await openStream(`${other.url}${path}/stream`, headers);
      expect(await stream.next()).toMatchObject({ type: 'project.initialized' });
      expect(await stream.next()).toMatchObject({ type: 'project.started' });
      await remove();
      await api.create();
      // It may look before or after the new project is there.
      expect(await stream.next()).toMatchObject({ type: expect.stringMatching(/^deleted$|^reset$/) as unknown });
      stream.cut();
      expect(await other.epoch()).toBe(2);
    } finally {
      await other.close();
    }
  });
});

describe('a server that starts', () => {
  test('finishes what another began to delete', async () => {
    const broken = new Error('killed');
    const onStep = () => Promise.reject(broken);
    await expect(api.cell.deleteProject('team', { actor: 'test', onStep })).rejects.toThrow('killed');
    expect(await listed()).toEqual([]);
    const other = await secondServer(api.root);
    await other.close();
    expect(await onDisk()).toEqual([]);
  });
});

/** Another server of the same cell, which hears of nothing by hints. */
async function secondServer(root: string) {
  const logger = silentLogger();
  const transport = createInProcessTransport({ logger });
  const cell = Cell.open(root, { id: api.cell.id });
  const server = createApi(
    { host: '127.0.0.1', port: 0, transportName: 'test', events: { pollMs: 20 } },
    { cell, transport, logger, metrics: createMetrics('api') },
  );
  await server.start();
  return {
    url: server.url,
    epoch: () => cell.stores.use('team', ({ reader }) => projectRow(reader).epoch),
    async close() {
      await server.stop();
      await transport.close();
      await cell.close();
    },
  };
}
