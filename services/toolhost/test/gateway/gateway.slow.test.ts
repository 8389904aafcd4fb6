import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { stepHeader } from '@suzumio/protocol/model-chat';
import { createInProcessTransport } from '@suzumio/runtime/queue/in-process-transport';
import { readWaiting } from '@suzumio/store/projects/inbox-items';
import { expireLease } from '@suzumio/store/turns/leases';
import { noon } from '../../../../test/support/cell.js';
import { type Behaviour, event, type ModelServer, startModelServer } from '../../../../test/support/model-server.js';
import { eventually } from '../../../../test/support/poll.js';
import { createToolhost, type ToolhostConfig } from '@suzumio/toolhost';
import { recordingLogger } from '../../../../test/support/logs.js';
import { allowing, type Begun, begun, type ToolhostBench, toolhostBench } from '../toolhost-client.js';

let server: ModelServer;
let other: ModelServer;
let bench: ToolhostBench;
let behaviour: Behaviour;
let otherBehaviour: Behaviour;

beforeEach(async () => {
  behaviour = { text: 'Yes.' };
  otherBehaviour = { text: 'From the other.' };
  server = await startModelServer(() => behaviour);
  other = await startModelServer(() => otherBehaviour);
  await openWith({}, { FIRST_KEY: 'key-of-the-first', OTHER_KEY: 'key-of-the-other' });
});
afterEach(async () => {
  await bench.close();
  await Promise.all([server.close(), other.close()]);
});

const allowed = () =>
  allowing(
    { baseURL: server.baseURL, apiKeyEnv: 'FIRST_KEY', ownPrices: true },
    { baseURL: other.baseURL, apiKeyEnv: 'OTHER_KEY', ownPrices: true },
  );

async function openWith(config: Partial<ToolhostConfig>, secrets: Readonly<Record<string, string>>): Promise<void> {
  bench = await toolhostBench({ ...allowed(), ...config }, secrets, { startMs: noon });
}

const yaml = (extra = '') => `
name: thinkers
task: Think.
backend:
  runner:
    mode: ai
    model: main
    models:
      providers:
        first: { type: openai-compatible, baseURL: "${server.baseURL}", apiKeyEnv: FIRST_KEY }
        other: { type: openai-compatible, baseURL: "${other.baseURL}", apiKeyEnv: OTHER_KEY, headers: { x-team: north } }
      presets:
        quick: { provider: first, model: quick-1, apiModel: quick-1-2026, temperature: 0.2, maxOutputTokens: 100, price: { input: 1, output: 2 } }
        spare: { provider: other, model: spare-1, price: { input: 3, output: 4 } }
        main: { model-list: [quick, spare] }
        newer: { provider: other, model: newer-1, api: responses, reasoningEffort: low, price: { input: 1, output: 2 } }
        secret: { provider: other, model: secret-1, price: { input: 0, output: 0 } }
${extra}agents:
  ada: { role: thinker, prompt: Think., tools: ["*"] }
  ada-2: { role: thinker, prompt: Think. }
  ben: { role: thinker, prompt: Think., model: spare, tools: [] }
  cy: { role: thinker, prompt: Think., model: newer, tools: [] }
`;

const question = (text = 'Well?') => ({ messages: [{ role: 'user', content: text }] });

async function start(extra?: string): Promise<{ project: string; ada: Begun }> {
  const project = await bench.testing.create(yaml(extra));
  return { project, ada: await bench.begin(project, 'ada') };
}

interface Asked {
  status: number;
  text: string;
  json: { code?: string; detail?: string; choices?: { message: { content: string | null } }[] };
}

async function ask(
  attempt: Begun,
  step: string | undefined,
  body: unknown,
  runnerUrl = bench.toolhost.runnerUrl,
): Promise<Asked> {
  const response = await fetch(`${runnerUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${attempt.answer.toolToken}`,
      'content-type': 'application/json',
      ...(step === undefined ? {} : { [stepHeader]: step }),
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, text, json: (text.startsWith('{') ? JSON.parse(text) : {}) as Asked['json'] };
}

const said = (answer: Asked) => answer.json.choices?.[0]?.message.content;
const rows = <Row>(project: string, sql: string) => bench.testing.rows<Row>(project, sql);

