import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import { buffer, text } from 'node:stream/consumers';
import { type Duplex, PassThrough } from 'node:stream';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Multiplexer } from '@suzumio/protocol/stdio-frames';
import { encodeFrame, frameTypes } from '@suzumio/protocol/stdio-frame-codec';
import fc, { caseCount } from '../../../test/support/fast-check.js';

const open: Multiplexer[] = [];
afterEach(() => {
  for (const multiplexer of open.splice(0)) multiplexer.close();
});

function own(multiplexer: Multiplexer): Multiplexer {
  open.push(multiplexer);
  return multiplexer;
}

/** The pipes of a container: what the worker writes to stdin and reads from stdout. */
function pipes(): { stdin: PassThrough; stdout: PassThrough } {
  return { stdin: new PassThrough(), stdout: new PassThrough() };
}

function client({ stdin, stdout }: ReturnType<typeof pipes>, silenceMs = 10_000): Multiplexer {
  return own(new Multiplexer({ input: stdin, output: stdout, silenceMs }));
}

function serve(
  { stdin, stdout }: ReturnType<typeof pipes>,
  onStream: (stream: Duplex) => void,
  aliveEveryMs = 1000,
): Multiplexer {
  return own(new Multiplexer({ input: stdout, output: stdin, onStream, aliveEveryMs }));
}

function httpHandler(server: Server): (stream: Duplex) => void {
  return (stream) => server.emit('connection', stream);
}

/** An echo of the body, upper-cased path first. */
function echo(): Server {
  return createServer((incoming, response) => {
    response.write(`${incoming.url ?? ''}\n`);
    incoming.pipe(response);
  });
}

async function post(multiplexer: Multiplexer, path: string, body: Buffer): Promise<Buffer> {
  const outgoing = request({ method: 'POST', path, host: 'door', createConnection: () => multiplexer.open() });
  outgoing.end(body);
  const [response] = (await once(outgoing, 'response')) as [NodeJS.ReadableStream];
  return buffer(response);
}

