import { mkdtemp, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { chatPath, stepHeader } from '@suzumio/protocol/model-chat';
import { silentLogger } from '@suzumio/runtime/observability/logger';
import { Door } from '../src/door/door.js';
import { SandboxSteps } from '../src/door/sandbox-steps.js';
import type { StreamedBody } from '../src/toolhost/kept-connections.js';
import { eventually } from '../../../test/support/poll.js';

let directory: string;
let door: Door;
/** What has come to the ToolHost: the route, and the body. */
let arrived: { route: string; body: string }[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'suzumio-door-'));
  arrived = [];
  door = new Door({
    token: 'secret',
    runnerUrl: 'http://toolhost',
    async exchange({ url, body }) {
      const sent = Buffer.isBuffer(body) ? body : await buffer(Readable.from((body as StreamedBody).stream()));
      arrived.push({ route: url.slice('http://toolhost'.length), body: sent.toString() });
      const { step } = JSON.parse(new TextDecoder().decode(sent)) as { step?: string };
      return {
        status: 200,
        header: (name) => (name === stepHeader ? step : undefined),
        body: Readable.from([Buffer.from('{}')]),
        discard: () => undefined,
      };
    },
    steps: new SandboxSteps({ capture: () => Promise.resolve(undefined), mark: () => Promise.resolve() }),
    logger: silentLogger(),
  });
  await door.listen(join(directory, 'door.sock'));
});
afterEach(async () => {
  await door.close();
  await rm(directory, { recursive: true });
});

function ask(path: string, body: object | string, headers: Record<string, string> = {}): Promise<number> {
  const text = textOf(body);
  return new Promise((resolve, reject) => {
    const asking = request(
      {
        socketPath: join(directory, 'door.sock'),
        method: 'POST',
        path,
        headers: { authorization: 'Bearer secret', 'content-length': Buffer.byteLength(text), ...headers },
      },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      },
    );
    asking.on('error', reject);
    asking.end(text);
  });
}

const textOf = (body: object | string) => (typeof body === 'string' ? body : JSON.stringify(body));

describe('what a program in the sandbox asks itself, while its step is open,', () => {
  beforeEach(() => ask('/tool/begin', { step: '0.0' }));

  test.each<[string, string, object]>([
    ['a call without a step', '/tool', { tool: 'messages.send' }],
    ['a call with its number', '/tool', { tool: 'messages.send', step: 'seq.1' }],
    ['a long call', '/tool', { tool: 'messages.send', input: 'x'.repeat(200_000) }],
    ['a call with too many members, whatever it names', '/tool', { step: '0.1', input: Array(20_001).fill(0) }],
    ['a question', chatPath, { messages: [] }],
  ])('comes to the ToolHost at once, which refuses it: %s', async (_what, path, body) => {
    expect(await ask(path, body)).toBe(200);
    expect(arrived.at(-1)).toEqual({ route: path, body: JSON.stringify(body) });
  });

  test.each<[string, object | string, Record<string, string>]>([
    ['in its body', { tool: 'messages.send', step: '0.1' }, {}],
    ['in its body, after a mark of its encoding', '\ufeff{"tool":"messages.send","step":"0.1"}', {}],
    ['in a header', { tool: 'messages.send', step: '0.1' }, { [stepHeader]: '0.1' }],
  ])('waits for the end of the step where it names one %s', async (_where, body, headers) => {
    const asked = ask('/tool', body, headers);
    // Two more ask at once: what they say comes after it would have.
    for (const n of [1, 2]) await ask('/tool', { n });
    expect(arrived.map(({ route }) => route)).toEqual(['/tool/begin', '/tool', '/tool']);
    await ask('/tool/end', { step: '0.0' });
    expect(await asked).toBe(200);
    await eventually('it has come', () => arrived.at(-1)?.body === textOf(body), { show: () => arrived });
  });
});

describe('a step ends, and others wait no more,', () => {
  beforeEach(() => ask('/tool/begin', { step: '0.0' }));

  test('where as many calls as may be under way wait for its end', async () => {
    const waiting = Array.from({ length: 16 }, (_, index) => ask('/tool', { step: `0.${String(index + 1)}` }));
    expect(await ask('/tool', { step: '0.17' })).toBe(503);
    expect(await ask('/tool/end', { step: '0.0' })).toBe(200);
    expect(await Promise.all(waiting)).toEqual(Array.from({ length: 16 }, () => 200));
  });

  test('where as many calls were never sent to their end, once who made them is gone', async () => {
    const half = await Promise.all(
      Array.from({ length: 16 }, async () => {
        const socket = connect(join(directory, 'door.sock'));
        socket.write('POST /tool HTTP/1.1\r\nauthorization: Bearer secret\r\ncontent-length: 1000\r\n\r\n{');
        await once(socket, 'connect');
        return socket;
      }),
    );
    await eventually('all are under way', async () => (await ask('/tool', { n: 1 })) === 503);
    for (const socket of half) socket.destroy();
    await eventually('there is room', async () => (await ask('/tool', { n: 1 })) === 200);
    expect(await ask('/tool/end', { step: '0.0' })).toBe(200);
  });
});