describe('a question', () => {
  test("goes to the first of the agent's models, set as its preset says, with the key that no runner sees", async () => {
    const { ada } = await start();
    const answer = await ask(ada, '0', { ...question(), temperature: 2, max_tokens: 5_000, model: 'main' });
    expect(said(answer)).toBe('Yes.');
    const [request] = server.requests;
    expect(request?.headers.authorization).toBe('Bearer key-of-the-first');
    expect(request?.body).toMatchObject({ model: 'quick-1-2026', temperature: 0.2, max_tokens: 100 });
    expect(other.requests).toHaveLength(0);
    expect(answer.text).not.toContain('key-of-the-first');
  });

  test('is answered in pieces when a stream is asked for, and whole from the journal', async () => {
    behaviour = { text: 'A longer answer, in pieces.', calls: [{ name: 'artifacts_list', arguments: {} }] };
    const { ada } = await start();
    const streamed = await ask(ada, '0', { ...question(), stream: true });
    const again = await ask(ada, '0', { ...question(), stream: true });
    const textOf = ({ text }: Asked) =>
      [...text.matchAll(/^data: (\{.*\})$/gm)]
        .map(([, json]) => JSON.parse(json ?? '{}') as { choices: { delta: { content?: string } }[] })
        .map(({ choices }) => choices[0]?.delta.content ?? '')
        .join('');
    expect(textOf(streamed)).toBe('A longer answer, in pieces.');
    expect(textOf(again)).toBe('A longer answer, in pieces.');
    expect(streamed.text).toContain('"finish_reason":"tool_calls"');
    expect(streamed.text.match(/^data: /gm)?.length).toBeGreaterThan(again.text.match(/^data: /gm)?.length ?? 0);
    expect(streamed.text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(server.requests).toHaveLength(1);
  });

  test('has its last piece sent only when the answer is journaled', async () => {
    behaviour = { text: 'In pieces, one after the other.' };
    const { project, ada } = await start();
    const response = await ada.ask({ ...question(), stream: true }, { [stepHeader]: '0' });
    let text = '';
    const state = async () => (await rows<{ status: string }>(project, 'SELECT status FROM model_calls'))[0]?.status;
    const decoder = new TextDecoder();
    for await (const piece of response.body ?? []) {
      text += decoder.decode(piece as Uint8Array, { stream: true });
      if (text.includes('[DONE]') || text.includes('"finish_reason":"')) expect(await state()).toBe('answered');
    }
    expect(text).toContain('[DONE]');
  });

  test('is asked once, however often it is repeated, and in a later attempt', async () => {
    const { project, ada } = await start();
    behaviour = { text: 'First.', delayMs: 300 };
    const both = await Promise.all([ask(ada, '0', question()), ask(ada, '0', question())]);
    expect(both.map(said)).toEqual(['First.', 'First.']);
    bench.testing.setNow(noon + 60_000);
    await bench.testing.write(project, (tx) => expireLease(tx, { turn: ada.turn, attempt: 1 }));
    const { body } = await bench.claim(project, ada.turn);
    const second = begun(bench, project, 'ada', ada.turn, body as never);
    behaviour = { text: 'Another answer.' };
    expect(said(await ask(second, '0', question()))).toBe('First.');
    expect(server.requests).toHaveLength(1);
    expect(said(await ask(second, '1', question()))).toBe('Another answer.');
  });

  test('is asked once by two ToolHosts, of whom one finds the other at it', async () => {
    const { ada } = await start();
    behaviour = { text: 'Once.', delayMs: 500 };
    const local = { host: '127.0.0.1', port: 0 };
    const transport = createInProcessTransport({ logger: recordingLogger().logger });
    const second = createToolhost(
      { worker: local, runner: local, transportName: 'test', ...allowed() },
      {
        cell: bench.testing.cell,
        transport,
        logger: recordingLogger().logger,
        metrics: bench.metrics,
        secrets: { read: () => 'key-of-the-second' },
      },
    );
    await second.start();
    try {
      const both = await Promise.all([ask(ada, '0', question()), ask(ada, '0', question(), second.runnerUrl)]);
      expect(both.map(said)).toEqual(['Once.', 'Once.']);
      expect(server.requests).toHaveLength(1);
    } finally {
      await second.stop();
      await transport.close();
    }
  });

  test('that is another than before under its step is refused', async () => {
    const { ada } = await start();
    await ask(ada, '0', question('This?'));
    const answer = await ask(ada, '0', question('That?'));
    expect(answer).toMatchObject({ status: 409, json: { code: 'journal-mismatch' } });
  });

  test('is finished and journaled although whoever asked has gone', async () => {
    const { project, ada } = await start();
    behaviour = { text: 'Late.', delayMs: 500 };
    const gone = new AbortController();
    const asking = ada.ask(question(), { [stepHeader]: '0' }, gone.signal).catch(() => undefined);
    await eventually('the model is asked', () => server.requests.length === 1);
    gone.abort();
    await asking;
    await ada.report('fail', { failure: { code: 'container-vanished', message: 'gone' } });
    await eventually('the answer is in the journal', async () => {
      const steps = await rows<{ result_json: string }>(project, 'SELECT result_json FROM turn_steps');
      return steps.some(({ result_json }) => result_json.includes('Late.'));
    });
  });

  test("names a preset that is the agent's, and no other", async () => {
    const { project, ada } = await start();
    expect(said(await ask(ada, '0', { ...question(), model: 'spare' }))).toBe('From the other.');
    expect(other.requests[0]?.headers['x-team']).toBe('north');
    expect(await ask(ada, '1', { ...question(), model: 'secret' })).toMatchObject({
      status: 422,
      json: { code: 'preset-unknown' },
    });
    const ben = await bench.begin(project, 'ben');
    expect(said(await ask(ben, '0', question()))).toBe('From the other.');
  });

  test.each([true, false])(
    'goes in the Responses format where the preset asks for it, and its answer comes as every other (streamed: %s)',
    async (stream) => {
      otherBehaviour = {
        text: 'I look.',
        calls: [{ id: 'a', name: 'look', arguments: { at: 'north' } }],
        usage: { input: 1_000, output: 500 },
      };
      const { project } = await start();
      const cy = await bench.begin(project, 'cy');
      const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }];
      const first = await ask(cy, '0', {
        messages: [{ role: 'system', content: 'Be cy.' }, ...question().messages],
        tools,
        stream,
      });
      expect(first.text).toContain('"id":"a","type":"function","function":{"name":"look","arguments"');
      expect(first.text).toContain('"finish_reason":"tool_calls"');
      expect(other.requests[0]).toMatchObject({
        path: '/v1/responses',
        headers: { authorization: 'Bearer key-of-the-other' },
        body: { model: 'newer-1', instructions: 'Be cy.', reasoning: { effort: 'low' }, input: question().messages },
      });
      const [call] = await rows(project, 'SELECT input_tokens, output_tokens, nano_usd FROM model_calls');
      expect(call).toEqual({ input_tokens: 1_000, output_tokens: 500, nano_usd: 2_000_000 });
      const [step] = await rows<{ result_json: string }>(project, 'SELECT result_json FROM turn_steps');
      expect(JSON.parse(step?.result_json ?? '{}')).toMatchObject({
        answer: {
          text: 'I look.',
          toolCalls: [{ id: 'a', name: 'look', arguments: '{"at":"north"}' }],
          usage: { cachedTokens: 4, reasoningTokens: 3 },
        },
      });
    },
  );

  test.each([
    ['no messages', { messages: [] }],
    ['a message of nobody', { messages: [{ role: 'oracle', content: 'x' }] }],
    ['no JSON object', []],
    [
      'an image that the provider would fetch',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a.test/?q=b' } }] }] },
    ],
    ["a tool of the provider's own", { ...question(), tools: [{ type: 'web_search' }] }],
    ['a tool with a forged name', { ...question(), tools: [{ type: 'function', function: { name: 'a b' } }] }],
  ])('with %s is refused', async (_name, body) => {
    const { ada } = await start();
    expect((await ask(ada, '0', body)).status).toBe(400);
    expect(server.requests).toHaveLength(0);
  });

  test('without a good token reaches nobody', async () => {
    const { ada } = await start();
    await ada.report('complete', { output: { text: '' } });
    expect((await ask(ada, '0', question())).status).toBe(401);
    expect(server.requests).toHaveLength(0);
  });
});

