import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from '@jest/globals';
import type { Connector } from '../src/door/connector.js';
import { DoorClient } from '../src/door/door-client.js';
import { createDoorListener } from '../src/shim/door-listener.js';
import { ToolRoute } from '../src/shim/tool-route.js';

/** A door that refuses by the head of a request and closes; in a thread of its own, so that it is quicker than we are. */
const door = `
const { parentPort, workerData } = require('node:worker_threads');
const answer = 'HTTP/1.1 404 Not Found\\r\\ncontent-type: text/plain\\r\\ncontent-length: 4\\r\\nconnection: close\\r\\n\\r\\nnone';
require('node:net')
  .createServer((socket) => socket.once('data', () => socket.end(answer).destroySoon()))
  .listen(workerData, () => parentPort.postMessage('listening'));
`;

/** A connection of a process that was not let run between its first write and the next. */
class InterruptedSocket extends Socket {
  #written = false;

  override _write(chunk: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.#written) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    this.#written = true;
    super._write(chunk, encoding, done);
  }
}

/** A listener for runners, before the door that `open` leads to. */
async function listenerBefore(open: () => Socket) {
  const connector: Connector = { host: 'door', basePath: '', open, close: () => undefined };
  const client = new DoorClient(connector, { patienceMs: 100, log: () => undefined });
  const listener = createDoorListener(connector, new ToolRoute(client, { workspace: '/' }));
  await once(listener.listen(0, '127.0.0.1'), 'listening');
  return listener;
}

test.each(['GET', 'POST'])(
  'an answer to a %s without a body is not lost where the door closes first',
  async (method) => {
    const directory = await mkdtemp(join(tmpdir(), 'suzumio-door-'));
    const path = join(directory, 'door.sock');
    const other = new Worker(door, { eval: true, workerData: path });
    await once(other, 'message');
    const listener = await listenerBefore(() => new InterruptedSocket().connect(path));
    try {
      const { port } = listener.address() as AddressInfo;
      const response = await fetch(`http://127.0.0.1:${port}/elsewhere`, { method });
      expect([response.status, await response.text()]).toEqual([404, 'none']);
    } finally {
      listener.closeAllConnections();
      listener.close();
      await other.terminate();
      await rm(directory, { recursive: true });
    }
  },
);

describe('a client that closes its sending side', () => {
  /** More than the buffers of a connection hold. */
  const large = 'x'.repeat(20_000_000);

  test.each([
    ['before its answer has begun', (socket: Socket) => Promise.resolve(socket.end())],
    ['in the midst of its answer', (socket: Socket) => once(socket, 'readable').then(() => socket.end())],
  ])('%s gets all of it, and then the connection is closed', async (_when, end) => {
    const directory = await mkdtemp(join(tmpdir(), 'suzumio-door-'));
    const path = join(directory, 'door.sock');
    const answering = createServer((_request, response) => void setTimeout(() => response.end(large), 100));
    await once(answering.listen(path), 'listening');
    const listener = await listenerBefore(() => new Socket().connect(path));
    try {
      const { port } = listener.address() as AddressInfo;
      const socket = connect(port, '127.0.0.1');
      socket.write('GET /v1/models HTTP/1.1\r\nhost: localhost\r\n\r\n');
      await end(socket);
      const answer = await text(socket);
      expect(answer.slice(answer.indexOf('\r\n\r\n') + 4).length).toBe(large.length);
    } finally {
      listener.closeAllConnections();
      listener.close();
      answering.closeAllConnections();
      answering.close();
      await rm(directory, { recursive: true });
    }
  });
});
