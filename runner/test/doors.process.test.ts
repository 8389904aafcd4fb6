import { type ChildProcessWithoutNullStreams } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Multiplexer } from '@suzumio/protocol/stdio-frames';
import { files } from './support/bundle.js';
import { createToolHost, type FakeToolHost } from './support/tool-host.js';
import { closed, createTurnPlace, ended, listen, script, type TurnPlace } from './support/turn.js';
import { freePort } from '../../test/support/free-port.js';

const send = { tool: 'messages.send', input: { recipient: 'editor', body: 'Done, says {{agent.id}}.' } };
const expectedCall = {
  project: 'newsroom',
  agent: 'reporter-1',
  turn: 'turn_01KB3Z0000000000000000000A',
  tool: 'messages.send',
  input: { recipient: 'editor', body: 'Done, says reporter-1.' },
  step: '0.0',
};

let place: TurnPlace;
let host: FakeToolHost;

beforeEach(async () => {
  place = await createTurnPlace();
  host = createToolHost();
});
afterEach(async () => {
  await closed(host.server);
  await place.remove();
});

function run(): ChildProcessWithoutNullStreams {
  return place.start(files.runner);
}

/** Serves the host over the process's stdin and stdout, as a worker that has attached to a container. */
function attach(child: ChildProcessWithoutNullStreams): Multiplexer {
  const onStream = (stream: unknown): boolean => host.server.emit('connection', stream);
  return new Multiplexer({ input: child.stdout, output: child.stdin, onStream });
}

describe('a turn reaches its tools', () => {
  test('through a unix socket', async () => {
    await listen(host.server, place.socket);
    await place.prepare(script(send, { text: 'Reported.' }));
    expect(await ended(run())).toMatchObject({ code: 0, stdout: '', stderr: '' });
    expect(await place.output()).toEqual({ text: 'Reported.' });
    expect(host.calls()).toEqual([expectedCall]);
    expect(host.received[0]?.authorization).toBe('Bearer tool-token');
  });

  test('over TCP', async () => {
    const port = await listen(host.server, 0);
    await place.prepare({ ...script(send), controllerUrl: `http://127.0.0.1:${port}` });
    expect(await ended(run())).toMatchObject({ code: 0, stderr: '' });
    expect(host.calls()).toEqual([expectedCall]);
  });

  test('over its stdin and stdout', async () => {
    await place.prepare({ ...script(send, send, { text: 'Reported.' }), controllerUrl: 'stdio:' });
    const child = run();
    const door = attach(child);
    expect(await ended(child)).toMatchObject({ code: 0, stderr: '' });
    door.close();
    expect(await place.output()).toEqual({ text: 'Reported.' });
    expect(host.calls()).toEqual([expectedCall, { ...expectedCall, step: '1.0' }]);
  });
});

describe('a door that is away', () => {
  test('is tried again until it is back', async () => {
    await place.prepare(script(send));
    const child = run();
    const end = ended(child);
    await new Promise((resolve) => child.stderr.once('data', resolve));
    await listen(host.server, place.socket);
    const { code, stderr } = await end;
    expect(stderr).toContain('trying again');
    expect(code).toBe(0);
    expect(host.calls()).toEqual([expectedCall]);
  });

  test.each([
    ['answers 503', (response: { writeHead(status: number): { end(): unknown } }) => response.writeHead(503).end()],
    ['answers 408', (response: { writeHead(status: number): { end(): unknown } }) => response.writeHead(408).end()],
    [
      'cuts the answer',
      (response: {
        write(text: string): void;
        destroy(): unknown;
        writeHead(status: number, headers: object): unknown;
      }) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('{"output":');
        setTimeout(() => response.destroy(), 20);
      },
    ],
    ['cuts the connection', (response: { destroy(): unknown }) => response.destroy()],
  ])('because it %s gets the same call again, under the same step', async (_, breakDown) => {
    let broken = 0;
    host.intercept = (incoming, response) => {
      if (broken === 2) return false;
      broken += 1;
      incoming.resume().on('end', () => breakDown(response as never));
      return true;
    };
    await listen(host.server, place.socket);
    await place.prepare(script(send, { text: 'Reported.' }));
    expect(await ended(run())).toMatchObject({ code: 0 });
    expect(broken).toBe(2);
    expect(host.calls()).toEqual([expectedCall]);
  });

  test('for longer than the limits allow ends the runner with 75 and no output', async () => {
    const controllerUrl = `http://127.0.0.1:${await freePort()}`;
    await place.prepare({ ...script(send), controllerUrl, limits: { timeoutMs: 600_000, doorPatienceMs: 300 } });
    const { code, stderr } = await ended(run());
    expect(stderr).toContain('the door was away for 300 ms: connect ECONNREFUSED');
    expect(code).toBe(75);
    await expect(place.output()).rejects.toThrow('ENOENT');
  });

  test('is found again where another worker attaches to stdin and stdout', async () => {
    await place.prepare({ ...script(send, { text: 'Reported.' }), controllerUrl: 'stdio:' });
    const child = run();
    const end = ended(child);
    let asked: (() => void) | undefined;
    const first = new Promise<void>((resolve) => (asked = resolve));
    host.intercept = () => {
      asked?.();
      return true;
    };
    const before = attach(child);
    await first;
    before.close();
    host.intercept = () => false;
    const after = attach(child);
    expect(await end).toMatchObject({ code: 0 });
    after.close();
    expect(host.calls()).toEqual([expectedCall]);
  });

  test('because stdin has ended ends the runner with 75', async () => {
    await place.prepare({
      ...script(send),
      controllerUrl: 'stdio:',
      limits: { timeoutMs: 600_000, doorPatienceMs: 200 },
    });
    const child = run();
    child.stdin.end();
    expect(await ended(child)).toMatchObject({ code: 75 });
  });
});

test('a call that is refused is not sent again', async () => {
  await closed(host.server).catch(() => undefined);
  host = createToolHost(() => ({ code: 'recipient-unknown', detail: 'No agent "editr"; did you mean editor?' }));
  await listen(host.server, place.socket);
  await place.prepare(script({ wait: 0 }, send));
  const { code, stderr } = await ended(run());
  expect(stderr).toBe(
    'suzumio-runner: step 1 (tool): messages.send was refused: recipient-unknown: No agent "editr"; did you mean editor?\n',
  );
  expect(code).toBe(1);
  expect(host.calls().length).toBe(1);
});
