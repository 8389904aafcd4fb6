import { type ChildProcessWithoutNullStreams } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Multiplexer } from '@suzumio/protocol/stdio-frames';
import { files, foreignRunner } from './support/bundle.js';
import { createToolHost, type FakeToolHost, type ToolAnswer } from './support/tool-host.js';
import { closed, createTurnPlace, ended, listen, turn, type TurnPlace } from './support/turn.js';
import { freePort } from '../../test/support/free-port.js';

let place: TurnPlace;
let host: FakeToolHost;
let answer: (request: Record<string, unknown>) => ToolAnswer;
let controllerUrl: string;

beforeEach(async () => {
  place = await createTurnPlace();
  answer = ({ tool }) => ({ output: `did ${String(tool)}` });
  host = createToolHost((request) => answer(request));
  controllerUrl = `http://127.0.0.1:${await freePort()}`;
  // What a runner that knows the minimal contract finds.
  await place.prepare({
    controllerUrl,
    agent: { id: 'reporter-1', role: 'reporter', prompt: 'Report.' },
    turn: { id: turn.id, prompt: turn.prompt },
    protocol: undefined,
  });
});
afterEach(async () => {
  await closed(host.server).catch(() => undefined);
  await place.remove();
});

function run(...command: string[]): ChildProcessWithoutNullStreams {
  return place.start(files.shim, ...command);
}

/** A foreign runner of one expression, with `post` at hand. */
function runCode(code: string): ChildProcessWithoutNullStreams {
  const post = `const post = async (tool, input, path = '/tool', method = 'POST') => {
    const body = JSON.stringify({ project: 'newsroom', agent: 'reporter-1', turn: '${turn.id}', tool, input });
    const response = await fetch('${controllerUrl}' + path, { method, body, headers: { authorization: 'Bearer t' } });
    return [response.status, await response.text()];
  };`;
  return run(process.execPath, '--input-type=module', '-e', `${post}\n${code}`);
}

const lines = turn.prompt.split('\n').length;
const content = Buffer.from(`The prompt has ${lines} lines.\n`);
const sha256 = createHash('sha256').update(content).digest('hex');

function expectForeignTurn(): void {
  const call = { project: 'newsroom', agent: 'reporter-1', turn: turn.id };
  expect(host.content.get(sha256)?.equals(content)).toBe(true);
  expect(host.calls()).toEqual([
    {
      ...call,
      tool: 'artifacts.publish',
      input: { path: 'count.md', name: 'reporter-1-count.md', sha256, sizeBytes: content.length },
      step: 'seq.1',
    },
    { ...call, tool: 'messages.send', input: { recipient: 'user', body: `Counted ${lines} lines.` }, step: 'seq.2' },
  ]);
  expect(host.received.every(({ authorization }) => authorization === 'Bearer tool-token')).toBe(true);
}

describe('a foreign runner completes its turn', () => {
  test('through the socket in the turn directory', async () => {
    await listen(host.server, place.socket);
    const { code, stdout, stderr } = await ended(run(process.execPath, foreignRunner));
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: `counted ${lines} lines\n` });
    expect(await place.output()).toEqual({ text: `Counted ${lines} lines.` });
    expectForeignTurn();
  });

  test('through stdin and stdout, where there is no socket', async () => {
    const child = run(process.execPath, foreignRunner);
    const onStream = (stream: unknown): boolean => host.server.emit('connection', stream);
    const door = new Multiplexer({ input: child.stdout, output: child.stdin, onStream });
    expect(await ended(child)).toMatchObject({ code: 0, stderr: `counted ${lines} lines\n` });
    door.close();
    expectForeignTurn();
  });

  test('although the door breaks: each call arrives once, under its number', async () => {
    let broken = 0;
    host.intercept = (incoming, response) => {
      broken += 1;
      if (broken % 2 === 0) return false;
      incoming.resume().on('end', () => response.destroy());
      return true;
    };
    await listen(host.server, place.socket);
    const { code, stderr } = await ended(run(process.execPath, foreignRunner));
    expect(stderr).toContain('suzumio-shim: the door fails (socket hang up)');
    expect(code).toBe(0);
    expectForeignTurn();
  });
});

