import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { HttpUnavailable } from '@suzumio/protocol/http-failures';
import { type KeptConnections, keepConnections } from '../src/toolhost/kept-connections.js';

let server: Server;
let url: string;
let connections: KeptConnections;
let answer: (request: IncomingMessage, response: ServerResponse) => unknown;
beforeEach(async () => {
  server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  connections = keepConnections(url);
});
afterEach(() => {
  connections.close();
  server.closeAllConnections();
  server.close();
});

const put = (more: Partial<Parameters<KeptConnections['exchange']>[0]>) =>
  connections.exchange({ method: 'PUT', url, headers: {}, body: undefined, ...more });

async function* failing(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('some');
  await Promise.resolve();
  throw new RangeError('too long');
}

test('one connection carries one request after the other', async () => {
  const ports = new Set<number | undefined>();
  answer = (request, response) => response.end(void ports.add(request.socket.remotePort));
  for (let round = 0; round < 3; round += 1) await text((await put({})).body as AsyncIterable<Buffer>);
  expect(ports.size).toBe(1);
});

test('a stream of known length is sent with it', async () => {
  answer = async (request, response) =>
    response.end(`${String(request.headers['content-length'])} ${await text(request)}`);
  const stream = async function* () {
    yield await Promise.resolve(Buffer.from('hello'));
  };
  const { body } = await put({ body: { stream, sizeBytes: 5 } });
  await expect(text(body as AsyncIterable<Buffer>)).resolves.toBe('5 hello');
});

test('a body that cannot be read is told apart from a connection that fails', async () => {
  answer = (request) => request.resume();
  await expect(put({ body: { stream: failing } })).rejects.toThrow(new RangeError('too long'));
  answer = (request) => request.socket.destroy();
  await expect(put({})).rejects.toBeInstanceOf(HttpUnavailable);
  await expect(put({ url: url.replace(/\d+$/, '9') })).rejects.toBeInstanceOf(HttpUnavailable);
});

test('a time in which nothing moves is bounded', async () => {
  answer = () => undefined;
  await expect(put({ timeoutMs: 30 })).rejects.toThrow('nothing moved for 30 ms');
});

test('however many requests wait for their answers, the next one is sent', async () => {
  // As the doors of one project may: each has a bound of its own.
  const held: ServerResponse[] = [];
  let allHeld = (): void => undefined;
  const are = new Promise<void>((resolve) => (allHeld = resolve));
  const many = 20 * 16;
  answer = (request, response) => {
    if (request.url === '/of-another') response.end('answered');
    else if (held.push(response) === many) allHeld();
  };
  const waiting = Array.from({ length: many }, () => put({}));
  await are;
  const { body } = await put({ url: `${url}/of-another` });
  await expect(text(body as AsyncIterable<Buffer>)).resolves.toBe('answered');
  for (const response of held) response.end();
  for (const { discard } of await Promise.all(waiting)) discard();
});
