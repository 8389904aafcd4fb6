import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type HttpServer, startHttpServer } from '@suzumio/runtime/http/http-server';
import type { LastAnswersBounds } from '@suzumio/runtime/http/last-answers';
import { refuseUnreadable } from '@suzumio/runtime/http/unreadable-requests';
import { problem } from '@suzumio/protocol/problem';
import { eventually } from '../../../../test/support/poll.js';

/** More than the buffers of a connection hold. */
const large = 'x'.repeat(20_000_000);

let server: HttpServer;
beforeAll(async () => {
  server = await startHttpServer(
    (request, response) => {
      if (request.url?.startsWith('/told') === true) response.end(`${request.url} of ${String(request.headers.host)}`);
      else if (request.url === '/half') response.write('half of it');
      else if (request.url === '/large') response.end(large);
      else if (request.url === '/body') request.resume().once('end', () => response.end('never'));
      else if (request.url === '/late') setTimeout(() => response.end('late'), 100);
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
  ['a request with two hosts', 'GET / HTTP/1.1\r\nHost: localhost\r\nhost: b\r\n\r\n', 'invalid-request'],
  ['a target with a fragment', 'GET /told#half HTTP/1.1\r\nhost: localhost\r\n\r\n', 'invalid-request'],
  ['a question about the whole server', 'OPTIONS * HTTP/1.1\r\nhost: localhost\r\n\r\n', 'invalid-request'],
  ['an address with a password', 'GET http://a:b@localhost/ HTTP/1.1\r\nhost: localhost\r\n\r\n', 'invalid-request'],
  ['an address of another kind', 'GET ftp://localhost/ HTTP/1.1\r\nhost: localhost\r\n\r\n', 'invalid-request'],
  ['a tunnel', 'CONNECT evil.example:443 HTTP/1.1\r\nhost: localhost\r\n\r\n', 'method-not-allowed'],
  ['headers without end', `GET / HTTP/1.1\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`, 'headers-too-large'],
])('%s is refused with a problem document', async (_what, bytes, code) => {
  const [head = '', body = ''] = (await answersTo(bytes)).split('\r\n\r\n');
  const refused = problem.parse(JSON.parse(body));
  expect(refused.code).toBe(code);
  expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${String(refused.status)} `));
  expect(head).toContain('content-type: application/problem+json');
});

test.each([
  ['http://other.example:81/told?a=b', '/told?a=b of other.example:81'],
  ['HTTP://other.example/told', '/told of other.example'],
  ['/told', '/told of localhost'],
])('a request for %s is one for %s', async (target, told) => {
  const answer = await answersTo(`GET ${target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`);
  expect(answer.endsWith(told) || answer.includes(`\r\n${told}\r\n`)).toBe(true);
});

test('an expectation that nobody knows gets its answer all the same', async () => {
  const answer = await answersTo('GET / HTTP/1.1\r\nhost: localhost\r\nexpect: the worst\r\nconnection: close\r\n\r\n');
  expect(answer).toMatch(/^HTTP\/1\.1 200 .*hello/s);
});

test('a request without a host is left to those who look at hosts', async () => {
  expect(await answersTo('GET / HTTP/1.1\r\nconnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
});

test('an answer that is waited for is not listened to once more', async () => {
  let waiting: ServerResponse | undefined;
  const own = await startHttpServer((_request, response) => void (waiting = response), { host: '127.0.0.1', port: 0 });
  try {
    const socket = connect(own.port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await eventually('it is asked', () => waiting !== undefined);
    const before = waiting?.listenerCount('close');
    socket.end('rubbish\r\n\r\n');
    await eventually('the rest is refused', () => waiting?.req.socket.readableEnded === true);
    expect(waiting?.listenerCount('close')).toBe(before);
    waiting?.end('hello');
    expect(await text(socket)).toContain('hello');
  } finally {
    await own.stop();
  }
});

test('nothing is put into an answer that is on its way', async () => {
  const socket = connect(server.port, '127.0.0.1');
  socket.write('GET /half HTTP/1.1\r\nhost: localhost\r\n\r\n');
  const [first] = (await once(socket, 'data')) as [Buffer];
  expect(first.toString()).toContain('half of it');
  socket.end('rubbish\r\n\r\n');
  expect(await text(socket)).toBe('');
});

test.each([
  ['is large', ['/large'], large.length],
  ['is not there yet', ['/late'], 'late'.length],
  ['is not there yet, after one that is large', ['/large', '/late'], large.length + 'late'.length],
])('an answer that %s arrives whole, and the refusal of what followed after it', async (_what, paths, least) => {
  const asked = paths.map((path) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`).join('');
  const socket = connect(server.port, '127.0.0.1');
  socket.write(`${asked}rubbish\r\n\r\n`);
  const answer = await text(socket);
  expect(answer.length).toBeGreaterThan(least);
  expect(answer.split('HTTP/1.1 ').map((one) => one.slice(0, 3))).toEqual(['', ...paths.map(() => '200'), '400']);
});

test('a request whose body turns out to be no HTTP is refused, though somebody waits for the body', async () => {
  const answer = await answersTo(
    'POST /body HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nno length\r\n',
  );
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
});

/** What clients send, or do, while an answer is on its way to them. */
const interruptions: [what: string, interrupt: (socket: Socket) => void, then: string[]][] = [
  ['no HTTP', (socket) => socket.write('rubbish\r\n\r\n'), ['400']],
  ['an invalid header', (socket) => socket.write('GET / HTTP/1.1\r\nx: \x01\r\n\r\n'), ['400']],
  ['a tunnel', (socket) => socket.write('CONNECT evil.example:443 HTTP/1.1\r\n\r\n'), ['405']],
  ['another protocol', (socket) => socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), ['400']],
  ['their end', (socket) => socket.end(), []],
  ['another request and their end', (socket) => socket.end('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n'), ['200']],
  ['half a request and their end', (socket) => socket.end('GET / HT'), ['400']],
];

describe('while an answer is written', () => {
  const part = 'x'.repeat(1_000_000);

  /** A server on which each request is answered by hand. */
  async function opened(bounds?: LastAnswersBounds) {
    const responses: ServerResponse[] = [];
    const byHand = createServer();
    refuseUnreadable(byHand, bounds);
    byHand.on('request', (request, response) => {
      if (request.url === '/') response.end('hello');
      else responses.push(response);
      byHand.emit('asked');
    });
    await once(byHand.listen(0, '127.0.0.1'), 'listening');
    const socket = connect((byHand.address() as AddressInfo).port, '127.0.0.1');
    const received = text(socket);
    socket.write('GET /by-hand HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await once(byHand, 'asked');
    const [response] = responses as [ServerResponse];
    return {
      socket,
      response,
      received,
      /** Begins the answer, and comes back when it has arrived in part. */
      begin: async (contentType: string) => {
        response.setHeader('content-type', contentType);
        response.write(part);
        await once(socket, 'data');
      },
      close: () => {
        byHand.closeAllConnections();
        byHand.close();
      },
    };
  }

  /** When the server has read what was sent before. */
  const settled = () => new Promise((resolve) => setTimeout(resolve, 50));

  test.each(interruptions)('%s does not cut it off', async (_what, interrupt, then) => {
    const { socket, response, received, begin, close } = await opened();
    try {
      await begin('application/x-tar');
      interrupt(socket);
      await settled();
      for (let left = 4; left > 0; left -= 1) {
        if (!response.write(part)) await once(response, 'drain');
      }
      response.end();
      const [answer = '', ...others] = (await received).split('HTTP/1.1 ').slice(1);
      expect(answer.replaceAll(/[^x]/g, '').length).toBeGreaterThanOrEqual(5 * part.length);
      expect(answer.endsWith('\r\n0\r\n\r\n')).toBe(true);
      expect(others.map((one) => one.slice(0, 3))).toEqual(then);
    } finally {
      close();
    }
  });

  test.each(interruptions)('%s ends a stream of events', async (_what, interrupt) => {
    const { socket, response, received, begin, close } = await opened();
    try {
      await begin('text/event-stream; charset=utf-8');
      interrupt(socket);
      const closed = once(response, 'close');
      expect((await received).split('HTTP/1.1 ')).toHaveLength(2);
      await closed;
    } finally {
      close();
    }
  });

  test('a client that closes its end before it begins has left', async () => {
    const { socket, response, received, close } = await opened();
    try {
      socket.end();
      await once(response, 'close');
      expect(await received).toBe('');
    } finally {
      close();
    }
  });

  test.each(interruptions)('%s does not let a client hold the connection for ever', async (_what, interrupt) => {
    const { socket, response, received, begin, close } = await opened({ withinMs: 100 });
    try {
      await begin('application/x-tar');
      interrupt(socket);
      await once(response, 'close');
      expect(response.writableFinished).toBe(false);
      await received.catch(() => undefined);
    } finally {
      close();
    }
  });

  test('no end of rubbish is read', async () => {
    const { socket, response, received, begin, close } = await opened({ maxSurplusBytes: 1_000_000 });
    try {
      await begin('application/x-tar');
      socket.on('error', () => undefined);
      const more = () => socket.writable && socket.write(`rubbish\r\n${part}`, more);
      more();
      await once(response, 'close');
      expect(response.writableFinished).toBe(false);
      await received.catch(() => undefined);
    } finally {
      close();
    }
  });
});
