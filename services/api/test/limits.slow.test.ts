import { afterEach, describe, expect, test } from '@jest/globals';
import { createApi } from '@suzumio/api';
import { rawSocket } from '../../../test/support/raw-socket.js';
import { defaultRateLimits } from '../src/rate-limiter.js';
import { type TestApi, testApi } from './support/api.js';
import { refusal } from './support/refusal.js';

let api: TestApi;
afterEach(() => api.close());

const mail = { recipient: 'ada', body: 'Hello.' };
const none = { ...defaultRateLimits, readsPerSecond: 0, writesPerSecond: 0, failuresPerSecond: 0, burstSeconds: 0 };
const codes = (answers: { status: number }[]) => answers.map(({ status }) => status);
const times = <Result>(count: number, ask: () => Promise<Result>) => Promise.all(Array.from({ length: count }, ask));

describe('how often a token may ask', () => {
  test('is bounded, for reads and writes apart, and for each token by itself', async () => {
    api = await testApi({ rateLimits: { ...none, readsPerSecond: 1, writesPerSecond: 2, burstSeconds: 2 } });
    await api.create();
    const [first, second] = [await api.token('write'), await api.token('write')];
    const send = (token: string) => () => api.post('/api/projects/team/messages', mail, { token });
    const answers = await times(40, send(first));
    // Two a second, and four more at once: so many take longer than any machine does.
    const accepted = codes(answers).filter((status) => status === 201).length;
    expect(accepted).toBeGreaterThanOrEqual(6);
    expect(accepted).toBeLessThan(40);
    const refused = answers.find(({ status }) => status === 429);
    expect(refusal(refused ?? answers[0] ?? fail())).toMatchObject({ code: 'rate-limited' });
    expect(Number(refused?.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(codes([await send(second)(), await api.get('/api/projects', { token: first })])).toEqual([201, 200]);
    const counted = await api.metrics.registry.getSingleMetricAsString('suzumio_requests_refused_total');
    expect(counted).toMatch(new RegExp(`code="rate-limited".* ${40 - accepted}$`, 'm'));
    expect(api.cell.catalog.audit.list({ limit: 10 }).items).toEqual([]);
  });

  test('is enough for a script that sends two thousand messages', async () => {
    api = await testApi({ rateLimits: defaultRateLimits });
    await api.create();
    const left = Array.from({ length: 2_000 }).values();
    const statuses = new Set<number>();
    const lane = async () => {
      for (let more = left.next(); more.done !== true; more = left.next())
        statuses.add((await api.post('/api/projects/team/messages', mail)).status);
    };
    await times(16, lane);
    expect([...statuses]).toEqual([201]);
  });
});

test('an address that shows too many bad tokens is told to wait and leaves no more lines; good ones from there are good', async () => {
  api = await testApi({ rateLimits: { ...none, failuresPerSecond: 1 } });
  const answers = await times(40, () => api.get('/api/projects', { token: `szm_${'x'.repeat(43)}` }));
  const statuses = codes(answers);
  expect(new Set(statuses)).toEqual(new Set([401, 429]));
  expect(statuses.filter((status) => status === 401).length).toBeLessThan(40);
  expect(api.logLines().filter(({ level, code }) => level === 'warn' && code === 'rate-limited')).toEqual([]);
  expect((await api.get('/api/projects')).status).toBe(200);
});

test('bodies that arrive a byte at a time are cut off, JSON and files', async () => {
  api = await testApi({ bodyPace: { graceMs: 300 } });
  await api.create();
  for (const [path, type] of [
    ['messages', 'application/json'],
    ['artifacts?name=x.txt', 'application/octet-stream'],
  ]) {
    const socket = rawSocket(api.url);
    socket.write(
      `POST /api/projects/team/${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${api.adminToken}\r\n` +
        `Content-Type: ${type}\r\nContent-Length: 9000\r\n\r\n{`,
    );
    socket.repeat(' ', 20);
    expect(await socket.received()).toMatch(/^HTTP\/1\.1 408 [^]*"code":"request-too-slow"/);
  }
  expect(api.logLines().filter(({ level }) => level === 'error')).toEqual([]);
});

describe('without tokens', () => {
  test('everybody on this machine may do everything, is called anonymous, and is told so', async () => {
    api = await testApi({ auth: 'off' });
    await api.create();
    expect((await api.post('/api/projects/team/messages', mail, { token: null })).status).toBe(201);
    expect((await api.get('/api/tokens', { token: null })).status).toBe(200);
    expect(await api.rows('team', 'SELECT actor FROM messages')).toEqual([{ actor: 'anonymous' }]);
    expect((await api.get('/health')).json).toMatchObject({ access: 'open' });
    expect(api.logLines()).toContainEqual(
      expect.objectContaining({ level: 'warn', msg: expect.stringContaining('SUZUMIO_AUTH is off') }),
    );
  });

  test('a token that is shown has to be good, and its scope counts', async () => {
    api = await testApi({ auth: 'off' });
    await api.create();
    expect((await api.get('/api/projects', { token: 'wrong' })).status).toBe(401);
    const token = await api.token('read');
    expect((await api.post('/api/projects/team/messages', mail, { token })).status).toBe(403);
  });

  test('pages of others may do nothing all the same', async () => {
    api = await testApi({ auth: 'off' });
    await api.create();
    const post = (headers: Record<string, string>) =>
      api.post('/api/projects/team/approve', '', { token: null, headers });
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect(refusal(await post({ ...form, origin: 'http://evil.example' })).code).toBe('foreign-origin');
    expect(refusal(await post({ ...form, 'sec-fetch-site': 'cross-site' })).code).toBe('foreign-origin');
    expect(refusal(await post({ host: 'evil.example' })).code).toBe('foreign-host');
  });

  test.each(['0.0.0.0', '::', '10.0.0.7', 'box.lan'])('nothing listens on %s', async (host) => {
    api = await testApi();
    const { cell, transport, metrics, logger } = api;
    const open = createApi({ host, port: 0, transportName: 'test', auth: 'off' }, { cell, transport, metrics, logger });
    await expect(open.start()).rejects.toMatchObject({ code: 'settings-invalid' });
  });
});

test('the administrator’s secret may be given instead of the data directory’s', async () => {
  const adminToken = 'given-to-the-api-by-its-operator';
  api = await testApi({ adminToken });
  expect((await api.get('/api/tokens', { token: adminToken })).status).toBe(200);
  expect((await api.get('/api/tokens')).status).toBe(401);
  expect(api.cell.catalog.tokens.list()).toMatchObject([{ name: 'admin', scope: 'admin' }]);
});

function fail(): never {
  throw new Error('there was no answer');
}