describe('the shim', () => {
  beforeEach(() => listen(host.server, place.socket));

  test('passes refusals on, with the reason why a file was not sent', async () => {
    answer = () => ({ code: 'content-missing', detail: 'No content.' });
    const { stderr } = await ended(
      runCode("console.log(...await post('artifacts.publish', { path: '../turn/input.json' }))"),
    );
    expect(stderr).toMatch(
      /^422 \{.*"code":"content-missing","detail":"No content\. \(\\"\.\.\/turn\/input\.json\\": is not a path/,
    );
    expect(host.calls()[0]?.['input']).toEqual({ path: '../turn/input.json' });
  });

  test('keeps a step and a hash that the runner names', async () => {
    const body = {
      project: 'newsroom',
      agent: 'reporter-1',
      turn: turn.id,
      tool: 'artifacts.publish',
      input: { path: 'x', sha256 },
      step: '4.1',
    };
    const code = `await fetch('${controllerUrl}/tool', { method: 'POST', body: ${JSON.stringify(JSON.stringify(body))} })`;
    expect(await ended(runCode(code))).toMatchObject({ code: 0 });
    expect(host.calls()).toEqual([body]);
  });

  test('passes other routes on as they are', async () => {
    const { stderr } = await ended(runCode(`console.log(...await post('x', 1, '/content/${'0'.repeat(64)}', 'PUT'))`));
    expect(stderr).toBe('422 \n');
    expect(host.received).toMatchObject([
      { method: 'PUT', url: `/content/${'0'.repeat(64)}`, authorization: 'Bearer t' },
    ]);
  });

  test('answers what is no tool call, and what is too large, by itself', async () => {
    const { stderr } = await ended(
      runCode(
        "console.log((await post('', 1))[0], (await post('x', 'y'.repeat(9_000_000)))[0], (await post('x', 1))[0])",
      ),
    );
    expect(stderr).toBe('400 413 200\n');
    expect(host.calls()).toMatchObject([{ tool: 'x', input: 1, step: 'seq.1' }]);
  });

  test('answers 503 where the door stays away, and leaves with 75 where the command fails of it', async () => {
    await closed(host.server);
    await writeFile(place.socket, 'nobody listens here');
    await place.prepare({ controllerUrl, limits: { timeoutMs: 600_000, doorPatienceMs: 200 } });
    const { stderr, code } = await ended(
      place.start(
        files.shim,
        process.execPath,
        '--input-type=module',
        '-e',
        `const body = JSON.stringify({ project: 'newsroom', agent: 'reporter-1', turn: '${turn.id}', tool: 'x', input: 1 });
          const { status } = await fetch('${controllerUrl}/tool', { method: 'POST', body });
          const other = await fetch('${controllerUrl}/content/x', { method: 'PUT', body });
          console.log(status, other.status);
          process.exit(1);`,
      ),
    );
    expect(stderr).toContain('\n503 502\n');
    expect(code).toBe(75);
  });

  test('leaves with the exit code of the command, or 128 and its signal', async () => {
    expect(await ended(run('sh', '-c', 'exit 7'))).toMatchObject({ code: 7 });
    expect(await ended(run('sh', '-c', 'kill -9 $$'))).toMatchObject({ code: 137 });
  });

  test.each([
    [127, '/no/such/command', 'could not be started'],
    [126, foreignRunner, 'could not be started'],
  ])('leaves with %i where the command is %s', async (code, command, reason) => {
    expect(await ended(run(command))).toMatchObject({ code, stderr: expect.stringContaining(reason) });
  });

  test('passes signals on', async () => {
    const child = run('sh', '-c', 'trap "echo caught; exit 5" TERM; echo ready; while :; do sleep 0.05; done');
    const end = ended(child);
    await once(child.stderr, 'data');
    child.kill('SIGTERM');
    expect(await end).toMatchObject({ code: 5, stderr: 'ready\ncaught\n', stdout: '' });
  });

  test('leaves with 64 without a command, and with 65 where the controller is not its own', async () => {
    expect(await ended(run())).toMatchObject({ code: 64 });
    await place.prepare({ controllerUrl: 'http://0.0.0.0:39401' });
    expect(await ended(run('true'))).toMatchObject({
      code: 65,
      stderr: expect.stringContaining('127.0.0.1'),
    });
  });
});
