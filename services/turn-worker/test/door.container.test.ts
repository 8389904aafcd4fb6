import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type IncomingMessage, request, type RequestOptions } from 'node:http';
import { connect } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { ClaimAnswer } from '@suzumio/protocol/attempts';
import { Multiplexer } from '@suzumio/protocol/stdio-frames';
import { silentLogger } from '@suzumio/runtime/observability/logger';
import { Door } from '../src/door/door.js';
import { type KeptConnections, keepConnections } from '../src/toolhost/kept-connections.js';
import { TestToolHost } from './support/test-toolhost.js';
import { until } from './support/until.js';
import { World } from './support/world.js';

let directory: string;
let toolhost: TestToolHost;
let connections: KeptConnections;
let door: Door;
let socket: string;
let claim: ClaimAnswer;
let refused: string[];
let beforeWrites: () => Promise<void>;

beforeEach(async () => {
  directory = await mkdtemp('/tmp/suzumio-door-');
  socket = `${directory}/door.sock`;
  toolhost = await TestToolHost.start();
  connections = keepConnections(toolhost.runnerUrl);
  const world = await World.open({ start: false });
  claim = world.claimOf({});
  await world.close();
  toolhost.add(claim);
  refused = [];
  beforeWrites = () => Promise.resolve();
  door = new Door({
    token: claim.toolToken,
    onRefused: (code) => refused.push(code),
    runnerUrl: toolhost.runnerUrl,
    exchange: connections.exchange,
    steps: { isOpen: false, pass: (_route, send) => send() },
    beforeWrites: () => beforeWrites(),
    logger: silentLogger(),
    maxContentBytes: 1_000_000,
    maxInFlight: 4,
  });
  await door.listen(socket);
});

afterEach(async () => {
  await door.close();
  connections.close();
  await toolhost.stop();
  await rm(directory, { recursive: true });
});

interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
  body: string;
}

function ask(
  method: string,
  path: string,
  body: string | Buffer | Readable = '',
  more: RequestOptions = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asking = request({ socketPath: socket, method, path, ...more }, (response) => {
      buffer(response).then(
        (bytes) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: bytes.toString() }),
        reject,
      );
    });
    asking.on('error', reject);
    if (typeof body === 'string' || Buffer.isBuffer(body)) asking.end(body);
    else body.pipe(asking);
  });
}

/** A tool call of the door's own turn. */
function turn() {
  const call = JSON.stringify({
    project: 'paper',
    agent: 'writer',
    turn: claim.input.turn.id,
    tool: 'messages.send',
    input: { a: 1 },
  });
  return { call, headers: { authorization: `Bearer ${claim.toolToken}`, 'content-type': 'application/json' } };
}

