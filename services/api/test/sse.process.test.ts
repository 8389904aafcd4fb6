import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { projectEvent } from '@suzumio/contract/model/event';
import { createBullMqTransport } from '@suzumio/runtime/queue/bullmq-transport';
import { eventually } from '../../../test/support/poll.js';
import { caseCount } from '../../../test/support/fast-check.js';
import { startRedis, type TestRedis } from '../../../test/support/redis.js';
import { seeded } from '../../../test/support/seeded.js';
import { uncut } from '../../../test/support/bounds.js';
import { type TestApi, testApi } from './support/api.js';
import { refusal } from './support/refusal.js';
import { type EventStream, openStream, type StreamedEvent } from './support/sse-client.js';

const stream = '/api/projects/team/stream';
const appendEvents = fileURLToPath(new URL('fixtures/append-events.mjs', import.meta.url));
let api: TestApi;
let opened: EventStream[] = [];

async function follow(path = stream, headers: Record<string, string> = {}): Promise<EventStream> {
  const following = await openStream(`${api.url}${path}`, { authorization: `Bearer ${api.adminToken}`, ...headers });
  opened.push(following);
  return following;
}

async function take(following: EventStream, count: number): Promise<StreamedEvent[]> {
  const events: StreamedEvent[] = [];
  while (events.length < count) {
    const event = await following.next();
    if (!event) throw new Error(`the stream ended after ${String(events.length)} events`);
    events.push(event);
  }
  return events;
}

const append = (count: number) =>
  api.write('team', (tx) => {
    for (let n = 0; n < count; n++) tx.emit({ type: 'agent.waiting', actor: 'test', data: { reason: String(n) } });
  });
const clients = async () => {
  const text = await api.metrics.registry.getSingleMetricAsString('suzumio_sse_clients');
  return Number(/} (\d+)$/m.exec(text)?.[1]);
};

afterEach(async () => {
  for (const following of opened) following.cut();
  opened = [];
  await api.close();
});

