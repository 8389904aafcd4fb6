import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { ClaimAnswer } from '@suzumio/protocol/attempts';
import { stepHeader } from '@suzumio/protocol/model-chat';
import { type Behaviour, type ModelServer, startModelServer } from '../../../../test/support/model-server.js';
import { eventually } from '../../../../test/support/poll.js';
import { allowing, type Begun, begun, type ToolhostBench, toolhostBench } from '../toolhost-client.js';

let server: ModelServer;
let bench: ToolhostBench;
let project: string;
let behaviour: Behaviour;

beforeEach(async () => {
  behaviour = { text: 'Yes.' };
  server = await startModelServer(() => behaviour);
  bench = await toolhostBench(allowing({ baseURL: server.baseURL }));
  project = await bench.testing.create(`
name: thinkers
task: Think.
turn: { maxSteps: 6 }
backend:
  runner:
    mode: ai
    model: only
    models:
      providers: { one: { type: openai-compatible, baseURL: "${server.baseURL}" } }
      presets: { only: { provider: one, model: m } }
agents:
  ada: { role: thinker, prompt: Think., tools: ["*"] }
`);
});
afterEach(async () => {
  await bench.close();
  await server.close();
});

async function ask(
  attempt: Begun,
  step: string | undefined,
  text = 'Well?',
  signal: AbortSignal | null = null,
): Promise<number> {
  const response = await fetch(`${bench.toolhost.runnerUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${attempt.answer.toolToken}`,
      'content-type': 'application/json',
      ...(step === undefined ? {} : { [stepHeader]: step }),
    },
    body: JSON.stringify({ messages: [{ role: 'user', content: text }] }),
    signal,
  });
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
