import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import express, { type Express } from 'express';
import * as z from 'zod';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { type HttpServer, startHttpServer } from '@suzumio/runtime/http/http-server';
import { jsonBodies } from '@suzumio/runtime/http/json-bodies';
import { notFoundHandler, problemHandler } from '@suzumio/runtime/http/problem-handler';
import { parse } from '@suzumio/runtime/http/validate';
import { recordingLogger } from '../../../../test/support/logs.js';
import { eventually } from '../../../../test/support/poll.js';

const body = z.strictObject({ recipient: z.string(), agents: z.array(z.object({ id: z.string() })).optional() });
const secret = 'the inside of our store';

let server: HttpServer;
let log: ReturnType<typeof recordingLogger>;
/** Settled once a file has come, or has not. */
let received: Promise<Buffer> | undefined;

function app(): Express {
  const routes = express();
  routes.use(jsonBodies(1024));
  routes.post('/messages', (request, response) => {
    response.json(parse(body, request.body, 'body'));
  });
  routes.put('/file', async (request, response) => {
    received = buffer(request);
    await received;
    response.end();
  });
  routes.get('/zod', () => {
    body.parse({});
  });
  routes.get('/domain', () => {
    throw new SuzumioError('agent-unknown', 'There is no agent "bob".', { agent: 'bob' });
  });
  routes.get('/busy', () => Promise.reject(new SuzumioError('store-busy', 'The store is busy.')));
  routes.get('/full/:code', ({ params }) => {
    throw Object.assign(new Error(secret), { code: params.code });
  });
  routes.get('/who', () => {
    throw new SuzumioError('unauthenticated', 'A token is needed.');
  });
  routes.get('/bug', () => {
    throw new Error(secret);
  });
  routes.get('/late', (_request, response) => {
    response.write('half');
    throw new Error(secret);
  });
  routes.use(notFoundHandler);
  routes.use(problemHandler(log.logger));
  return routes;
}

beforeEach(async () => {
  log = recordingLogger();
  server = await startHttpServer(app(), { host: '127.0.0.1', port: 0 });
});
afterEach(() => server.stop());

