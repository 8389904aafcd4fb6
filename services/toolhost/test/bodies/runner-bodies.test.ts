import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import express, { type ErrorRequestHandler } from 'express';
import { eventually } from '../../../../test/support/poll.js';
import { closeOf } from '../../src/bodies/close-of.js';
import { RunnerBodies } from '../../src/bodies/runner-bodies.js';

const kib = 1024;
const longBytes = 200 * kib;
let server: Server;
const open: ClientRequest[] = [];
/** What a project's requests wait for once their bodies are there. */
let answers: Map<string, Promise<unknown>>;
/** The projects whose bodies are there. */
let received: string[];

beforeEach(async () => {
  // Room for two long bodies, and no more than one of a project.
  const bodies = new RunnerBodies({ totalBytes: 2 * longBytes, attemptBytes: longBytes });
  answers = new Map();
  received = [];
  const app = express().post('/:project', async (asked, response) => {
    const of = { project: asked.params.project, attempt: asked.params.project };
    const body = await bodies.receive(asked, of, longBytes, closeOf(response));
    received.push(asked.params.project);
    await answers.get(asked.params.project);
    response.json(body.length);
  });
  app.use(((error: { code: string }, _request, response, _next) => {
    response.status(400).json(error.code);
  }) satisfies ErrorRequestHandler);
  server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  for (const each of open.splice(0)) each.destroy();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

/** Announces a body of which nothing comes yet, and waits until the server knows. */
async function hold(project: string): Promise<void> {
  const arrived = once(server, 'request');
  announce(project, longBytes);
  await arrived;
}

function announce(project: string, bytes: number): ClientRequest {
  const { port } = server.address() as AddressInfo;
  const headers = { 'content-length': bytes };
  const asked = request({ host: '127.0.0.1', port, path: `/${project}`, method: 'POST', headers });
  asked.on('error', () => undefined).flushHeaders();
  open.push(asked);
  return asked;
}

async function send(project: string, bytes: number): Promise<number | undefined> {
  const asked = announce(project, bytes).end(Buffer.alloc(bytes));
  const [response] = (await once(asked, 'response')) as [{ statusCode?: number; resume(): void }];
  response.resume();
  return response.statusCode;
}

test('short bodies do not wait behind long ones that keep all the room', async () => {
  await hold('one');
  await hold('two');
  const third = announce('three', longBytes).end(Buffer.alloc(longBytes));
  let answered = false;
  third.on('response', () => (answered = true));
  expect(await send('three', 64 * kib)).toBe(200);
  expect(answered).toBe(false);
});

/** Sends a body that does not say how long it is. */
function stream(project: string, bytes: number): ClientRequest {
  const { port } = server.address() as AddressInfo;
  const asked = request({ host: '127.0.0.1', port, path: `/${project}`, method: 'POST' });
  asked.on('error', () => undefined);
  if (bytes > 0) asked.write(Buffer.alloc(bytes));
  else asked.flushHeaders();
  open.push(asked);
  return asked;
}

async function answerTo(asked: ClientRequest): Promise<unknown> {
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  return json(response);
}

describe('a body that does not say how long it is', () => {
  test('takes no room of long ones while it is short', async () => {
    for (const project of ['one', 'two']) {
      const arrived = once(server, 'request');
      stream(project, 10);
      await arrived;
    }
    expect(await send('one', longBytes)).toBe(200);
    expect(await answerTo(stream('two', 10).end(Buffer.alloc(20)))).toBe(30);
  });

  test('is taken whole where it turns out long, and waits for room before that', async () => {
    await hold('one');
    await hold('two');
    const long = stream('three', 70 * kib);
    let answered = false;
    long.on('response', () => (answered = true));
    long.end(Buffer.alloc(20 * kib));
    expect(await send('three', kib)).toBe(200);
    expect(answered).toBe(false);
    open[0]?.destroy();
    expect(await answerTo(long)).toBe(90 * kib);
  });

  test('keeps the room of what has come, and no more', async () => {
    const answer = Promise.withResolvers<undefined>();
    answers.set('one', answer.promise);
    const asked = stream('one', 70 * kib).end();
    await eventually('it has come', () => received.includes('one'));
    await hold('two');
    expect(await send('three', 100 * kib)).toBe(200);
    answer.resolve(undefined);
    expect(await answerTo(asked)).toBe(70 * kib);
  });

  test('is refused where it is longer than it may be', async () => {
    expect(await answerTo(stream('one', longBytes + 1).end())).toBe('body-too-large');
  });
});

test('a project that keeps its half of the room keeps no other from the rest', async () => {
  await hold('one');
  await hold('one');
  expect(await send('two', longBytes)).toBe(200);
});
