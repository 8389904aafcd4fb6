import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { ClaimAnswer } from '@suzumio/protocol/attempts';
import { stepHeader, uncapturedHeader } from '@suzumio/protocol/model-chat';
import { type Behaviour, type ModelServer, startModelServer } from '../../../../test/support/model-server.js';
import { eventually } from '../../../../test/support/poll.js';
import { expireLease } from '@suzumio/store/turns/leases';
import { recordCapture } from '@suzumio/store/turns/captures';
import { mostTold } from '@suzumio/store/turns/uncaptured-steps';
import { allowing, type Begun, begun, type ToolhostBench, toolhostBench } from '../toolhost-client.js';

let server: ModelServer;
let bench: ToolhostBench;
let project: string;
let behaviour: Behaviour;

beforeEach(async () => {
  behaviour = { text: 'Yes.' };
  server = await startModelServer(() => behaviour);
  bench = await toolhostBench(allowing({ baseURL: server.baseURL }));
  project = await bench.testing.create(thinking(6));
});
afterEach(async () => {
  await bench.close();
  await server.close();
});

const thinking = (maxSteps: number) => `
name: thinkers-${String(maxSteps)}
task: Think.
turn: { maxSteps: ${String(maxSteps)} }
backend:
  runner:
    mode: ai
    model: only
    models:
      providers: { one: { type: openai-compatible, baseURL: "${server.baseURL}" } }
      presets: { only: { provider: one, model: m } }
agents:
  ada: { role: thinker, prompt: Think., tools: ["*"] }
`;

async function ask(
  attempt: Begun,
  step: string | undefined,
  text = 'Well?',
  signal: AbortSignal | null = null,
  headers: Record<string, string> = {},
): Promise<number> {
  const response = await attempt.ask(
    { messages: [{ role: 'user', content: text }] },
    { ...(step === undefined ? {} : { [stepHeader]: step }), ...headers },
    signal,
  );
  await response.text();
  return response.status;
}

/** The next question of a step, as the ToolHost gets it. */
function arrivalOf(step: string): Promise<ServerResponse> {
  return new Promise((resolve) => {
    const onRequest = (message: unknown) => {
      const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
      if (request.headers[stepHeader] !== step) return;
      unsubscribe('http.server.request.start', onRequest);
      resolve(response);
    };
    subscribe('http.server.request.start', onRequest);
  });
}

const rows = <Row>(sql: string) => bench.testing.rows<Row>(project, sql);

describe('questions that a turn asks at once', () => {
  test('are bounded by turn.maxSteps like those that it asks one after the other', async () => {
    const ada = await bench.begin(project, 'ada');
    behaviour = { text: 'Yes.', delayMs: 200 };
    const statuses = await Promise.all(Array.from({ length: 30 }, (_, n) => ask(ada, String(n))));
    expect(server.requests.length).toBeLessThanOrEqual(6);
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(6);
    expect((await rows<{ failure_json: string }>('SELECT failure_json FROM turns'))[0]?.failure_json).toContain(
      'step-limit',
    );
  });

  test('are asked a few at a time', async () => {
    const ada = await bench.begin(project, 'ada');
    behaviour = { silent: true };
    const answers = Array.from({ length: 6 }, (_, n) => ask(ada, String(n)).catch(() => 0));
    await eventually('some are asked', () => server.requests.length === 4);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(server.requests).toHaveLength(4);
    await server.close();
    await Promise.all(answers);
  });

  test('are given up while they wait, once nobody waits for them', async () => {
    const ada = await bench.begin(project, 'ada');
    const answered = Promise.withResolvers<Behaviour>();
    server.answers = () => answered.promise;
    const gone = new AbortController();
    const answers = ['0', '1', '2', '3'].map((step) => ask(ada, step));
    await eventually('four are asked', () => server.requests.length === 4);
    const arrived = arrivalOf('4');
    const given = ask(ada, '4', 'Well?', gone.signal).catch(() => 0);
    const left = once(await arrived, 'close');
    // It waits by then, or else is given up before it does.
    await new Promise((resolve) => setTimeout(resolve, 300));
    gone.abort();
    expect(await given).toBe(0);
    await left;
    answered.resolve({ text: 'Yes.' });
    expect(await Promise.all(answers)).toEqual([200, 200, 200, 200]);
    expect(await ask(ada, '5')).toBe(200);
    expect(await rows('SELECT step FROM model_calls ORDER BY step')).toEqual(
      ['0', '1', '2', '3', '5'].map((step) => ({ step })),
    );
  });

  test('that are too long count as asked', async () => {
    const ada = await bench.begin(project, 'ada');
    behaviour = {
      status: 400,
      body: { error: { message: 'maximum context length', code: 'context_length_exceeded' } },
    };
    for (let step = 0; step < 6; step += 1) expect(await ask(ada, String(step))).not.toBe(429);
    expect(await ask(ada, '6')).toBe(429);
    expect(server.requests).toHaveLength(6);
  });
});

