import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type HttpServer, startHttpServer } from '@suzumio/runtime/http/http-server';

let server: HttpServer;
let handled: number;
beforeEach(async () => {
  handled = 0;
  const handler: Parameters<typeof startHttpServer>[0] = (_request, response) => {
    handled += 1;
    response.end('hello');
  };
  server = await startHttpServer(handler, { host: '127.0.0.1', port: 0 });
});
afterEach(() => server.stop());

const answersTo = (bytes: string): Promise<string> => {
  const socket = connect(server.port, '127.0.0.1');
  socket.end(bytes);
  return text(socket).catch(() => 'reset');
};
const request = 'GET / HTTP/1.1\r\nhost: localhost\r\n\r\n';

test('some requests of a connection are answered that come before the answers', async () => {
  expect((await answersTo(request.repeat(8))).match(/hello/g)).toHaveLength(8);
});

test('very many end their connection, and are not handed over', async () => {
  await Promise.all(Array.from({ length: 20 }, () => answersTo(request.repeat(5_000))));
  expect(handled).toBeLessThanOrEqual(20 * 8);
  expect(await answersTo(request)).toContain('hello');
});
