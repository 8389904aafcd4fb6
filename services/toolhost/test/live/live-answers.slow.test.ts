import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type LiveFrame, type LiveLine, livePathOf } from '@suzumio/protocol/live';
import { eventually } from '../../../../test/support/poll.js';
import { finish, say, startToldProvider, type ToldProvider } from '../../../../test/support/told-provider.js';
import { allowing, type Begun, type ToolhostBench, toolhostBench } from '../toolhost-client.js';

const key = 'sk-very-secret-0123456789';

let provider: ToldProvider;
let bench: ToolhostBench;
let project: string;
let ada: Begun;

beforeEach(async () => {
  provider = await startToldProvider();
  bench = await toolhostBench(
    { ...allowing({ baseURL: provider.baseURL, apiKeyEnv: 'KEY' }), live: { followersOfTurn: 2 } },
    { KEY: key },
  );
  project = await bench.testing.create(`
name: seen
task: Think.
backend:
  runner:
    mode: ai
    model: only
    models:
      providers: { one: { type: openai-compatible, baseURL: "${provider.baseURL}", apiKeyEnv: KEY } }
      presets: { only: { provider: one, model: m } }
agents:
  ada: { role: thinker, prompt: Think., tools: [] }
`);
  ada = await bench.begin(project, 'ada');
});
afterEach(async () => {
  await provider.close();
  await bench.close();
});

interface Followed {
  readonly lines: LiveLine[];
  readonly ended: Promise<void>;
}

const textIn = (lines: readonly LiveLine[]) => lines.map((line) => ('text' in line ? line.text : '')).join('');

function open(token = bench.testing.cell.directory.serviceToken()): Promise<Response> {
  return fetch(`${bench.toolhost.workerUrl}${livePathOf(project, ada.turn)}`, {
    headers: { authorization: `Bearer ${token}` },
  });
}

async function follow(): Promise<Followed> {
  const response = await open();
  expect(response.status).toBe(200);
  const lines: LiveLine[] = [];
  const read = createInterface({ input: Readable.fromWeb(response.body as never) });
  const ended = (async () => {
    for await (const line of read) if (line !== '') lines.push(JSON.parse(line) as LiveLine);
  })().catch(() => undefined);
  return { lines, ended };
}

function ask(): Promise<Response> {
  return ada.ask({ messages: [{ role: 'user', content: 'Well?' }], stream: true });
}

describe('what a model answers', () => {
  test('is seen while it comes, without the key that it says in two pieces', async () => {
    const { lines, ended } = await follow();
    const answered = ask().then((response) => response.text());
    const saying = await provider.asked;
    say(saying, 'Half of ');
    await eventually('the first half is seen', () => textIn(lines) === 'Half of ', { show: () => lines });
    say(saying, `it, and ${key.slice(0, 10)}`);
    say(saying, `${key.slice(10)} too. `);
    await eventually('the rest is seen', () => textIn(lines).includes('too.'), { show: () => lines });
    finish(saying);
    await answered;
    expect((await ada.report('complete', { output: { text: 'Done.' } })).status).toBe(200);
    await ended;
    expect(textIn(lines)).toBe('Half of it, and [redacted] too. ');
    expect(lines.at(-1)).toEqual({ kind: 'end' });
    expect(lines[0]).toMatchObject({ kind: 'model', text: 'Half of ' });
  });

  test('goes on to be seen by others when one who does not read leaves', async () => {
    const leaving = await open();
    const { lines } = await follow();
    const answered = ask().then((response) => response.text());
    const saying = await provider.asked;
    await leaving.body?.cancel();
    say(saying, 'Still here. ');
    await eventually('it is seen', () => textIn(lines) === 'Still here. ', { show: () => lines });
    finish(saying);
    await answered;
  });
});

describe('what commands print', () => {
  const report = (output: Omit<LiveFrame & { kind: 'output' }, 'kind'>[]) =>
    bench.post(
      `${bench.toolhost.workerUrl}/projects/${project}/turns/${ada.turn}/attempts/1/live`,
      ada.answer.leaseToken,
      { skipped: 0, output },
    );

  test('is asked of the worker only while somebody follows', async () => {
    expect((await ada.report('heartbeat')).body).not.toHaveProperty('followed');
    const printed = { step: '0.0', stream: 'stdout', text: 'building\n' } as const;
    expect((await report([printed])).body).toEqual({ followed: false });
    const { lines } = await follow();
    expect((await ada.report('heartbeat')).body).toMatchObject({ followed: true });
    expect((await report([{ ...printed, text: `built with ${ada.answer.toolToken}\n` }])).body).toEqual({
      followed: true,
    });
    await eventually('it is seen', () => lines.length > 0);
    expect(lines).toEqual([{ kind: 'output', ...printed, text: 'built with tool.[redacted]\n' }]);
  });

  test('is taken from the worker of a running attempt alone', async () => {
    await ada.report('complete', { output: { text: 'Done.' } });
    expect((await report([])).body).toMatchObject({ code: 'attempt-over' });
    const { workerToken } = bench;
    const url = `${bench.toolhost.workerUrl}/projects/${project}/turns/${ada.turn}/attempts/1/live`;
    expect((await bench.post(url, workerToken, { skipped: 0, output: [] })).status).toBe(401);
  });
});

describe('who follows', () => {
  test('needs the token of the services', async () => {
    for (const token of [bench.workerToken, ada.answer.leaseToken, ada.answer.toolToken]) {
      expect((await open(token)).status).toBe(401);
    }
  });

  test('is refused where as many follow as may', async () => {
    const others = [await open(), await open()];
    const refused = await open();
    expect([refused.status, await refused.json()]).toMatchObject([503, { code: 'live-full' }]);
    for (const other of others) await other.body?.cancel();
    await eventually('there is room', async () => {
      const again = await open();
      await again.body?.cancel();
      return again.status === 200;
    });
  });

  test('hears of no end when the ToolHost ends', async () => {
    const { lines, ended } = await follow();
    await bench.restart({});
    await ended;
    expect(lines).toEqual([]);
  });
});
