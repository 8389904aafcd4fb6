import { rm, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Api, createApi } from '@suzumio/api';
import { beginEpoch } from '@suzumio/store/projects/begin-epoch';
import { Cell } from '@suzumio/store/cell/cell';
import { placeOf } from '@suzumio/store/projects/file-place';
import { createMetrics } from '@suzumio/runtime/observability/metrics';
import { silentLogger } from '@suzumio/runtime/observability/logger';
import { createInProcessTransport } from '@suzumio/runtime/queue/in-process-transport';
import { teamYaml } from '../../../test/support/cell.js';
import { type TestApi, testApi } from './support/api.js';
import { type EventStream, openStream, type StreamedEvent } from './support/sse-client.js';

let api: TestApi;
let opened: EventStream[] = [];
beforeEach(async () => {
  api = await testApi({ events: { pollMs: 50, heartbeatMs: 100 } });
});
afterEach(async () => {
  for (const stream of opened) stream.cut();
  opened = [];
  await api.close();
});

const named = (name: string) => teamYaml.replace('name: team', `name: ${name}`);
const say = (project: string, reason: string, cell: Cell = api.cell) =>
  cell.stores.use(project, (store) =>
    store.write((tx) => tx.emit({ type: 'agent.waiting', actor: 'test', agent: 'ada', data: { reason } })),
  );

async function follow(query = '', lastEventId?: string, url = api.url, token = api.adminToken): Promise<EventStream> {
  const stream = await openStream(`${url}/api/events${query}`, {
    authorization: `Bearer ${token}`,
    accept: 'text/event-stream',
    ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
  });
  opened.push(stream);
  return stream;
}

async function next(stream: EventStream): Promise<StreamedEvent> {
  const event = await stream.next();
  if (!event) throw new Error('the stream has ended');
  return event;
}

const told = ({ type, data }: StreamedEvent) => [
  type,
  data['project'],
  (data['data'] as { reason?: string } | undefined)?.reason,
];

describe('a stream of the cell', () => {
  test('says where it begins, and then what happens in any project, also in one that is new', async () => {
    await api.create(named('one'), { start: false });
    const stream = await follow();
    const ready = await next(stream);
    expect(ready).toMatchObject({ type: 'ready', data: {} });
    await say('one', 'a');
    expect(told(await next(stream))).toEqual(['agent.waiting', 'one', 'a']);
    await api.create(named('two'), { start: false });
    expect(told(await next(stream))).toEqual(['project.initialized', 'two', undefined]);
    await say('two', 'b');
    await say('one', 'c');
    const both = [told(await next(stream)), told(await next(stream))];
    expect(both.sort()).toEqual([
      ['agent.waiting', 'one', 'c'],
      ['agent.waiting', 'two', 'b'],
    ]);
    // Whoever knows only where it began has missed nothing.
    const again = await follow('', ready.id);
    expect(told(await next(again))).toEqual(['agent.waiting', 'one', 'a']);
  });

  test('tells of a new project without a search', async () => {
    const searching = api;
    // Longer than a test may take.
    api = await testApi({ events: { pollMs: 600_000 } });
    await searching.close();
    const stream = await follow();
    await next(stream);
    await api.create(named('new'), { start: false });
    expect(told(await next(stream))).toEqual(['project.initialized', 'new', undefined]);
  });

  test('tells of projects that are deleted, restored or damaged', async () => {
    for (const name of ['gone', 'copied', 'broken']) await api.create(named(name), { start: false });
    const stream = await follow();
    const ready = await next(stream);
    await api.call('DELETE', '/api/projects/gone', { headers: { 'idempotency-key': 'k' } });
    expect(await next(stream)).toMatchObject({ type: 'project.deleted', data: { project: 'gone' } });

    await say('copied', 'before');
    expect(told(await next(stream))).toEqual(['agent.waiting', 'copied', 'before']);
    const { epoch } = await api.write('copied', (tx) =>
      beginEpoch(tx, { place: placeOf(api.cell.directory.projectFile('copied')) }),
    );
    expect(await next(stream)).toMatchObject({ type: 'project.reset', data: { project: 'copied', epoch } });
    const types = [await next(stream), await next(stream), await next(stream)].map(({ type }) => type);
    expect(types).toEqual(['project.initialized', 'agent.waiting', 'project.restored']);

    api.cell.stores.forget('broken');
    const file = api.cell.directory.projectFile('broken');
    await rm(`${file}-wal`, { force: true });
    await writeFile(file, 'This is no database.'.repeat(1_000));
    expect(await next(stream)).toMatchObject({ type: 'project.damaged', data: { project: 'broken' } });
    await say('copied', 'after');
    expect(told(await next(stream))).toEqual(['agent.waiting', 'copied', 'after']);

    // The same to whoever was away: what is no project's past any more is not told.
    const again = await follow('', ready.id);
    const types2: string[] = [];
    for (let n = 0; n < 7; n++) types2.push((await next(again)).type);
    expect(types2).toEqual([
      'project.deleted',
      'project.reset',
      'project.initialized',
      'agent.waiting',
      'project.restored',
      'project.damaged',
      'agent.waiting',
    ]);
  });

  test('has only what is asked for', async () => {
    await api.post('/api/projects', { file: named('one'), labels: { area: 'north' } });
    await api.post('/api/projects', { file: named('two'), labels: { area: 'south' } });
    const stream = await follow('?label=area=north&types=agent.waiting,project.started&agents=ada');
    await next(stream);
    await say('two', 'no');
    await api.post('/api/projects/one/start');
    await say('one', 'yes');
    expect(told(await next(stream))).toEqual(['agent.waiting', 'one', 'yes']);
  });

  test('begins anew where the cursor is of another catalog', async () => {
    await api.create(named('one'), { start: false });
    const stream = await follow('', '7-3');
    expect(await next(stream)).toMatchObject({ type: 'reset', data: { epoch: 1 } });
    expect(told(await next(stream))).toEqual(['project.initialized', 'one', undefined]);
  });

  test('has what one project does, and nothing of others, for a token that is for one', async () => {
    await api.create(named('one'), { start: false });
    await api.create(named('two'), { start: false });
    const token = await api.token('read', 'one');
    const stream = await follow('', '1-0', api.url, token);
    await say('two', 'no');
    expect((await api.call('DELETE', '/api/projects/two')).status).toBe(200);
    await say('one', 'yes');
    expect(told(await next(stream))).toEqual(['project.initialized', 'one', undefined]);
    expect(told(await next(stream))).toEqual(['agent.waiting', 'one', 'yes']);
    for (const query of ['', '?after=1-0']) {
      const { items } = (await api.get(`/api/events${query}`, { token })).json as { items: { project: string }[] };
      expect(items.map(({ project }) => project)).toEqual(['one', 'one']);
    }
  });
});