describe('questions of a runner that names no steps', () => {
  test('are not asked again while an earlier attempt’s are being answered', async () => {
    const first = await bench.begin(project, 'ada');
    behaviour = { text: 'Yes.', delayMs: 1_500 };
    const before = ask(first, undefined).catch(() => 0);
    await eventually('it is asked', () => server.requests.length === 1);
    await first.report('fail', { failure: { code: 'container-vanished', message: 'Gone.' } });
    const claimed = await bench.claim(project, first.turn);
    const second = begun(bench, project, 'ada', first.turn, claimed.body as unknown as ClaimAnswer);
    expect(await ask(second, undefined)).toBe(200);
    expect(server.requests).toHaveLength(1);
    expect(await rows('SELECT step, status FROM model_calls')).toEqual([{ step: 'ask.1', status: 'answered' }]);
    await before;
  });

  test('and its tool calls have places of their own', async () => {
    const ada = await bench.begin(project, 'ada');
    behaviour = { text: '', calls: [{ name: 'artifacts_list', arguments: {} }] };
    expect(await ask(ada, undefined)).toBe(200);
    expect(await ada.tool('artifacts.list', {})).toMatchObject({ status: 200 });
    expect(await ask(ada, undefined, 'And then?')).toBe(200);
    expect(await rows('SELECT key FROM turn_steps ORDER BY key')).toEqual([
      { key: 'ask.1' },
      { key: 'ask.2' },
      { key: 'seq.1' },
    ]);
  });
});

describe('questions while the workspace cannot be captured', () => {
  const uncaptured = (attempt: Begun, step: string) =>
    ask(attempt, step, 'Well?', null, { [uncapturedHeader]: 'It%20is%20large.' });
  const journal = () =>
    rows<{ key: string; ok: number; message: string | null }>(
      `SELECT key, result_json ->> 'ok' AS ok, result_json ->> 'message' AS message FROM turn_steps ORDER BY key`,
    );
  const capture = (of: Begun) =>
    bench.testing.write(project, (tx) =>
      recordCapture(tx, { turn: of.turn, attempt: of.answer.attempt }, { number: 1, snapshot: null, steps: [] }),
    );
  async function next(of: Begun): Promise<Begun> {
    bench.testing.setNow(Date.now() + 60_000 * of.answer.attempt);
    await bench.testing.write(project, (tx) => expireLease(tx, { turn: of.turn, attempt: of.answer.attempt }));
    const { body } = await bench.claim(project, of.turn);
    return begun(bench, project, 'ada', of.turn, body as unknown as ClaimAnswer);
  }

  test('are answered with why, every other one, and asked of the model in between', async () => {
    const ada = await bench.begin(project, 'ada');
    const statuses: number[] = [];
    for (const step of ['0', '1', '2', '3']) statuses.push(await uncaptured(ada, step));
    expect(statuses).toEqual([409, 200, 409, 200]);
    expect(await uncaptured(ada, '2')).toBe(409);
    expect(server.requests).toHaveLength(2);
    expect(await journal()).toMatchObject([
      { key: '0', ok: 0, message: 'It is large.' },
      { key: '1', ok: 1 },
      { key: '2', ok: 0, message: 'It is large.' },
      { key: '3', ok: 1 },
    ]);
  });

  test('stay in the journal once there is a capture', async () => {
    const ada = await bench.begin(project, 'ada');
    await uncaptured(ada, '0');
    await uncaptured(ada, '1');
    await capture(ada);
    const again = await next(ada);
    expect([await ask(again, '0'), await ask(again, '1')]).toEqual([409, 200]);
    expect(server.requests).toHaveLength(1);
  });

  test('are asked anew by an attempt that begins before that', async () => {
    const ada = await bench.begin(project, 'ada');
    expect(await ask(ada, '0')).toBe(200);
    await uncaptured(ada, '1');
    await uncaptured(ada, '2');
    const again = await next(ada);
    expect(await journal()).toMatchObject([{ key: '0' }]);
    expect([await ask(again, '0'), await ask(again, '1')]).toEqual([200, 200]);
    expect(server.requests).toHaveLength(3);
  });

  test('end a turn whose agent does not mend it', async () => {
    project = await bench.testing.create(thinking(100));
    const ada = await bench.begin(project, 'ada');
    for (let step = 0; step < 2 * mostTold; step += 1) await uncaptured(ada, String(step));
    expect(server.requests).toHaveLength(mostTold);
    expect(await rows('SELECT status FROM turns')).toEqual([{ status: 'running' }]);
    expect(await uncaptured(ada, '100')).toBe(409);
    const [turn] = await rows<{ failure: string }>('SELECT failure_json AS failure FROM turns');
    expect(JSON.parse(turn?.failure ?? '{}')).toMatchObject({
      code: 'workspace-too-large',
      message: 'Told 8 times, the agent has not mended its workspace: It is large.',
    });
  });
});
