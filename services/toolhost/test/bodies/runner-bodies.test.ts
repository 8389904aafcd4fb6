import { once } from 'node:events';
import type { ClientRequest } from 'node:http';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import express from 'express';
import { closeOf } from '../../src/bodies/close-of.js';
import { RunnerBodies } from '../../src/bodies/runner-bodies.js';

const kib = 1024;
const longBytes = 100 * kib;
let server: Server;
const open: ClientRequest[] = [];

beforeEach(async () => {
  // Room for two long bodies, and no more than one of a project.
  const bodies = new RunnerBodies({ totalBytes: 2 * longBytes, attemptBytes: longBytes });
  const app = express().post('/:project', async (asked, response) => {
    const of = { project: asked.params.project, attempt: asked.params.project };
    const body = await bodies.receive(asked, of, longBytes, closeOf(response));
    response.json(body.length);
  });
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

test('a project that keeps its half of the room keeps no other from the rest', async () => {
  await hold('one');
  await hold('one');
  expect(await send('two', longBytes)).toBe(200);
});