describe('the list', () => {
  test('has the newest by their time, and goes on in the order of the stream', async () => {
    await api.create(named('one'), { start: false });
    await api.create(named('two'), { start: false });
    await say('one', 'a');
    await say('two', 'b');
    await say('one', 'c');
    type Page = { items: { project: string; data: { reason?: string } }[]; next: string };
    const reasons = ({ items }: Page) => items.map(({ data }) => data.reason);
    const newest = (await api.get('/api/events?limit=3')).json as Page;
    expect(reasons(newest)).toEqual(['a', 'b', 'c']);
    expect((await api.get(`/api/events?after=${newest.next}`)).json).toEqual({ items: [], next: newest.next });
    await say('two', 'd');
    await say('two', 'e');
    const one = (await api.get(`/api/events?after=${newest.next}&limit=1`)).json as Page;
    const two = (await api.get(`/api/events?after=${one.next}`)).json as Page;
    expect([reasons(one), reasons(two)]).toEqual([['d'], ['e']]);
    const all = (await api.get('/api/events?after=0')).json as Page;
    expect(all.items).toHaveLength(7);
  });
});

test('200 projects, two servers, a follower that is cut again and again: each event once and in order', async () => {
  const projects = Array.from({ length: 200 }, (_, n) => `p-${String(n)}`);
  for (const project of projects) await api.create(named(project), { start: false });
  // Another process, of whose commits no hint arrives anywhere.
  const elsewhere = Cell.open(api.root);
  const replicaCell = Cell.open(api.root);
  const transport = createInProcessTransport({ logger: silentLogger() });
  const replica: Api = createApi(
    { host: '127.0.0.1', port: 0, transportName: 'test', events: { pollMs: 50, heartbeatMs: 100 } },
    { cell: replicaCell, transport, logger: silentLogger(), metrics: createMetrics('api') },
  );
  await replica.start();
  const perProject = 10;
  const total = projects.length * perProject;
  try {
    let stream = await follow();
    let last = (await next(stream)).id;
    const writing = (async () => {
      for (let n = 0; n < perProject; n++) {
        // The clock steps back between events.
        api.setNow(Date.UTC(2026, 10, 22, n % 2 === 0 ? 12 : 11));
        await Promise.all(projects.map((project, i) => say(project, String(n), i % 2 === 0 ? api.cell : elsewhere)));
      }
    })();
    const seen = new Map<string, string[]>();
    const ids = new Set<string>();
    for (let count = 0, server = 0; count < total; count++) {
      if (count % 97 === 96) {
        stream.cut();
        server += 1;
        if (server === 5) {
          await replica.stop();
          await replica.start();
        }
        stream = await follow('', last, server % 2 === 0 ? api.url : replica.url);
      }
      const event = await next(stream);
      last = event.id;
      const [type, project, reason] = told(event);
      expect(type).toBe('agent.waiting');
      seen.set(String(project), [...(seen.get(String(project)) ?? []), String(reason)]);
      ids.add(`${String(project)} ${String(event.data['id'])}`);
    }
    await writing;
    const inOrder = Array.from({ length: perProject }, (_, n) => String(n));
    expect(ids.size).toBe(total);
    expect(new Set(seen.keys())).toEqual(new Set(projects));
    for (const reasons of seen.values()) expect(reasons).toEqual(inOrder);
  } finally {
    await replica.stop();
    await transport.close();
    await replicaCell.close();
    await elsewhere.close();
  }
});
