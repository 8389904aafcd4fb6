import { Agent, get as httpGet } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { type HttpServer, startHttpServer } from '@suzumio/runtime/http/http-server';
import type { BodyPace } from '@suzumio/runtime/http/slow-bodies';
import { gate } from '../queue/jobs.js';
import { eventually } from '../../../../test/support/poll.js';
import { rawSocket } from '../../../../test/support/raw-socket.js';

let server: HttpServer | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

const local = { host: '127.0.0.1', port: 0 };
/** Its bound comes after every test's: a stop that has to wait for it fails its test. */
const patient = { ...local, stopWithinMs: 600_000 };

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
    message: `Cannot listen on 127.0.0.1:${first.port}: the address is in use (EADDRINUSE).`,
    details: { next: 'stop what listens there, or choose another port' },
  });
});

test('an answer in flight finishes, then idle connections are closed and no new ones are taken', async () => {
  const started = gate();
  const go = gate();
  const started2 = await startHttpServer((_request, response) => {
    started.open();
    go.opened.then(() => response.end('finished')).catch(() => response.destroy());
  }, patient);
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
  await stopped;
  agent.destroy();
});

test('an answer that never ends is cut when the bound is reached', async () => {
  // Nothing else would end it.
  const endless = await startHttpServer((_request, response) => void response.write('and so on'), {
    ...local,
    stopWithinMs: 100,
  });
  const response = await fetch(endless.url);
  await endless.stop();
  await expect(response.text()).rejects.toThrow();
});

test('an idle kept-alive connection does not hold up the stop', async () => {
  const idle = await startHttpServer((_request, response) => response.end('hello'), patient);
  await (await fetch(idle.url)).text();
  await idle.stop();
  await idle.stop();
});

describe('a body', () => {
  /** Takes whole bodies, and counts those that did not arrive. */
  const receiving = async (bodyPace: BodyPace) => {
    const seen = { whole: 0, cut: 0 };
    server = await startHttpServer(
      (request, response) => {
        request.resume();
        request.once('end', () => {
          seen.whole += 1;
          response.end('whole');
        });
        request.once('aborted', () => (seen.cut += 1));
        request.on('error', () => undefined);
      },
      { ...local, bodyPace },
    );
    return { port: server.port, seen };
  };
  const begin = (port: number, sizeBytes: number) => {
    const socket = rawSocket(port);
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${sizeBytes}\r\n\r\n`);
    return socket;
  };

  test('that arrives a byte at a time is cut off, with a problem document', async () => {
    const { port, seen } = await receiving({ graceMs: 300 });
    const socket = begin(port, 9_000);
    socket.repeat('x', 20);
    const answer = await socket.received();
    expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(answer).toMatch(/content-type: application\/problem\+json/i);
    expect(answer).toContain('"code":"request-too-slow"');
    await eventually('the handler knows', () => seen.cut === 1);
  });

  test('of many pieces without a length is no way around that', async () => {
    const { port } = await receiving({ graceMs: 300 });
    const socket = rawSocket(port);
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
    socket.repeat('1\r\nx\r\n', 20);
    expect(await socket.received()).toMatch(/^HTTP\/1\.1 408 /);
  });

  test('that stands still after a head start is cut off as soon as any other', async () => {
    const { port } = await receiving({ graceMs: 300 });
    const socket = begin(port, 20_000_000);
    // At the pace that is asked for, so much takes 40 minutes.
    socket.write('x'.repeat(10_000_000));
    expect(await socket.received()).toMatch(/^HTTP\/1\.1 408 /);
  });

  test('that keeps up its pace takes as long as it likes', async () => {
    const { port, seen } = await receiving({ graceMs: 500, bytesPerSecond: 1_000 });
    const started = performance.now();
    const socket = begin(port, 12_000);
    socket.repeat('x'.repeat(300), 100);
    expect(await socket.received()).toMatch(/^HTTP\/1\.1 200 /);
    expect(performance.now() - started).toBeGreaterThan(1_500);
    expect(seen).toEqual({ whole: 1, cut: 0 });
  });

  test('that we do not read ourselves is not held against its sender', async () => {
    const go = gate();
    server = await startHttpServer(
      (request, response) => {
        go.opened.then(() => request.resume().once('end', () => response.end('whole'))).catch(() => response.destroy());
      },
      { ...local, bodyPace: { graceMs: 200 } },
    );
    const socket = begin(server.port, 3_000_000);
    socket.write('x'.repeat(3_000_000));
    await delay(1_000);
    go.open();
    expect(await socket.received()).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('that goes on after its request was answered is not listened to for ever', async () => {
    server = await startHttpServer((_request, response) => response.end('no'), {
      ...local,
      bodyPace: { graceMs: 300 },
    });
    const socket = begin(server.port, 900_000_000);
    socket.repeat('x'.repeat(10_000), 20);
    expect(await socket.received()).toMatch(/^HTTP\/1\.1 200 /);
  });
});

test('headers that arrive a byte at a time are cut off', async () => {
  const { port } = (server = await startHttpServer((_request, response) => response.end(), local));
  const socket = rawSocket(port);
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nX: ');
  socket.repeat('x', 100);
  expect(await socket.received()).toMatch(/^HTTP\/1\.1 408 /);
});
