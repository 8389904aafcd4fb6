import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { writeInTurn } from '../../src/http/write-in-turn.js';

let server: Server | undefined;
afterEach(() => new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined))));

/** What `write` leaves on an answer that a client reads. */
async function answered(
  write: (piece: (length: number) => Promise<void>) => Promise<void>,
  read: (answer: IncomingMessage) => void,
): Promise<{ before: object; after: object }> {
  const made = createServer();
  server = made;
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
  const left = once(made, 'request').then(async (of) => {
    const response = of[1] as ServerResponse;
    const listening = () => ({ close: response.listenerCount('close'), drain: response.listenerCount('drain') });
    const before = listening();
    await write((length) => writeInTurn(response, 'x'.repeat(length)));
    const after = listening();
    response.end();
    return { before, after };
  });
  const { port } = made.address() as AddressInfo;
  const asked = request({ port, host: '127.0.0.1', agent: false }, read).on('error', () => undefined);
  const closed = new Promise((resolve) => asked.once('close', resolve));
  asked.end();
  const found = await left;
  // The last bytes may still be on their way.
  await closed;
  return found;
}

test('a long answer waits for its reader, and leaves nothing on its response', async () => {
  let received = 0;
  const { before, after } = await answered(
    async (write) => {
      for (let piece = 0; piece < 100; piece += 1) await write(200_000);
    },
    (answer) => answer.on('data', (chunk: Buffer) => (received += chunk.length)),
  );
  expect(after).toEqual(before);
  expect(received).toBeGreaterThan(0);
});

test('a reader that leaves keeps nobody waiting', async () => {
  const { after } = await answered(
    async (write) => {
      for (let piece = 0; piece < 100; piece += 1) await write(1_000_000);
    },
    (answer) => answer.destroy(),
  );
  expect(after).toMatchObject({ drain: 0 });
});