const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe('a door', () => {
  test('passes tool calls on, with the token that they have and no other', async () => {
    const { call, headers } = turn();
    expect(await ask('POST', '/tool', call, { headers })).toMatchObject({
      status: 200,
      body: '{"output":{"echo":{"a":1}}}',
    });
    expect(await ask('POST', '/tool', call.replace('messages.send', 'test.refused'), { headers })).toMatchObject({
      status: 422,
      headers: { 'content-type': 'application/problem+json' },
    });
  });

  test('says that the workspace may be written before a step begins in it or content is fetched, and not otherwise', async () => {
    const { call, headers } = turn();
    const content = `/content/${toolhost.put('text')}`;
    const step = JSON.stringify({ ...(JSON.parse(call) as object), tool: 'file.write', step: '0.0' });
    const told: string[] = [];
    for (const [method, path, body] of [
      ['POST', '/tool', call],
      ['HEAD', content, ''],
      ['PUT', content, 'text'],
      ['GET', content, ''],
      ['POST', '/tool/begin', step],
    ] as const) {
      const passed = toolhost.runnerRequests.length;
      beforeWrites = () => {
        expect(toolhost.runnerRequests).toHaveLength(passed);
        return Promise.resolve(void told.push(`${method} ${path}`));
      };
      expect((await ask(method, path, body, { headers })).status).toBeLessThan(300);
    }
    expect(told).toEqual([`GET ${content}`, 'POST /tool/begin']);

    beforeWrites = () => Promise.reject(new Error('it cannot be written down'));
    const passed = toolhost.runnerRequests.length;
    expect((await ask('POST', '/tool/begin', step, { headers })).status).toBe(500);
    expect(toolhost.runnerRequests).toHaveLength(passed);
  });

  test('is not held by connections that ask thousands of times before they are answered', async () => {
    const asked = 'POST /tool HTTP/1.1\r\n\r\n'.repeat(8_000);
    const ended = Array.from({ length: 40 }, async () => {
      const connection = connect(socket);
      connection.on('error', () => undefined).resume();
      connection.write(asked);
      await new Promise((resolve) => connection.once('close', resolve));
    });
    await Promise.all(ended);
    expect(refused.length).toBeLessThanOrEqual(40 * 8);
    const { call, headers } = turn();
    expect(await ask('POST', '/tool', call, { headers })).toMatchObject({ status: 200 });
  });

  test('passes nothing with the token of another attempt, or none', async () => {
    const { call } = turn();
    const path = `/content/${'a'.repeat(64)}`;
    for (const authorization of ['', 'Basic x', claim.toolToken, `Bearer ${claim.toolToken} x`]) {
      const headers = authorization === '' ? {} : { authorization };
      expect(await ask('POST', '/tool', call, { headers })).toMatchObject({ status: 401 });
    }
    for (const token of [claim.leaseToken, `${claim.toolToken}x`, claim.toolToken.replace('.1.', '.2.')]) {
      const headers = { authorization: `Bearer ${token}` };
      for (const [method, url] of [
        ['POST', '/tool'],
        ['PUT', path],
        ['HEAD', path],
        ['GET', path],
      ] as const)
        expect(await ask(method, url, '', { headers })).toMatchObject({ status: 401 });
    }
    expect(toolhost.runnerRequests).toEqual([]);
    expect(new Set(refused)).toEqual(new Set(['unauthenticated', 'token-rejected']));
  });

  test('leads to the models, to ask and to see which there are', async () => {
    const { headers } = turn();
    await ask('POST', '/v1/chat/completions', '{}', { headers });
    await ask('GET', '/v1/models', '', { headers });
    expect(toolhost.runnerRequests).toEqual(['POST /v1/chat/completions', 'GET /v1/models']);
    expect((await ask('GET', '/v1/models')).status).toBe(401);
    for (const [method, path] of [
      ['POST', '/v1/models'],
      ['GET', '/v1/models/main'],
      ['GET', '/v1/chat/completions'],
    ] as const) {
      expect((await ask(method, path, '', { headers })).status).toBe(404);
    }
  });

  test('passes content on as it comes', async () => {
    const { headers } = turn();
    const bytes = randomBytes(900_000);
    const path = `/content/${hash(bytes)}`;
    expect((await ask('HEAD', path, '', { headers })).status).toBe(404);
    const slowly = new PassThrough();
    slowly.write(bytes.subarray(0, 500_000));
    setTimeout(() => slowly.end(bytes.subarray(500_000)), 50);
    expect((await ask('PUT', path, slowly, { headers })).status).toBe(204);
    expect(toolhost.contents.get(hash(bytes))?.equals(bytes)).toBe(true);
    expect((await ask('HEAD', path, '', { headers })).status).toBe(200);
    const fetched = await ask('GET', path, '', { headers });
    expect(fetched).toMatchObject({ status: 200, body: bytes.toString() });
  });

  test.each([
    ['GET', '/tool'],
    ['POST', '/tool/'],
    ['POST', '/tool?x'],
    ['POST', '/tool/../projects'],
    ['POST', '//tool'],
    ['POST', 'http://127.0.0.1/tool'],
    ['PUT', '/content/../tool'],
    ['PUT', `/content/${'A'.repeat(64)}`],
    ['DELETE', `/content/${'a'.repeat(64)}`],
    ['POST', '/projects/paper/turns/t/claim'],
    ['GET', '/metrics'],
    ['OPTIONS', '*'],
  ])('leads nowhere else: %s %s', async (method, path) => {
    const answer = await ask(method, path);
    expect(answer).toMatchObject({ status: 404, headers: { 'content-type': 'application/problem+json' } });
    expect(toolhost.runnerRequests).toEqual([]);
  });

  test('takes no CONNECT, no upgrade and nothing that is no HTTP', async () => {
    for (const [bytes, status] of [
      ['CONNECT 127.0.0.1:1 HTTP/1.1\r\n\r\n', '405'],
      ['hello\r\n\r\n', '400'],
      [`GET / HTTP/1.1\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`, '431'],
    ] as const) {
      const connection = connect(socket);
      connection.write(bytes);
      expect((await buffer(connection)).toString().split(' ')[1]).toBe(status);
    }
    const upgrade = { headers: { connection: 'upgrade', upgrade: 'websocket' } };
    expect((await ask('POST', '/tool', '', upgrade)).status).not.toBe(101);
  });

  test.each([
    ['malformed', 'hello\r\n\r\n'],
    ['closed', undefined],
  ])('an answer on its way arrives whole though its connection is %s', async (_what, more) => {
    const content = Buffer.alloc(5_000_000, 'x');
    const connection = connect(socket);
    connection.write(
      `GET /content/${toolhost.put(content)} HTTP/1.1\r\nauthorization: Bearer ${claim.toolToken}\r\n\r\n`,
    );
    const arriving = buffer(connection);
    await once(connection, 'data');
    if (more === undefined) connection.end();
    else connection.write(more);
    const [head = '', body = '', ...refusal] = (await arriving).toString().split(/\r\n\r\n|(?=HTTP\/1\.1 400)/);
    expect(head).toMatch(/^HTTP\/1\.1 200 /);
    expect(body).toHaveLength(content.length);
    expect(refusal.length > 0).toBe(more !== undefined);
  });

  test('bounds what passes, declared or not', async () => {
    const { headers } = turn();
    const tooMuch = Buffer.alloc(1_100_000);
    const path = `/content/${hash(tooMuch)}`;
    const declared = await ask('PUT', path, '', { headers: { ...headers, 'content-length': '1100000' } }).catch(
      (error: unknown) => error,
    );
    expect(declared).toMatchObject({ status: 413 });
    const endless = new PassThrough();
    endless.end(tooMuch);
    const answer = await ask('PUT', path, endless, { headers }).catch(() => ({ status: 413 }));
    expect(answer).toMatchObject({ status: 413 });
    expect(toolhost.contents.size).toBe(0);
  });

  test('holds no call that is longer than one that it completes, and passes it on as it comes', async () => {
    const { call, headers } = turn();
    const seen: number[] = [];
    await door.close();
    door = new Door({
      token: claim.toolToken,
      runnerUrl: toolhost.runnerUrl,
      exchange: connections.exchange,
      steps: { isOpen: false, pass: (_route, send) => send() },
      logger: silentLogger(),
      complete: (whole) => {
        seen.push(whole.length);
        return Promise.resolve(whole);
      },
    });
    await rm(socket, { force: true });
    await door.listen(socket);
    const long = call.replace('"a":1', `"a":"${'x'.repeat(100_000)}"`);
    for (const body of [call, long]) {
      const expected = {
        status: 200,
        body: `{"output":{"echo":${JSON.stringify((JSON.parse(body) as { input: unknown }).input)}}}`,
      };
      expect(await ask('POST', '/tool', body, { headers })).toMatchObject(expected);
      expect(await ask('POST', '/tool', Readable.from([body.slice(0, 50), body.slice(50)]), { headers })).toMatchObject(
        expected,
      );
    }
    expect(seen).toEqual([call.length, call.length]);
  });

  test('takes a few requests at a time, and none is lost', async () => {
    const { call, headers } = turn();
    let held = 0;
    toolhost.intercept = () => {
      held += 1;
      return 'hang';
    };
    const waiting = Array.from({ length: 4 }, () => ask('POST', '/tool', call, { headers }).catch(() => undefined));
    await until(() => held === 4, 'four requests');
    const refusal = await ask('POST', '/tool', call, { headers });
    expect(refusal).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(JSON.parse(refusal.body)).toMatchObject({ code: 'attempt-busy', retryable: true });
    await door.close();
    expect(await Promise.all(waiting)).toEqual([undefined, undefined, undefined, undefined]);
  });

  test('says that the ToolHost is away', async () => {
    const { call, headers } = turn();
    toolhost.intercept = () => 'cut';
    const answer = await ask('POST', '/tool', call, { headers });
    expect(answer.status).toBe(503);
    expect(JSON.parse(answer.body)).toMatchObject({ code: 'server-unreachable', retryable: true });
  });

  test('drops what nobody waits for any more', async () => {
    const { call, headers } = turn();
    let gone = false;
    toolhost.intercept = (incoming) => {
      incoming.socket.on('close', () => (gone = true));
      return 'hang';
    };
    const asking = request({ socketPath: socket, method: 'POST', path: '/tool', headers });
    asking.on('error', () => undefined);
    asking.end(call);
    await until(() => toolhost.runnerRequests.length === 1, 'the request');
    asking.destroy();
    await until(() => gone, 'the ToolHost to be left alone');
  });

  test('serves connections that come as frames', async () => {
    const { call, headers } = turn();
    const [there, back] = [new PassThrough(), new PassThrough()];
    const serving = new Multiplexer({ input: there, output: back, onStream: (stream) => door.serve(stream) });
    const asking = new Multiplexer({ input: back, output: there });
    const answers = await Promise.all(
      Array.from({ length: 3 }, () => ask('POST', '/tool', call, { headers, createConnection: () => asking.open() })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    asking.close();
    serving.close();
  });
});
