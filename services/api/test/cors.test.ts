import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { accessEnvironment, accessOf } from '../src/environment.js';
import { type Answer, type TestApi, testApi } from './support/api.js';
import { refusal } from './support/refusal.js';
import { openStream } from './support/sse-client.js';

const page = 'https://pages.example';
const yaml = 'name: team\ntask: t\nbackend: { runner: { mode: mock } }\nagents: { ada: { role: r, prompt: p } }\n';

let api: TestApi;
let closed: TestApi;
beforeAll(async () => {
  [api, closed] = await Promise.all([
    testApi(accessOf(accessEnvironment.parse({ SUZUMIO_CORS_ORIGINS: ` ${page}, http://localhost:5173` }))),
    testApi(),
  ]);
  await api.post('/api/projects', { file: yaml });
});
afterAll(() => Promise.all([api.close(), closed.close()]));

const corsOf = ({ headers }: Pick<Answer, 'headers'>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('access-control-')));

const asks = (method: string) => ({
  'access-control-request-method': method,
  'access-control-request-headers': 'authorization,content-type,idempotency-key',
  'sec-fetch-site': 'cross-site',
});

/** What a browser asks before a request: without a token. */
const preflight = (origin: string, method = 'POST', of = api) =>
  of.call('OPTIONS', '/api/projects/team/messages', { token: null, headers: { origin, ...asks(method) } });

describe('a page of an origin that is named', () => {
  test('is told before a request, without a token, what it may send', async () => {
    const answer = await preflight(page);
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(corsOf(answer)).toEqual({
      'access-control-allow-origin': page,
      'access-control-expose-headers': expect.any(String),
      'access-control-allow-methods': 'HEAD, GET, POST, DELETE, PUT',
      'access-control-allow-headers':
        'Authorization, Content-Type, Idempotency-Key, If-None-Match, Range, If-Range, Last-Event-ID',
      'access-control-max-age': '600',
    });
    expect(answer.headers.vary).toBe('Origin');
    expect(corsOf(await preflight('http://localhost:5173', 'DELETE'))).toMatchObject({
      'access-control-allow-origin': 'http://localhost:5173',
    });
  });

  test('reads and writes, and sees the headers that mean something', async () => {
    const headers = { origin: page, 'sec-fetch-site': 'cross-site' };
    const sent = await api.post('/api/projects/team/messages', { recipient: 'ada', body: 'Hello.' }, { headers });
    expect([sent.status, corsOf(sent)]).toEqual([
      201,
      { 'access-control-allow-origin': page, 'access-control-expose-headers': expect.any(String) },
    ]);
    const exposed = String(corsOf(sent)['access-control-expose-headers']).split(', ');
    expect(exposed).toEqual(expect.arrayContaining(['Location', 'ETag', 'Retry-After', 'Content-Range']));
  });

  test('reads why it is refused', async () => {
    const headers = { origin: page };
    const unknown = await api.get('/api/projects/none', { headers });
    expect([unknown.status, corsOf(unknown)]).toMatchObject([404, { 'access-control-allow-origin': page }]);
    const without = await api.get('/api/projects', { headers, token: null });
    expect([without.status, corsOf(without)]).toMatchObject([401, { 'access-control-allow-origin': page }]);
    expect((await api.call('OPTIONS', '/api/projects', { headers })).status).toBe(405);
  });

  test('follows events', async () => {
    const stream = await openStream(`${api.url}/api/projects/team/stream`, {
      authorization: `Bearer ${api.adminToken}`,
      origin: page,
    });
    expect(stream.response.headers).toMatchObject({ 'access-control-allow-origin': page, vary: 'Origin' });
    expect(await stream.next()).toMatchObject({ type: 'project.initialized' });
    stream.cut();
  });
});

describe('any other page', () => {
  test.each([
    'https://evil.example',
    'http://pages.example',
    'https://pages.example:8443',
    'https://pages.example.evil.example',
    'null',
  ])('is told nothing, and may change nothing: %s', async (origin) => {
    const asked = await preflight(origin);
    expect([refusal(asked).code, corsOf(asked)]).toEqual(['foreign-origin', {}]);
    const body = { recipient: 'ada', body: 'Hello.' };
    const written = await api.post('/api/projects/team/messages', body, { headers: { origin } });
    expect([refusal(written).code, corsOf(written)]).toEqual(['foreign-origin', {}]);
    const read = await api.get('/api/projects/team', { headers: { origin } });
    expect([read.status, corsOf(read), read.headers.vary]).toEqual([200, {}, 'Origin']);
  });

  test('is told nothing where none is named, and answers are as before', async () => {
    const asked = await preflight(page, 'GET', closed);
    expect([refusal(asked).code, corsOf(asked), asked.headers.vary]).toEqual(['foreign-origin', {}, undefined]);
    const read = await closed.get('/api/projects', { headers: { origin: page } });
    expect([read.status, corsOf(read), read.headers.vary]).toEqual([200, {}, undefined]);
  });
});

test('a name that was made to lead here opens nothing for a page that is named', async () => {
  const code = await new Promise<number | undefined>((resolve, reject) => {
    const headers = { host: 'evil.example', origin: page, authorization: `Bearer ${api.adminToken}` };
    request(`${api.url}/api/projects`, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
  expect(code).toBe(403);
});

test.each([
  ['*', /^"\*" is refused: .*name each origin/],
  ['https://*.example', /is refused/],
  ['https://pages.example/', /write https:\/\/pages\.example$/],
  ['https://pages.example/app', /write https:\/\/pages\.example$/],
  ['https://Pages.example', /write https:\/\/pages\.example$/],
  ['https://pages.example:443', /write https:\/\/pages\.example$/],
  ['pages.example', /^"pages\.example" is no origin: expected one such as/],
  ['file:///home', /is no origin/],
  ['null', /is no origin/],
])('the setting refuses %s, and says what would be right', (value, why) => {
  const parsed = accessEnvironment.safeParse({ SUZUMIO_CORS_ORIGINS: `${page},${value}` });
  expect(parsed.error?.issues.map(({ message }) => message)).toEqual([expect.stringMatching(why)]);
});
