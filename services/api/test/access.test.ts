import { readFile, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { healthAnswer } from '@suzumio/contract/operations/service';
import { createApi } from '@suzumio/api';
import { silentLogger } from '@suzumio/runtime/observability/logger';
import { teamYaml } from '../../../test/support/cell.js';
import { rawSocket } from '../../../test/support/raw-socket.js';
import { type TestApi, testApi } from './support/api.js';
import { refusal } from './support/refusal.js';

let api: TestApi;
beforeAll(async () => {
  api = await testApi({ allowedHosts: ['Suzumio.example'] });
  await api.create();
  await api.create(teamYaml.replace('name: team', 'name: other'));
});
afterAll(() => api.close());

const messages = '/api/projects/team/messages';
const mail = { recipient: 'ada', body: 'Hello.' };
const refusals = async (code: string, { metrics } = api) => {
  const text = await metrics.registry.getSingleMetricAsString('suzumio_requests_refused_total');
  return Number(new RegExp(`code="${code}".*} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
};

describe('in the place of a token', () => {
  /** Lines of refusals are bounded in each second, and the others' are not counted here. */
  let fresh: TestApi;
  beforeAll(async () => {
    fresh = await testApi();
  });
  afterAll(() => fresh.close());

  test.each([
    ['none', {}],
    ['another scheme', { authorization: 'Basic YWRtaW46YWRtaW4=' }],
    ['a wrong one', { authorization: `Bearer ${'0'.repeat(64)}` }],
    ['an empty one', { authorization: 'Bearer ' }],
  ])('%s is refused with a line and a count', async (_what, headers) => {
    const before = await refusals('unauthenticated', fresh);
    const lines = fresh.logLines().length;
    for (const answer of [
      await fresh.get('/api/projects/team', { token: null, headers }),
      await fresh.post(messages, mail, { token: null, headers }),
      await fresh.get('/api/no-such-route', { token: null, headers }),
    ]) {
      expect(refusal(answer)).toMatchObject({ status: 401, code: 'unauthenticated' });
      expect(answer.headers['www-authenticate']).toBe('Bearer');
      expect(answer.text).not.toContain('000000');
      const shown = 'authorization' in headers;
      expect(refusal(answer).detail).toMatch(
        shown ? /^The token that was shown is not good: / : /^This needs a token: /,
      );
    }
    expect(await refusals('unauthenticated', fresh)).toBe(before + 3);
    const written = fresh.logLines().slice(lines);
    expect(written).toMatchObject([
      { code: 'unauthenticated', method: 'GET', path: '/api/projects/team' },
      { code: 'unauthenticated', method: 'POST', path: messages },
      { code: 'unauthenticated', method: 'GET', path: '/api/no-such-route' },
    ]);
    expect(JSON.stringify(written)).not.toMatch(/000000|YWRtaW4/);
  });
});

describe('the token', () => {
  test('of the administrator is made at the first start, for the owner of the directory only', async () => {
    const file = api.cell.directory.adminTokenFile;
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await readFile(file, 'utf8')).trim()).toBe(api.adminToken);
    expect(api.adminToken).toMatch(/^szm_[\w-]{43}$/);
    expect(api.cell.catalog.tokens.identify(api.adminToken)).toMatchObject({
      name: 'admin',
      scope: 'admin',
      project: null,
    });

    const again = createApi(
      { host: '127.0.0.1', port: 0, transportName: 'test' },
      { cell: api.cell, transport: api.transport, logger: silentLogger(), metrics: api.metrics },
    );
    await again.start();
    await again.stop();
    expect((await api.get('/api/projects')).status).toBe(200);
  });

  test('opens what its scope says, in its project', async () => {
    const [read, write, handler, bound] = [
      await api.token('read'),
      await api.token('write'),
      await api.token('handler', 'team'),
      await api.token('write', 'other'),
    ];
    expect((await api.get('/api/projects/team', { token: read })).status).toBe(200);
    expect((await api.get('/api/projects/team', { token: write })).status).toBe(200);
    expect((await api.post(messages, mail, { token: write })).status).toBe(201);
    expect(refusal(await api.post(messages, mail, { token: read })).detail).toMatch(
      /scope read; this needs mail or more/,
    );
    expect(refusal(await api.get('/api/projects', { token: handler }))).toMatchObject({
      status: 403,
      code: 'forbidden',
    });
    for (const answer of [
      await api.get('/api/projects/team', { token: bound }),
      await api.get('/api/projects/nothing', { token: bound }),
      await api.post(messages, mail, { token: bound }),
      await api.get('/api/projects/team/stream', { token: bound }),
      await api.post('/api/projects', { file: 'name: x' }, { token: bound }),
    ]) {
      expect(refusal(answer)).toMatchObject({ status: 403, code: 'forbidden' });
    }
    expect((await api.get('/api/projects', { token: bound })).json).toMatchObject({ items: [{ id: 'other' }] });
  });

  test('is not needed to ask whether anybody is there', async () => {
    const answer = await api.get('/health', { token: null });
    expect(healthAnswer.parse(answer.json)).toMatchObject({ status: 'ok' });
  });
});

describe('where a request comes from', () => {
  test.each(['localhost', 'localhost:39400', '127.0.0.1:1', '[::1]:39400', 'suzumio.example', 'SUZUMIO.example:443'])(
    'the host %s is ours',
    async (host) => {
      expect((await api.get('/api/projects', { headers: { host } })).status).toBe(200);
    },
  );

  test.each(['evil.example', 'localhost.evil.example', '127.0.0.1.nip.io', '10.0.0.1:39400', 'a b'])(
    'the host %j is not',
    async (host) => {
      const before = await refusals('foreign-host');
      for (const path of ['/api/projects', '/health']) {
        expect(refusal(await api.get(path, { headers: { host } }))).toMatchObject({
          status: 403,
          code: 'foreign-host',
        });
      }
      expect(await refusals('foreign-host')).toBe(before + 2);
    },
  );

  test.each([
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://localhost:39400', host: 'localhost:39401' },
    { origin: 'http://localhost:39400', host: 'localhost:39400', 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'cross-site', 'content-type': 'application/x-www-form-urlencoded' },
  ])('a write with %j is refused', async (headers) => {
    const answer = await api.post('/api/projects/team/approve', '', { headers });
    expect(refusal(answer)).toMatchObject({ status: 403, code: 'foreign-origin' });
  });

  test('a write from our own page, and a read from anywhere, are not', async () => {
    const own = { origin: 'http://localhost:39400', host: 'localhost:39400', 'sec-fetch-site': 'same-origin' };
    expect((await api.post(messages, mail, { headers: own })).status).toBe(201);
    expect((await api.get('/api/projects', { headers: { origin: 'https://evil.example' } })).status).toBe(200);
  });
});

describe('what a request carries', () => {
  test('every answer forbids guessing and keeping it', async () => {
    for (const answer of [
      await api.get('/health'),
      await api.get('/api/projects'),
      await api.get('/api/projects', { token: null }),
    ]) {
      expect(answer.headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' });
      expect(answer.headers).not.toHaveProperty('x-powered-by');
    }
  });

  test('a body over 1 MiB is refused, whatever it says of its length', async () => {
    const body = JSON.stringify({ ...mail, body: 'x'.repeat(1024 * 1024) });
    expect(refusal(await api.post(messages, body))).toMatchObject({ status: 413, code: 'body-too-large' });
    const chunked = { headers: { 'transfer-encoding': 'chunked' } };
    const answer = refusal(await api.post(messages, body, chunked));
    expect(answer).toMatchObject({ status: 413, code: 'body-too-large', detail: expect.stringContaining('1048576') });
  });

  test('a body that is said to be over 1 MiB is refused before it comes', async () => {
    const socket = rawSocket(api.url);
    socket.write(
      `POST ${messages} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer ${api.adminToken}\r\nContent-Type: application/json\r\nContent-Length: 100000000\r\n\r\n{`,
    );
    const received = await socket.received();
    expect(received).toMatch(/^HTTP\/1\.1 413 /);
    expect(received).toContain('body-too-large');
  });

  test('JSON that is none is refused with the place', async () => {
    const answer = refusal(await api.post(messages, '{\n  "recipient": ada\n}'));
    expect(answer).toMatchObject({ status: 400, code: 'invalid-request' });
    expect(answer.detail).toMatch(/line 2, column 16/);
    expect(refusal(await api.post(messages, '"ada"')).code).toBe('invalid-request');
  });

  test('a body that is not JSON is refused, not overlooked', async () => {
    const form = { headers: { 'content-type': 'application/x-www-form-urlencoded' } };
    expect(refusal(await api.post('/api/projects/team/stop', 'now=true', form))).toMatchObject({
      status: 400,
      code: 'invalid-request',
      detail: 'The body has to be JSON: send Content-Type: application/json.',
    });
    expect(refusal(await api.post('/api/projects/team/stop', { soon: true })).detail).toMatch(
      /unknown field "soon" \(known are now\)/,
    );
    expect(refusal(await api.post('/api/projects/team/start', { now: true })).detail).toMatch(/unknown field "now"/);
  });

  test('a request that is not HTTP harms nobody', async () => {
    const { hostname, port } = new URL(api.url);
    const socket = connect(Number(port), hostname);
    socket.end('GET / HTTP/9.9\r\n\0\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1.1 400 /);
    expect((await api.get('/health')).status).toBe(200);
  });
});
