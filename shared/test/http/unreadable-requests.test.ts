import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type HttpServer, startHttpServer } from '@suzumio/shared/http/http-server';
import { problem } from '@suzumio/shared/protocol/problem';

let server: HttpServer;
beforeAll(async () => {
  server = await startHttpServer(
    (request, response) => {
      if (request.url === '/half') response.write('half of it');
      else response.end('hello');
    },
    { host: '127.0.0.1', port: 0 },
  );
});
afterAll(() => server.stop());

/** Everything that is answered to some bytes, until the connection is closed. */
function answersTo(bytes: string): Promise<string> {
  const socket = connect(server.port, '127.0.0.1');
  socket.end(bytes);
  return text(socket);
}

test.each([
  ['no HTTP at all', 'hello\r\n\r\n', 'invalid-request'],
  ['half a request', 'P', 'invalid-request'],
  ['a header with a control character', 'GET / HTTP/1.1\r\nhost: localhost\r\nx: \x01\r\n\r\n', 'invalid-request'],
  ['a body of two lengths', 'POST / HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n', 'invalid-request'],
  ['headers without end', `GET / HTTP/1.1\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`, 'headers-too-large'],
])('%s is refused with a problem document', async (_what, bytes, code) => {
  const [head = '', body = ''] = (await answersTo(bytes)).split('\r\n\r\n');
  const refused = problem.parse(JSON.parse(body));
  expect(refused.code).toBe(code);
  expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${String(refused.status)} `));
  expect(head).toContain('content-type: application/problem+json');
});

test('an expectation that nobody knows gets its answer all the same', async () => {
  const answer = await answersTo('GET / HTTP/1.1\r\nhost: localhost\r\nexpect: the worst\r\nconnection: close\r\n\r\n');
  expect(answer).toMatch(/^HTTP\/1\.1 200 .*hello/s);
});

test('a request without a host is left to those who look at hosts', async () => {
  expect(await answersTo('GET / HTTP/1.1\r\nconnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
});

test('nothing is put into an answer that is on its way', async () => {
  const socket = connect(server.port, '127.0.0.1');
  socket.write('GET /half HTTP/1.1\r\nhost: localhost\r\n\r\n');
  const [first] = (await once(socket, 'data')) as [Buffer];
  expect(first.toString()).toContain('half of it');
  socket.end('rubbish\r\n\r\n');
  expect(await text(socket)).toBe('');
});
