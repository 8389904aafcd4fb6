import { createServer, type Server, type ServerResponse } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { engineClient } from '../src/engine/docker/engine-client.js';

let directory: string;
let socketPath: string;
let engine: Server;
let answer: (response: ServerResponse) => void;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'suzumio-engine-'));
  socketPath = join(directory, 's');
  engine = createServer((_request, response) => answer(response));
  await new Promise<void>((resolve) => engine.listen(socketPath, resolve));
});

afterEach(async () => {
  engine.closeAllConnections();
  await new Promise((resolve) => engine.close(resolve));
  await rm(directory, { recursive: true });
});

const here = () => ({ kind: 'socket', path: socketPath, from: 'a test' }) as const;

/** What an engine that is killed leaves of an answer. */
function half(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"StatusCode":', () => response.destroy());
}

test('an answer of which only a part comes is a failure', async () => {
  answer = half;
  const docker = engineClient(here(), { timeoutMs: 60_000 });
  await expect(docker.version()).rejects.toThrow('aborted');
  await expect(docker.getContainer('one').wait()).rejects.toThrow('aborted');
});

test('an answer whose rest does not come in time is a failure', async () => {
  answer = (response) => {
    response.writeHead(200);
    response.flushHeaders();
  };
  const failure = (timeoutMs: number) =>
    engineClient(here(), { timeoutMs })
      .getContainer('one')
      .wait()
      .catch((error: unknown) => (error as Error).message);
  // On a busy machine the head itself may come later than that.
  const patience = [50, 1_000, 20_000];
  const failures: unknown[] = [];
  while (patience.length > 0 && !failures.includes('aborted')) failures.push(await failure(patience.shift() ?? 0));
  expect(failures).toContain('aborted');
});

test('a stream that breaks fails for its reader', async () => {
  answer = half;
  const events = await engineClient(here()).getEvents();
  const read = async () => {
    for await (const chunk of events as AsyncIterable<Buffer>) expect(chunk.toString()).toBe('{"StatusCode":');
  };
  await expect(read()).rejects.toThrow('aborted');
});

test('a whole answer is read, one after the other', async () => {
  answer = (response) => response.end('{"Version":"1"}');
  const docker = engineClient(here(), { timeoutMs: 60_000 });
  for (let i = 0; i < 3; i += 1) expect(await docker.version()).toEqual({ Version: '1' });
});