describe('a multiplexer', () => {
  test('carries many HTTP requests with large bodies at a time', async () => {
    const both = pipes();
    serve(both, httpHandler(echo()));
    const container = client(both);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => post(container, `/${index}`, Buffer.alloc(700_000, index))),
    );
    for (const [index, answer] of answers.entries()) {
      expect(answer.equals(Buffer.concat([Buffer.from(`/${index}\n`), Buffer.alloc(700_000, index)]))).toBe(true);
    }
  });

  test('keeps each stream whole and in order, whatever the sizes', async () => {
    const writes = fc.array(fc.array(fc.integer({ min: 0, max: 70_000 }), { maxLength: 12 }), {
      minLength: 1,
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(writes, async (streams) => {
        const both = pipes();
        const arrived: Promise<Buffer>[] = [];
        const server = serve(both, (stream) => {
          arrived.push(buffer(stream));
          stream.end();
        });
        const container = client(both);
        for (const [index, sizes] of streams.entries()) {
          const stream = container.open();
          stream.resume();
          stream.write(Buffer.from([index]));
          for (const size of sizes) stream.write(Buffer.alloc(size, size % 251));
          stream.end();
        }
        while (arrived.length < streams.length) await new Promise(setImmediate);
        for (const bytes of await Promise.all(arrived)) {
          const sizes = streams[bytes[0] ?? -1] ?? [];
          expect(bytes.subarray(1).equals(Buffer.concat(sizes.map((size) => Buffer.alloc(size, size % 251))))).toBe(
            true,
          );
        }
        server.close();
        container.close();
      }),
      { numRuns: caseCount(25) },
    );
  });

  test('holds back a sender whose reader is slow, and nobody else', async () => {
    const both = pipes();
    const streams: Duplex[] = [];
    serve(both, (stream) => streams.push(stream));
    const container = client(both);
    const slow = container.open();
    let accepted = 0;
    for (let index = 0; index < 100; index += 1) slow.write(Buffer.alloc(50_000), () => (accepted += 50_000));
    const quick = container.open();
    quick.end('hello');
    while (streams.length < 2) await new Promise(setImmediate);
    expect(await text(streams[1] as Duplex)).toBe('hello');
    expect(accepted).toBeLessThan(600_000);
    expect(streams[0]?.readableLength).toBeLessThan(600_000);
    const rest = buffer(streams[0] as Duplex);
    slow.end();
    expect((await rest).length).toBe(5_000_000);
  });

  test('fails what is open when another worker attaches, even in the middle of a frame, and goes on with it', async () => {
    const both = pipes();
    const silent: Duplex[] = [];
    const first = serve(both, (stream) => silent.push(stream));
    const container = client(both);
    const lost = post(container, '/lost', Buffer.from('x'));
    const failed = expect(lost).rejects.toThrow('taken over');
    while (silent.length === 0) await new Promise(setImmediate);
    first.close();
    both.stdin.write(
      encodeFrame({ type: frameTypes.data, stream: 1, number: 1, payload: Buffer.alloc(9000, 1) }).subarray(0, 4000),
    );

    serve(both, httpHandler(echo()));
    await failed;
    expect(String(await post(container, '/again', Buffer.from('y')))).toBe('/again\ny');
  });

  test('fails a connection of which the other side says nothing', async () => {
    await expect(post(client(pipes(), 40), '/', Buffer.from('x'))).rejects.toThrow('does not answer');
  });

  test('keeps a connection whose answer takes long', async () => {
    const both = pipes();
    const waiting: Duplex[] = [];
    serve(both, (stream) => waiting.push(stream), 20);
    const stream = client(both, 200).open();
    const answer = text(stream);
    while (waiting.length === 0) await new Promise(setImmediate);
    await new Promise((resolve) => setTimeout(resolve, 600));
    waiting[0]?.end('at last');
    expect(await answer).toBe('at last');
  });

  test('takes no connection for silent because this process stood still', async () => {
    const both = pipes();
    const waiting: Duplex[] = [];
    // Made first, so that its timer comes before the other side's when both are late.
    const container = client(both, 200);
    serve(both, (stream) => waiting.push(stream), 50);
    const answer = text(container.open());
    while (waiting.length === 0) await new Promise(setImmediate);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    await new Promise((resolve) => setTimeout(resolve, 50));
    waiting[0]?.end('at last');
    expect(await answer).toBe('at last');
  });

  test('fails every connection when the pipes end, and new ones at once', async () => {
    const both = pipes();
    const container = client(both);
    const failed = expect(post(container, '/', Buffer.from('x'))).rejects.toThrow('ended');
    both.stdin.end();
    await failed;
    await expect(post(container, '/', Buffer.from('x'))).rejects.toThrow('ended');
  });

  test('fails a connection of which a part was lost', async () => {
    const both = pipes();
    const streams: Duplex[] = [];
    serve(both, (stream) => streams.push(stream));
    const frame = (type: 2 | 4, number: number) => encodeFrame({ type, stream: 5, number, payload: Buffer.from('a') });
    both.stdout.write(Buffer.concat([frame(frameTypes.open, 0), frame(frameTypes.data, 1), frame(frameTypes.data, 3)]));
    while (streams.length === 0) await new Promise(setImmediate);
    await expect(text(streams[0] as Duplex)).rejects.toThrow('lost');
  });

  test('ends a stream whose sender takes no notice of its credit', async () => {
    const both = pipes();
    const streams: Duplex[] = [];
    serve(both, (stream) => streams.push(stream));
    both.stdout.write(encodeFrame({ type: frameTypes.open, stream: 1, number: 0, payload: Buffer.alloc(0) }));
    for (let number = 1; number <= 40; number += 1) {
      both.stdout.write(encodeFrame({ type: frameTypes.data, stream: 1, number, payload: Buffer.alloc(16_384, 1) }));
    }
    while (streams[0]?.destroyed !== true) await new Promise(setImmediate);
    expect(streams[0].errored?.message).toMatch('more than it may');
  });

  test('serves a bounded number of streams, and closes on a peer that provokes answers and reads none', async () => {
    const both = pipes();
    const streams: Duplex[] = [];
    const server = serve(both, (stream) => streams.push(stream));
    for (let stream = 1; stream <= 100_000; stream += 1) {
      both.stdout.write(encodeFrame({ type: frameTypes.open, stream, number: 0, payload: Buffer.alloc(0) }));
    }
    while (streams.length === 0 || streams.some((stream) => !stream.destroyed)) await new Promise(setImmediate);
    expect(streams.length).toBe(64);
    expect(both.stdin.readableLength + both.stdin.writableLength).toBeLessThan(1_300_000);
    expect(server.open().destroyed).toBe(true);
  });
});