describe('a model that refuses', () => {
  const refusing = (status: number, error: object): Behaviour => ({
    status,
    headers: { 'content-type': 'application/json' },
    body: { error },
  });

  test.each<[string, Behaviour]>([
    ['it is retired', refusing(404, { message: 'quick-1 has been retired.', code: 'model_not_found' })],
    ['its key is wrong', refusing(401, { message: 'No such key.' })],
    ['its region is not served', refusing(403, { message: 'This country is not supported.' })],
    ['it does not take a field', refusing(400, { message: 'temperature is not supported.', param: 'temperature' })],
    ['its context is shorter', refusing(400, { message: 'Too long.', code: 'context_length_exceeded' })],
  ])('is passed over where %s', async (_, refusal) => {
    behaviour = refusal;
    const { ada } = await start();
    expect(said(await ask(ada, '0', question()))).toBe('From the other.');
    expect([server.requests.length, other.requests.length]).toEqual([1, 1]);
  });

  test('is the last that is asked where it objects to the content', async () => {
    behaviour = refusing(400, { message: 'Blocked.', code: 'content_policy_violation' });
    const { ada } = await start();
    expect((await ask(ada, '0', question())).status).toBe(424);
    expect(other.requests).toHaveLength(0);
  });

  test.each<[string, Behaviour, string]>([
    ['its key', refusing(401, { message: 'No such key.' }), 'provider-key-rejected'],
    ['its region', refusing(403, { message: 'This country is not supported.' }), 'provider-access-refused'],
    ['its account', refusing(402, { message: 'No credit.' }), 'provider-quota-spent'],
  ])('is named for %s until it answers, though another one answered', async (_, refusal, code) => {
    behaviour = refusal;
    const { project, ada } = await start();
    expect(said(await ask(ada, '0', question()))).toBe('From the other.');
    const named = () =>
      bench.testing.store(project, (store) =>
        readWaiting(store.reader, store.config).filter(({ kind }) => kind === 'model'),
      );
    expect(await named()).toEqual([expect.objectContaining({ preset: 'quick', code, next: 'doctor' })]);
    behaviour = { text: 'Yes.' };
    const ben = await bench.begin(project, 'ada-2');
    await ask(ben, '0', question());
    expect(await named()).toEqual([]);
  });

  test('is not shortened for where another one is only unavailable: that one is waited for', async () => {
    behaviour = refusing(400, { message: 'Too long.', code: 'context_length_exceeded' });
    otherBehaviour = { status: 503 };
    const { ada } = await start();
    expect(await ask(ada, '0', question())).toMatchObject({ status: 424, json: { code: 'provider-unavailable' } });
  });

  test('is named with its sentence where all do', async () => {
    behaviour = refusing(404, { message: 'quick-1 has been retired.' });
    otherBehaviour = refusing(400, { message: 'No field temperature here.' });
    const { project, ada } = await start();
    await ask(ada, '0', question());
    const [turn] = await rows<{ failure: string }>(project, 'SELECT failure_json AS failure FROM turn_attempts');
    expect(turn?.failure).toMatch(
      /preset spare: .*No field temperature here; .*Also asked: .*preset quick: .*quick-1 has been retired/,
    );
  });
});

