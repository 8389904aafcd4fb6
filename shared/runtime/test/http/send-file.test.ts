import { createReadStream, type ReadStream } from 'node:fs';
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { sendFile } from '@suzumio/runtime/http/send-file';
import { eventually } from '../../../../test/support/poll.js';

/** More than the buffers of both ends of a connection take. */
const sizeBytes = 64 * 1024 ** 2;

let scratch: string;
let file: string;
let server: Server;
let client: Socket;
let response: ServerResponse;
beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'suzumio-send-file-'));
  file = join(scratch, 'file');
  await writeFile(file, '');
  await truncate(file, sizeBytes);
  server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const asked = once(server, 'request');
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.pause();
  client.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
  [, response] = (await asked) as [unknown, ServerResponse];
});
afterEach(async () => {
  client.destroy();
  server.close();
  await rm(scratch, { recursive: true });
});

async function isClosed(content: ReadStream): Promise<void> {
  await eventually('the file is closed', () => content.closed);
}

describe('a client that leaves is no failure, and no file stays open', () => {
  test('before the file is begun', async () => {
    client.destroy();
    await once(response, 'close');
    const content = createReadStream(file);
    await sendFile(response, content);
    await isClosed(content);
  });

  test('in the middle', async () => {
    const content = createReadStream(file);
    const sent = sendFile(response, content);
    client.resume();
    await once(client, 'data');
    client.resetAndDestroy();
    await sent;
    await isClosed(content);
    expect(content.bytesRead).toBeLessThan(sizeBytes);
  });
});

test('a file that cannot be read is a failure, and the answer is cut', async () => {
  response.setHeader('content-length', sizeBytes);
  await expect(sendFile(response, createReadStream(join(scratch, 'nothing')))).rejects.toMatchObject({
    code: 'ENOENT',
  });
  expect(response.destroyed).toBe(true);
});

test('what is sent is whole', async () => {
  const sent = sendFile(response, createReadStream(file, { end: 9 }));
  client.resume();
  const [head] = (await once(client, 'data')) as [Buffer];
  await sent;
  expect(head.toString()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(response.writableFinished).toBe(true);
});
