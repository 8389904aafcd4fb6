import { once } from 'node:events';
import { Agent, get as httpGet } from 'node:http';
import { connect } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { type HttpServer, startHttpServer } from '@suzumio/shared/http/http-server';
import { gate } from '../queue/jobs.js';

let server: HttpServer | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

const local = { host: '127.0.0.1', port: 0 };
const elapsed = async (run: () => Promise<unknown>) => {
  const start = performance.now();
  await run();
  return performance.now() - start;
};

test('it listens on a free port and says which', async () => {
  server = await startHttpServer((_request, response) => response.end('hello'), local);
  expect(server.port).toBeGreaterThan(0);
  expect(await (await fetch(server.url)).text()).toBe('hello');
});

test('a port in use is named', async () => {
  const first = await startHttpServer((_request, response) => response.end(), local);
  server = first;
  await expect(startHttpServer(() => undefined, { ...local, port: first.port })).rejects.toMatchObject({
    code: 'settings-invalid',
    message: expect.stringContaining(`127.0.0.1:${first.port}`),
  });
});

test('an answer in flight finishes, then idle connections are closed and no new ones are taken', async () => {
  const started = gate();
  const go = gate();
  const started2 = await startHttpServer((_request, response) => {
    started.open();
    go.opened.then(() => response.end('finished')).catch(() => response.destroy());
  }, local);
  server = started2;
  const agent = new Agent({ keepAlive: true });
  const answer = new Promise<string>((resolve, reject) => {
    httpGet(started2.url, { agent }, (response) => {
      response.setEncoding('utf8').once('data', resolve);
    }).once('error', reject);
  });
  await started.opened;
  const stopped = started2.stop();
  await expect(fetch(started2.url)).rejects.toThrow();
  go.open();
  expect(await answer).toBe('finished');
  expect(await elapsed(() => stopped)).toBeLessThan(2_000);
  agent.destroy();
});

test('an answer that never ends is cut when the bound is reached', async () => {
  const endless = await startHttpServer((_request, response) => void response.write('and so on'), {
    ...local,
    stopWithinMs: 100,
  });
  const response = await fetch(endless.url);
  expect(await elapsed(() => endless.stop())).toBeLessThan(2_000);
  await expect(response.text()).rejects.toThrow();
});

test('an idle kept-alive connection does not hold up the stop', async () => {
  const idle = await startHttpServer((_request, response) => response.end('hello'), local);
  await (await fetch(idle.url)).text();
  expect(await elapsed(() => idle.stop())).toBeLessThan(2_000);
  await idle.stop();
});

test('a body that arrives a byte at a time is cut off', async () => {
  const slow = await startHttpServer((request, response) => void request.resume().once('end', () => response.end()), {
    ...local,
    requestTimeoutMs: 300,
  });
  server = slow;
  const socket = connect(slow.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n');
  const drip = setInterval(() => socket.write('x'), 50);
  socket.on('error', () => undefined);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  clearInterval(drip);
  expect(answer.toString()).toContain('408 Request Timeout');
  socket.destroy();
});