describe('a provider that is away', () => {
  test('is passed over for the next in the list', async () => {
    behaviour = { status: 500 };
    const { project, ada } = await start();
    expect(said(await ask(ada, '0', question()))).toBe('From the other.');
    const [call] = await rows<{ preset: string; model: string }>(project, 'SELECT preset, model FROM model_calls');
    expect(call).toEqual({ preset: 'spare', model: 'scripted-1' });
    // It is not asked again for a while.
    await ask(ada, '1', question());
    expect(server.requests).toHaveLength(1);
  });

  test('ends the attempt when there is no other: the turn waits without a slot, and nothing is counted', async () => {
    behaviour = { status: 503 };
    otherBehaviour = { status: 429, headers: { 'retry-after': '7' } };
    const { project, ada } = await start();
    bench.testing.setNow(noon);
    expect(await ask(ada, '0', question())).toMatchObject({ status: 424, json: { code: 'provider-unavailable' } });
    const [turn] = await rows<{ status: string; not_before_ms: number; waits_for: string }>(
      project,
      'SELECT status, not_before_ms, waits_for FROM turns',
    );
    expect(turn?.status).toBe('queued');
    expect((turn?.not_before_ms ?? 0) - noon).toBeGreaterThan(4_000);
    expect(turn?.waits_for).toMatch(/^127\.0\.0\.1:\d+#[0-9a-f]{8}\/quick-1-2026$/);
    const [attempt] = await rows<{ counted: number; failure_json: string }>(
      project,
      'SELECT counted, failure_json FROM turn_attempts',
    );
    expect(attempt).toMatchObject({ counted: 0 });
    expect(attempt?.failure_json).toContain('the provider answered 503');
  });

  test.each([
    ['what it asks for', '120', 120_000],
    ['no longer than a quarter of an hour, whatever it asks for', '86400', 900_000],
  ])('is left alone for %s', async (_what, retryAfter, pauseMs) => {
    behaviour = { status: 503 };
    otherBehaviour = { status: 429, headers: { 'retry-after': retryAfter } };
    const { project, ada } = await start();
    bench.testing.setNow(noon);
    expect(await ask(ada, '0', question())).toMatchObject({ status: 424 });
    const { circuits } = bench.testing.cell.catalog;
    expect([...circuits.away(project).values()].map((until) => until - noon).sort()).toEqual([5_000, pauseMs].sort());
  });

  test('lets one call try it after a pause, and all when that went well', async () => {
    behaviour = { status: 500 };
    otherBehaviour = { status: 500 };
    const { project, ada } = await start();
    const ben = await bench.begin(project, 'ben');
    bench.testing.setNow(noon);
    await ask(ada, '0', question());
    const { circuits } = bench.testing.cell.catalog;
    expect(circuits.away(project).size).toBe(2);
    bench.testing.setNow(noon + 6_000);
    const [circuit = ''] = circuits.away(project).keys();
    const [first, ...others] = await Promise.all(
      Array.from({ length: 5 }, (_, n) => circuits.admit({ circuit, project, call: `call-${n}` }, 60_000)),
    );
    expect([first, ...others].filter((admission) => admission?.ask)).toHaveLength(1);
    otherBehaviour = { text: 'Back.' };
    expect(ben.answer.attempt).toBe(1);
  });

  test.each<[string, Behaviour, string, RegExp]>([
    ['a key that is refused', { status: 401 }, 'provider-key-rejected', /FIRST_KEY/],
    ['an unknown model', { status: 404 }, 'model-unknown', /"quick-1" of preset quick/],
    [
      'settings that are refused',
      { status: 400, body: { error: { message: 'bad' } } },
      'model-refused',
      /preset quick/,
    ],
  ])('is not %s: that fails the turn at once and says what to look at', async (_name, given, code, message) => {
    behaviour = given;
    otherBehaviour = given;
    const { project, ada } = await start();
    expect((await ask(ada, '0', question())).json.code).toBe('provider-refused');
    const [turn] = await rows<{ status: string; failure_json: string }>(
      project,
      'SELECT status, failure_json FROM turns',
    );
    expect(turn?.status).toBe('failed');
    const failure = JSON.parse(turn?.failure_json ?? '{}') as { code: string; message: string };
    expect(failure.code).toBe(code);
    expect(failure.message).toMatch(message);
    expect(failure.message).toMatch(/ Also asked: .*preset spare/);
  });

  test.each<[string, Behaviour]>([
    ['429', { status: 429, body: { error: { message: 'No credit.', code: 'insufficient_quota' } } }],
    ['402', { status: 402, body: { error: { message: 'No credit.' } } }],
    ['an error in its stream', { lines: [event({ error: { message: 'No credit.', type: 'insufficient_quota' } })] }],
  ])(
    'is not one whose account has nothing left (%s): the next is asked, and where none is left the turn fails',
    async (_name, given) => {
      behaviour = given;
      otherBehaviour = { text: 'From the other.' };
      const { project, ada } = await start();
      expect(said(await ask(ada, '0', question()))).toBe('From the other.');
      otherBehaviour = given;
      expect((await ask(ada, '1', question())).json.code).toBe('provider-refused');
      expect(bench.testing.cell.catalog.circuits.away(project).size).toBe(0);
      const [turn] = await rows<{ status: string; failure_json: string }>(
        project,
        'SELECT status, failure_json FROM turns',
      );
      expect(turn?.status).toBe('failed');
      const failure = JSON.parse(turn?.failure_json ?? '{}') as { code: string; message: string };
      expect(failure.code).toBe('provider-quota-spent');
      expect(failure.message).toMatch(/No credit; .*OTHER_KEY has nothing left; top it up/);
    },
  );

  test('is not a variable that is not set', async () => {
    await bench.close();
    await openWith({}, {});
    const { project, ada } = await start();
    await ask(ada, '0', question());
    const [turn] = await rows<{ failure_json: string }>(project, 'SELECT failure_json FROM turns');
    expect(turn?.failure_json).toContain('FIRST_KEY, which is not set');
    expect(server.requests).toHaveLength(0);
  });

  test('is not a conversation that is too long: the runner is told, and told the same again', async () => {
    behaviour = { status: 400, body: { error: { code: 'context_length_exceeded', message: 'too long' } } };
    otherBehaviour = behaviour;
    const { ada } = await start();
    expect(await ask(ada, '0', question())).toMatchObject({ status: 422, json: { code: 'context-overflow' } });
    expect(await ask(ada, '0', question())).toMatchObject({ status: 422, json: { code: 'context-overflow' } });
    expect(server.requests).toHaveLength(1);
  });
});

describe('what it costs', () => {
  test('is written down with the tokens, and told in an event', async () => {
    behaviour = { text: 'Yes.', usage: { input: 1_000, output: 500 } };
    const { project, ada } = await start();
    await ask(ada, '0', question());
    expect(await rows(project, 'SELECT * FROM agent_usage')).toEqual([
      { agent_id: 'ada', calls: 1, input_tokens: 1_000, output_tokens: 500, nano_usd: 2_000_000 },
    ]);
    const [answered] = await rows<{ data_json: string }>(
      project,
      `SELECT data_json FROM events WHERE type = 'model.answered'`,
    );
    expect(JSON.parse(answered?.data_json ?? '{}')).toMatchObject({
      preset: 'quick',
      inputTokens: 1_000,
      nanoUsd: 2_000_000,
    });
  });

  test('is estimated where the provider counts nothing', async () => {
    behaviour = { text: 'Yes.', usage: null };
    const { project, ada } = await start();
    await ask(ada, '0', question('x'.repeat(3_000)));
    const [call] = await rows<{ input_tokens: number; estimated: number }>(
      project,
      'SELECT input_tokens, estimated FROM model_calls',
    );
    expect(call?.estimated).toBe(1);
    expect(call?.input_tokens).toBeGreaterThan(1_000);
  });

  test.each([
    ['of the project in tokens', 'budget: { tokens: 90 }\n', /The project's budget of 90 tokens/],
    ['of the project in dollars', 'budget: { usd: 0.0001 }\n', /The project's budget of \$0\.00010/],
  ])('stays within a budget %s: the call is not made, and the turn says why', async (_name, extra, message) => {
    const { project, ada } = await start(extra);
    expect(await ask(ada, '0', question())).toMatchObject({ status: 402, json: { code: 'budget-reached' } });
    expect(server.requests).toHaveLength(0);
    const [turn] = await rows<{ failure_json: string }>(project, 'SELECT failure_json FROM turns');
    expect(turn?.failure_json).toContain('budget-reached');
    expect(turn?.failure_json).toMatch(message);
    expect(await rows(project, `SELECT 1 FROM events WHERE type = 'budget.reached'`)).toHaveLength(1);
  });

  test('is bounded for the whole cell and day', async () => {
    await bench.close();
    await openWith({ budgetUsdPerDay: 0.05 }, { FIRST_KEY: 'k' });
    behaviour = { text: 'Yes.', usage: { input: 40_000, output: 10 } };
    const { ada } = await start();
    expect(said(await ask(ada, '0', question()))).toBe('Yes.');
    expect(await ask(ada, '1', question())).toMatchObject({ status: 402, json: { code: 'budget-reached' } });
    expect(server.requests).toHaveLength(1);
    expect(bench.testing.cell.catalog.spending.today()).toMatchObject({ spentNanoUsd: 40_020_000, heldNanoUsd: 0 });
  });

  test('is nothing that nobody knows, where the day has a budget: a preset needs its price', async () => {
    await bench.close();
    await openWith({ budgetUsdPerDay: 5 }, { FIRST_KEY: 'k', OTHER_KEY: 'k' });
    const project = await bench.testing.create(yaml().replace(', price: { input: 3, output: 4 }', ''));
    const ben = await bench.begin(project, 'ben');
    const answer = await ask(ben, '0', question());
    expect(answer).toMatchObject({ status: 403, json: { code: 'policy-denied' } });
    expect(answer.json.detail).toMatch(/Preset spare cannot be used: .* has no price/);
    expect(other.requests).toHaveLength(0);
  });

  test("stays within the day's budget that two projects race for", async () => {
    await bench.close();
    await openWith({ budgetUsdPerDay: 0.003 }, { FIRST_KEY: 'k' });
    behaviour = { text: 'Yes.', usage: { input: 10, output: 100 }, delayMs: 50 };
    const racing = (name: string) =>
      yaml()
        .replace('name: thinkers', `name: ${name}`)
        .replace('agents:\n', 'agents:\n  racer: { role: racer, prompt: Race., model: quick, count: 15 }\n');
    const racers = [];
    for (const name of ['north', 'south']) {
      const project = await bench.testing.create(racing(name));
      for (let n = 1; n <= 15; n += 1) racers.push(await bench.begin(project, `racer-${n}`));
    }
    const answers = await Promise.all(racers.map((racer) => ask(racer, '0', question())));
    const answered = answers.filter(({ status }) => status === 200).length;
    expect(answered).toBeGreaterThan(5);
    expect(answered).toBeLessThan(30);
    expect(answers.filter(({ json }) => json.code === 'budget-reached')).toHaveLength(30 - answered);
    expect(server.requests).toHaveLength(answered);
    const { spentNanoUsd, heldNanoUsd } = bench.testing.cell.catalog.spending.today();
    expect({ spentNanoUsd, heldNanoUsd }).toEqual({ spentNanoUsd: answered * 210_000, heldNanoUsd: 0 });
    expect(spentNanoUsd).toBeLessThanOrEqual(3_000_000);
  });

  test('has a worst case, because a budget bounds the answer of a preset that does not', async () => {
    const { project } = await start('budget: { usd: 1 }\n');
    const ben = await bench.begin(project, 'ben');
    await ask(ben, '0', question());
    expect(other.requests[0]?.body).toMatchObject({ max_tokens: 8_192 });
  });

  test('stays within one budget that fifty agents race for', async () => {
    behaviour = { text: 'Yes.', usage: { input: 10, output: 100 }, delayMs: 50 };
    // Each may cost 100 tokens out and what the question has, at the most.
    const budget = 2_000;
    const project = await bench.testing.create(
      yaml(`budget: { tokens: ${budget} }\n`).replace(
        'agents:\n',
        'agents:\n  racer: { role: racer, prompt: Race., model: quick, count: 50 }\n',
      ),
    );
    const racers = [];
    for (let n = 1; n <= 50; n += 1) racers.push(await bench.begin(project, `racer-${n}`));
    const answers = await Promise.all(racers.map((racer) => ask(racer, '0', question())));
    const answered = answers.filter(({ status }) => status === 200).length;
    expect(answered).toBeGreaterThan(5);
    expect(answers.filter(({ json }) => json.code === 'budget-reached')).toHaveLength(50 - answered);
    const [used] = await rows<{ tokens: number }>(
      project,
      'SELECT sum(input_tokens + output_tokens) AS tokens FROM agent_usage',
    );
    expect(used?.tokens).toBe(answered * 110);
    expect(used?.tokens).toBeLessThanOrEqual(budget);
    expect(server.requests).toHaveLength(answered);
  });

  test('stops at turn.maxSteps', async () => {
    const { project, ada } = await start('turn: { maxSteps: 2 }\n');
    for (const step of ['0', '1']) await ask(ada, step, question());
    expect(await ask(ada, '2', question())).toMatchObject({ status: 429, json: { code: 'step-limit-reached' } });
    const [turn] = await rows<{ failure_json: string }>(project, 'SELECT failure_json FROM turns');
    expect(turn?.failure_json).toContain('step-limit');
  });
});
