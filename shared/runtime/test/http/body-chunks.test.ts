import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from '../../../../test/support/poll.js';
import { rawSocket } from '../../../../test/support/raw-socket.js';
import { BodyChunks } from '../../src/http/body-chunks.js';
import { refuseUnreadable } from '../../src/http/unreadable-requests.js';

const mostInTurn = 256;
const mostShort = 2_048;
const readBytes = 64 * 1024;

let server: Server;
let url: string;
/** What was taken of bodies. */
let bytes: number;
/** The most chunks of one connection in one turn of the loop. */
let worst: number;
beforeEach(async () => {
  [bytes, worst] = [0, 0];
  const bodyChunks = new BodyChunks();
  server = createServer((request, response) => {
    bodyChunks.watch(request);
    if (request.url === '/early') {
      response.end('early');
      return;
    }
    const push = request.push.bind(request);
    let inTurn = 0;
    request.push = (chunk: unknown, encoding) => {
      if (inTurn === 0) setImmediate(() => (inTurn = 0));
      inTurn += 1;
      worst = Math.max(worst, inTurn);
      return push(chunk, encoding);
    };
    request.on('data', (data: Buffer) => (bytes += data.length));
    request.on('end', () => response.end(String(bytes)));
  });
  refuseUnreadable(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const begin = 'POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n';
const end = '0\r\n\r\n';
const of = (size: number, count: number) => `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`.repeat(count);

async function sent(body: string): Promise<string> {
  const socket = rawSocket(url);
  socket.write(begin + body);
  return socket.received();
}

describe('a body', () => {
  test.each([
    ['of 100,000 chunks of one byte', of(1, 100_000), 1],
    ['of a long chunk and then of one byte each', of(10_000, 1) + of(1, 100_000), 1],
    ['of chunks of 8 bytes', of(8, 100_000), 8],
  ])('%s is refused in words', async (_what, body, size) => {
    const answer = await sent(body);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('too many short chunks: send longer ones, or give its length in Content-Length');
    // Of what is read at once, as many are taken as of any length, and the connection is not read on.
    expect(bytes).toBeLessThanOrEqual(10_000 + size * (mostShort + 1));
    expect(worst).toBeLessThanOrEqual(mostInTurn + readBytes / (size + 5) + 1);
  });

  test.each([16, 100, 1_000, 20_000])('of chunks of %i bytes arrives whole, a few reads in each turn', async (size) => {
    const count = Math.ceil(4_000_000 / size);
    expect(await sent(of(size, count) + end)).toMatch(new RegExp(`\r\n${String(size * count)}$`));
    expect(worst).toBeLessThanOrEqual(mostInTurn + Math.ceil(readBytes / (size + 4)));
  });

  test('of as many short chunks as may come at once arrives whole', async () => {
    expect(await sent(of(1, mostShort) + end)).toMatch(/\r\n2048$/);
  });

  test('of more of them that come little by little arrives whole', async () => {
    const socket = rawSocket(url);
    socket.write(begin);
    for (let round = 1; round <= 10; round += 1) {
      socket.write(of(1, 1_000));
      await eventually('they have come', () => bytes === 1_000 * round);
    }
    socket.write(end);
    expect(await socket.received()).toMatch(/\r\n10000$/);
  });
});

test('chunks that nobody reads any more, because the answer is sent, end the connection like others', async () => {
  const socket = rawSocket(url);
  socket.write('POST /early HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n');
  await eventually('it is answered', () => socket.soFar().includes('early'));
  socket.write(of(1, 100_000));
  expect(await socket.received()).toContain('too many short chunks');
});

test('a body that nobody reads, because the answer is sent, leaves the connection to the next request', async () => {
  const socket = rawSocket(url);
  socket.write('POST /early HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n');
  await eventually('it is answered', () => socket.soFar().includes('early'));
  socket.write(of(100, 40_000) + end + begin + of(5, 1) + end);
  expect(await socket.received()).toMatch(/\r\n5$/);
});

test('one connection does not pay for another', async () => {
  const answers = await Promise.all([sent(of(1, 100_000)), sent(of(100, 10) + end), sent(of(1, 100_000))]);
  expect(answers.map((answer) => answer.slice(9, 12))).toEqual(['400', '200', '400']);
});