async function ask(path: string, init: RequestInit = {}) {
  const response = await fetch(`${server.url}${path}`, init);
  return { response, problem: (await response.json()) as Record<string, unknown> };
}
const post = (text: string, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
  ask('/messages', { method: 'POST', body: text, headers });

test('an error of ours is a problem document with its code and facts', async () => {
  const { response, problem } = await ask('/domain');
  expect(response.status).toBe(404);
  expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect(problem).toEqual({
    type: 'urn:suzumio:problem:agent-unknown',
    title: 'agent unknown',
    status: 404,
    code: 'agent-unknown',
    detail: 'There is no agent "bob".',
    agent: 'bob',
    retryable: false,
  });
});

test('a busy store says when to try again, a missing token how to bring one', async () => {
  expect((await ask('/busy')).response.headers.get('retry-after')).toBe('1');
  expect((await ask('/who')).response.headers.get('www-authenticate')).toBe('Bearer');
});

test.each(['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE', 'ENOSPC', 'EDQUOT'])(
  '%s says that the disk is full',
  async (code) => {
    const { response, problem } = await ask(`/full/${code}`);
    expect([response.status, problem['code']]).toEqual([507, 'disk-full']);
  },
);

describe('what nobody threw on purpose', () => {
  test('is a 500 that tells nothing of its inside, and is logged with its cause', async () => {
    const { response, problem } = await ask('/bug');
    expect(response.status).toBe(500);
    expect(problem['code']).toBe('internal');
    expect(JSON.stringify(problem)).not.toContain(secret);
    expect(log.lines()).toEqual([
      expect.objectContaining({
        level: 'error',
        method: 'GET',
        path: '/bug',
        err: expect.objectContaining({ message: secret }),
      }),
    ]);
  });

  test('cuts an answer that had begun', async () => {
    const response = await fetch(`${server.url}/late`);
    await expect(response.text()).rejects.toThrow();
  });
});

describe('requests that cannot be read', () => {
  test.each<[string, string, RegExp]>([
    ['text that is not JSON', '{"recipient": editor}', /not JSON: unexpected text at line 1, column 15\.$/],
    ['JSON that ends too early', '{"recipient": "editor"', /not JSON: it ends too early\.$/],
    ['a missing field', '{}', /^The body is not valid: recipient: /],
    ['a wrong field, deep', '{"recipient":"a","agents":[{"id":"x"},{"id":7}]}', /agents\[1\]\.id: /],
    ['a field too many', '{"recipient":"a","sender":"bob"}', /sender/],
  ])('%s', async (_name, text, detail) => {
    const { response, problem } = await post(text);
    expect(response.status).toBe(400);
    expect(problem['code']).toBe('invalid-request');
    expect(problem['detail']).toMatch(detail);
  });

  test('the text before the fault is not given back', async () => {
    const { problem } = await post('{"password":"hunter22" oops}');
    expect(JSON.stringify(problem)).not.toContain('hunter22');
  });

  test('a body that is too large', async () => {
    const { response, problem } = await post(JSON.stringify({ recipient: 'x'.repeat(2_000) }));
    expect(response.status).toBe(413);
    expect(problem).toMatchObject({ code: 'body-too-large', limitBytes: 1024 });
  });

  test('a body that is said to be too large is refused before it comes', async () => {
    const { port } = new URL(server.url);
    const asking = request({ port, path: '/messages', method: 'POST', headers: { 'content-length': 10_000_000 } });
    asking.flushHeaders();
    const [response] = (await once(asking, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(413);
    expect(JSON.parse(await text(response))).toMatchObject({ code: 'body-too-large', limitBytes: 1024 });
    asking.on('error', () => undefined).destroy();
  });

  test('a charset that nobody reads, and a path that is no path', async () => {
    const charset = await post('{}', { 'content-type': 'application/json; charset=klingon' });
    expect(charset.problem['code']).toBe('invalid-request');
    expect((await ask('/%E0%A4%A')).response.status).toBeLessThan(500);
  });

  test('a zod error that escaped is still a 400', async () => {
    expect((await ask('/zod')).problem).toMatchObject({ status: 400, code: 'invalid-request' });
  });

  test('many faults are cut to the first five', async () => {
    const agents = Array.from({ length: 9 }, () => ({}));
    const { problem } = await post(JSON.stringify({ recipient: 'a', agents }));
    expect(problem['detail']).toMatch(/and 4 more\.$/);
    expect(problem['issues']).toHaveLength(5);
  });
});

test('a path that nobody serves names method and path', async () => {
  const { response, problem } = await ask('/nothing?token=hunter22', { method: 'DELETE' });
  expect(response.status).toBe(404);
  expect(problem).toMatchObject({ code: 'not-found', detail: 'There is no DELETE /nothing here.' });
});

test('only our own failures are logged', async () => {
  await ask('/domain');
  await post('nonsense');
  expect(log.lines()).toEqual([]);
});

test('what passes by itself is a line of warning, without what only a mistake of ours needs', async () => {
  await ask('/busy');
  expect(log.lines()).toEqual([
    expect.objectContaining({ level: 'warn', code: 'store-busy', detail: 'The store is busy.', path: '/busy' }),
  ]);
  expect(log.lines()[0]).not.toHaveProperty('err');
});

test('a client that leaves before it has sent all of its body is no failure of ours', async () => {
  const socket = connect(server.port, '127.0.0.1');
  socket.write('PUT /file HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\nhalf');
  await eventually('the body is being read', () => received !== undefined);
  socket.destroy();
  await expect(received).rejects.toThrow('aborted');
  // Errors are handled before another request is.
  await ask('/domain');
  expect(log.lines()).toEqual([]);
});