describe('a stream', () => {
  beforeEach(async () => {
    api = await testApi({ events: { pollMs: 50, heartbeatMs: 30 } });
    await api.create();
  });

  test('begins with what has happened and goes on with what happens', async () => {
    for (const [path, headers] of [
      [stream, {}],
      ['/api/projects/team/events', { accept: 'text/event-stream' }],
    ] as const) {
      const following = await follow(path, headers);
      expect(following.response.statusCode).toBe(200);
      expect(following.response.headers).toMatchObject({
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      });
      const past = await take(following, 2);
      expect(past.map(({ id, type }) => [id, type])).toEqual([
        ['1-1', 'project.initialized'],
        ['1-2', 'project.started'],
      ]);
      for (const { id, type, data } of past) expect(projectEvent.parse(data)).toMatchObject({ id, type });
    }
    const [first, second] = opened as [EventStream, EventStream];
    await api.post('/api/projects/team/messages', { recipient: 'ada', body: 'Line one\nline two' });
    const [seen] = await take(first, 1);
    expect(seen).toMatchObject({
      id: '1-3',
      type: 'message.created',
      data: { data: { excerpt: 'Line one line two' } },
    });
    expect(await take(second, 1)).toEqual([seen]);
  });

  test('goes on after the last event that its client has, wherever the client says so', async () => {
    await append(8);
    const lastSeen = await follow(stream, { 'last-event-id': '1-7' });
    expect((await take(lastSeen, 3)).map(({ id }) => id)).toEqual(['1-8', '1-9', '1-10']);
    expect((await take(await follow(`${stream}?after=1-8`), 2)).map(({ id }) => id)).toEqual(['1-9', '1-10']);
    expect((await take(await follow(`${stream}?after=9`), 1)).map(({ id }) => id)).toEqual(['1-10']);
    // A browser that comes again repeats the address it had; its header is newer.
    const again = await follow(`${stream}?after=1-2`, { 'last-event-id': '1-9' });
    expect((await take(again, 1)).map(({ id }) => id)).toEqual(['1-10']);
  });

  test('sends only the types that are asked for, and goes on after the last of them', async () => {
    await append(3);
    const following = await follow(`${stream}?types=project.started,message.created`);
    expect((await take(following, 1)).map(({ id }) => id)).toEqual(['1-2']);
    await api.post('/api/projects/team/messages', { recipient: 'ada', body: 'Hello.' });
    expect((await take(following, 1)).map(({ id, type }) => [id, type])).toEqual([['1-6', 'message.created']]);
    await append(1);
    const again = await follow(`${stream}?types=agent.waiting`, { 'last-event-id': '1-4' });
    expect((await take(again, 2)).map(({ id }) => id)).toEqual(['1-5', '1-7']);
    expect(refusal(await api.get(`${stream}?types=message.create`))).toMatchObject({
      status: 400,
      detail: expect.stringMatching(/types\[0\]: .*message\.created/),
    });
  });

  test.each([
    ['of an earlier epoch', '0-1'],
    ['that does not exist yet', '1-99'],
  ])('starts over for a client that knows an event %s', async (_what, id) => {
    const following = await follow(stream, { 'last-event-id': id });
    const [reset, ...events] = await take(following, 3);
    expect(reset).toEqual({ id: '1-0', type: 'reset', data: { epoch: 1 } });
    expect(events.map((event) => event.id)).toEqual(['1-1', '1-2']);
  });

  test('starts over when another epoch begins while it is followed', async () => {
    const following = await follow();
    await take(following, 2);
    await api.write('team', (tx) => tx.run('UPDATE projects SET epoch = 2'));
    expect((await take(following, 3)).map(({ id, type }) => `${id} ${type}`)).toEqual([
      '2-0 reset',
      '2-1 project.initialized',
      '2-2 project.started',
    ]);
  });

  test('says now and then that it is still there', async () => {
    const following = await follow();
    const waiting = take(following, 3);
    await eventually('two heartbeats', () => following.comments() >= 2);
    await append(1);
    expect((await waiting).at(-1)?.id).toBe('1-3');
  });

  test('is refused where it cannot be meant', async () => {
    expect(refusal(await api.get(stream, { headers: { 'last-event-id': 'yesterday' } }))).toMatchObject({
      status: 400,
      detail: 'The Last-Event-ID is not valid: expected the id of an event, such as 1-42.',
    });
    expect(refusal(await api.get(`${stream}?after=x`)).code).toBe('invalid-request');
    const head = await api.call('HEAD', stream);
    expect([head.status, head.headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
  });

  test('is counted while it is open, and ends with the service', async () => {
    const [first, second] = [await follow(), await follow()];
    await take(first, 2);
    expect(await clients()).toBe(2);
    first.cut();
    await eventually('one client is left', async () => (await clients()) === 1);
    await take(second, 2);
    await uncut(() => api.api.stop());
    expect(await second.next()).toBeUndefined();
    expect(await clients()).toBe(0);
  });
});

describe('followers of one project', () => {
  let reads = 0;
  beforeEach(async () => {
    api = await testApi({ events: { pollMs: 600_000 } });
    await api.create();
  });

  /** From now on, every look that the API takes at the project counts. */
  function countReads(): void {
    const use = api.cell.stores.use.bind(api.cell.stores);
    reads = 0;
    api.cell.stores.use = (project, body) => {
      reads += 1;
      return use(project, body);
    };
  }

  test('cost one read each time something happens', async () => {
    const following = await Promise.all(Array.from({ length: 20 }, () => follow()));
    await Promise.all(following.map((one) => take(one, 2)));
    countReads();
    await append(1);
    await Promise.all(following.map((one) => take(one, 1)));
    // Ours, and the feed's; a second one where the hint came while it was reading.
    expect(reads).toBeLessThanOrEqual(3);
  });

  test('that do not read have nothing kept for them, delay nobody, and get everything once they do', async () => {
    const slow = await follow();
    slow.response.pause();
    const wide = 'x'.repeat(4_000);
    countReads();
    await api.cell.stores.use('team', async (store) => {
      for (let commit = 0; commit < 100; commit++) {
        await store.write((tx) => {
          for (let n = 0; n < 100; n++) tx.emit({ type: 'agent.waiting', actor: 'test', data: { reason: wide } });
        });
      }
    });
    const fast = await follow(`${stream}?after=10000`);
    expect((await take(fast, 2)).at(-1)?.id).toBe('1-10002');
    // 40 MB in 100 commits: after what fits into the sockets' buffers, nothing more was read for it.
    expect(reads).toBeLessThan(60);
    const events = await take(slow, 10_002);
    expect(events.map(({ id }) => id)).toEqual(Array.from({ length: 10_002 }, (_, n) => `1-${String(n + 1)}`));
  });
});

describe('events from three processes, with followers that are cut at random', () => {
  const perProcess = [3_334, 3_333, 3_333].map((all) => caseCount(all));
  let redis: TestRedis | undefined;
  afterEach(async () => {
    await redis?.stop();
    redis = undefined;
  });

  test.each(['are seen by each once and in order, told over Redis', 'as well when no hint ever arrives'])(
    '%s',
    async (how) => {
      const told = how.includes('Redis');
      if (told) redis = await startRedis();
      const redisUrl = redis?.url;
      api = await testApi({}, (logger) =>
        createBullMqTransport({ redisUrl: redisUrl ?? 'redis://127.0.0.1:1', cell: 'local', logger }),
      );
      await api.create();
      const total = perProcess.reduce((sum, count) => sum + count, 2);
      const followers = [1, 2, 3, 4, 5].map((seed) => followWithCuts(seed, total));
      await Promise.all(perProcess.map((count, n) => runAppender(`process-${String(n)}`, count, redisUrl)));

      for (const { ids, actors, cuts } of await Promise.all(followers)) {
        expect(ids).toEqual(Array.from({ length: total }, (_, n) => `1-${String(n + 1)}`));
        perProcess.forEach((count, n) => {
          expect(actors.get(`process-${String(n)}`)).toEqual(Array.from({ length: count }, (_, index) => index));
        });
        expect(cuts).toBeGreaterThan(3);
      }
    },
  );

  async function runAppender(name: string, count: number, redisUrl: string | undefined): Promise<void> {
    const child = spawn(
      process.execPath,
      [appendEvents, api.root, 'team', name, String(count), ...(redisUrl === undefined ? [] : [redisUrl])],
      { stdio: ['ignore', 'inherit', 'inherit'] },
    );
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`${name} ended with ${String(code)}`);
  }

  async function followWithCuts(seed: number, total: number) {
    const random = seeded(seed);
    const ids: string[] = [];
    const actors = new Map<string, unknown[]>();
    let cuts = -1;
    while (ids.length < total) {
      cuts += 1;
      const last = ids.at(-1);
      const following = await follow(stream, last === undefined ? {} : { 'last-event-id': last });
      const until = ids.length + 1 + Math.floor(random() * caseCount(1_500));
      while (ids.length < Math.min(until, total)) {
        const event = await following.next();
        if (!event) break;
        ids.push(event.id);
        const { actor, data } = projectEvent.parse(event.data);
        const numbers = actors.get(actor) ?? [];
        numbers.push(data['n']);
        actors.set(actor, numbers);
      }
      following.cut();
    }
    return { ids, actors, cuts };
  }
});
