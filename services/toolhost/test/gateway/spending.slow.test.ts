import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { stepHeader } from '@suzumio/protocol/model-chat';
import { budgetsReached } from '@suzumio/store/budgets/read-budgets';
import { usageSlices } from '@suzumio/store/models/model-usage';
import { readAgent } from '@suzumio/store/projects/agents';
import { readProjectFacts } from '@suzumio/store/projects/why';
import { deliverableTurns } from '@suzumio/store/turns/deliver-turn';
import { postMessage } from '@suzumio/store/mail/post-message';
import { agentsToStart } from '@suzumio/store/turns/start-turns';
import { whyAnswerOf } from '@suzumio/core/why/reasons';
import { noon } from '../../../../test/support/cell.js';
import { type Behaviour, event, type ModelServer, startModelServer } from '../../../../test/support/model-server.js';
import { eventually } from '../../../../test/support/poll.js';
import { allowing, type Begun, type ToolhostBench, toolhostBench } from '../toolhost-client.js';

let server: ModelServer;
let other: ModelServer;
let bench: ToolhostBench;
let behaviour: Behaviour;

beforeEach(async () => {
  behaviour = { text: 'Yes.', usage: { input: 10, output: 100 }, delayMs: 50 };
  server = await startModelServer(() => behaviour);
  other = await startModelServer(() => ({ text: 'From the other.' }));
});
afterEach(async () => {
  await bench.close();
  await Promise.all([server.close(), other.close()]);
});

async function open(budgetUsdPerDay?: number): Promise<void> {
  const policy = allowing({ baseURL: server.baseURL, ownPrices: true }, { baseURL: other.baseURL, ownPrices: true });
  const budget = budgetUsdPerDay === undefined ? {} : { budgetUsdPerDay };
  bench = await toolhostBench({ ...policy, ...budget }, {}, { startMs: noon });
}

/** An answer of 100 tokens costs $0.0002, and a question that it has to be held back for not much more. */
const yaml = (extra = '', provider = '') => `
name: spenders
task: Spend.
${extra}
backend:
  runner:
    mode: ai
    model: quick
    models:
      providers:
        one: { type: openai-compatible, baseURL: "${server.baseURL}"${provider} }
        two: { type: openai-compatible, baseURL: "${other.baseURL}" }
      presets:
        quick: { provider: one, model: quick-1, maxOutputTokens: 100, price: { input: 1, output: 2 } }
        spare: { provider: two, model: spare-1, maxOutputTokens: 100, price: { input: 1, output: 2 } }
        both: { model-list: [quick, spare] }
agents:
  worker: { role: worker, prompt: Work., tools: [], count: 20 }
  both: { role: worker, prompt: Work., tools: [], model: both }
`;

interface Asked {
  status: number;
  json: { code?: string; detail?: string };
}

async function ask(attempt: Begun, step: string | undefined = '0', text = 'Well?'): Promise<Asked> {
  const response = await attempt.ask({ messages: [{ role: 'user', content: text }] }, { [stepHeader]: step });
  return { status: response.status, json: (await response.json()) as Asked['json'] };
}

const rows = <Row>(project: string, sql: string) => bench.testing.rows<Row>(project, sql);
const used = async (project: string) =>
  (
    await rows<{ tokens: number; nano: number }>(
      project,
      'SELECT sum(input_tokens + output_tokens) AS tokens, sum(nano_usd) AS nano FROM agent_usage',
    )
  )[0];

describe('what other calls hold back', () => {
  test('of a day is waited for: nobody fails for it, and the day is kept', async () => {
    // Room for five at a time; all twenty together cost less.
    await open(0.006);
    const project = await bench.testing.create(yaml());
    const all = [];
    for (let n = 1; n <= 20; n += 1) all.push(await bench.begin(project, `worker-${n}`));
    behaviour = { text: 'Yes.', usage: { input: 10, output: 100 }, delayMs: 300 };
    const answered = Promise.withResolvers<Behaviour>();
    server.answers = () => answered.promise;
    const limit = await bench.testing.cell.catalog.spending.hold(
      'somebody',
      4_000_000,
      6_000_000,
      bench.testing.cell.context.now() + 600_000,
    );
    expect(limit).toBeUndefined();
    const answers = Promise.all(all.map((one) => ask(one)));
    await eventually('some are asked', () => server.requests.length > 3);
    expect(server.requests.length).toBeLessThan(10);
    server.answers = () => behaviour;
    answered.resolve(behaviour);
    await bench.testing.cell.catalog.spending.settle('somebody', 0);
    expect((await answers).map(({ status }) => status)).toEqual(all.map(() => 200));
    expect(bench.testing.cell.catalog.spending.today()).toMatchObject({
      spentNanoUsd: 20 * 210_000,
      heldNanoUsd: 0,
    });
  });

  test('of a project’s budget is waited for', async () => {
    await open();
    const project = await bench.testing.create(yaml('budget: { tokens: 2300 }'));
    const all = [];
    for (let n = 1; n <= 20; n += 1) all.push(await bench.begin(project, `worker-${n}`));
    behaviour = { text: 'Yes.', usage: { input: 10, output: 90 }, delayMs: 200 };
    const answers = await Promise.all(all.map((one) => ask(one)));
    expect(answers.map(({ status }) => status)).toEqual(all.map(() => 200));
    expect((await used(project))?.tokens).toBe(2_000);
  });

  test('is not waited for by an attempt that has ended', async () => {
    await open(0.006);
    const project = await bench.testing.create(yaml());
    const one = await bench.begin(project, 'worker-1');
    await bench.testing.cell.catalog.spending.hold(
      'somebody',
      6_000_000,
      6_000_000,
      bench.testing.cell.context.now() + 60_000,
    );
    const answer = ask(one);
    await eventually('it has begun', async () => (await rows(project, 'SELECT 1 FROM model_calls')).length === 1);
    await one.report('fail', { failure: { code: 'non-zero-exit', message: 'Gone.' } });
    expect((await answer).status).toBe(401);
    expect(await rows(project, 'SELECT status, nano_usd FROM model_calls')).toEqual([
      { status: 'failed', nano_usd: 0 },
    ]);
  });
});

describe('a day that is spent', () => {
  const facts = (project: string, agent: string) =>
    bench.testing.store(project, ({ reader, config }) => {
      const nowMs = bench.testing.cell.context.now();
      const { spending } = bench.testing.cell.catalog;
      const around = bench.testing.cell.catalog.factsFor(project);
      const why = whyAnswerOf(
        readProjectFacts(reader, config, readAgent(reader, agent), { nowMs, storageReached: [] }),
        { id: 'x', ...around, fleet: null },
        nowMs,
      );
      const day = spending.budget;
      const away = new Map(day ? [[day.gate, day.endsMs]] : []);
      return {
        codes: why.reasons.map(({ code }) => code),
        sentence: why.reasons[0]?.sentence,
        starting: agentsToStart(reader, config, { day }).map((one) => one.agent),
        reached: budgetsReached(reader, config, day),
        wanting: deliverableTurns(reader, nowMs, away).map(({ turn }) => turn),
      };
    });

  test('fails no turn: it waits for the next, or for a larger budget', async () => {
    await open(0.001);
    const project = await bench.testing.create(yaml());
    await bench.testing.cell.catalog.spending.spend(750_000);
    const one = await bench.begin(project, 'worker-1');
    // Its longest answer still fits, with nothing of this question.
    const long = 'x'.repeat(300);
    expect(await ask(one, '0', long)).toMatchObject({ status: 402, json: { code: 'budget-reached' } });
    expect(server.requests).toHaveLength(0);
    const [turn] = await rows<{ status: string }>(project, 'SELECT status FROM turns');
    expect(turn?.status).toBe('queued');
    expect(await rows(project, 'SELECT counted FROM turn_attempts')).toEqual([{ counted: 0 }]);
    bench.testing.setNow(noon + 120_000);
    const waiting = await facts(project, 'worker-1');
    expect(waiting).toMatchObject({ wanting: [], codes: expect.arrayContaining(['day-budget-reached']) });
    expect(waiting.sentence).toContain('$0.0010, is reached: $0.00075 is spent');
    expect(waiting.reached).toMatchObject([{ agent: 'worker-1' }]);

    await bench.testing.cell.catalog.spending.limitTo(2_000_000);
    expect((await facts(project, 'worker-1')).wanting).toEqual([one.turn]);
    await bench.testing.cell.catalog.spending.limitTo(1_000_000);
    expect((await facts(project, 'worker-1')).wanting).toEqual([]);
    bench.testing.setNow(Date.UTC(2026, 10, 23));
    expect((await facts(project, 'worker-1')).wanting).toEqual([one.turn]);
    expect((await bench.claim(project, one.turn)).status).toBe(200);
  });

  test('begins no turn of whoever could ask nothing any more, and says so', async () => {
    await open(0.001);
    const project = await bench.testing.create(yaml());
    await bench.testing.write(project, (tx) =>
      postMessage(tx, { sender: 'user', recipient: 'worker-1', priority: 'P1', body: 'Go.', actor: 'test' }),
    );
    expect((await facts(project, 'worker-1')).starting).toEqual(['worker-1']);
    await bench.testing.cell.catalog.spending.spend(900_000);
    const spent = await facts(project, 'worker-1');
    expect(spent).toMatchObject({ starting: [], reached: [{ agent: null, limit: 'usd' }] });
    expect(spent.codes).toContain('day-budget-reached');
    expect(spent.sentence).toMatch(/^No turn begins: The day's budget of all projects, \$0\.0010, is reached/);
  });

  test('is not what a call has that no day has room for: that fails', async () => {
    await open(0.0001);
    const project = await bench.testing.create(yaml());
    const one = await bench.begin(project, 'worker-1');
    const answer = await ask(one);
    expect(answer).toMatchObject({ status: 402, json: { code: 'budget-reached' } });
    expect(answer.json.detail).toContain('on any day');
    expect(await rows(project, 'SELECT status FROM turns')).toEqual([{ status: 'failed' }]);
  });
});

describe('a call that ends half way', () => {
  const half = (chars: number) => ({
    lines: [event({ choices: [{ index: 0, delta: { content: 'x'.repeat(chars) } }] })],
    cut: true,
  });
  const calls = (project: string) =>
    rows<{ status: string; output_tokens: number; nano_usd: number; estimated: number }>(
      project,
      'SELECT status, output_tokens, nano_usd, estimated FROM model_calls ORDER BY seq',
    );

  test('is paid for: what it said and was asked is estimated, in the call, the agent’s use, the usage and the day', async () => {
    await open(1);
    const project = await bench.testing.create(yaml());
    behaviour = half(3_000);
    expect((await ask(await bench.begin(project, 'worker-1'))).status).toBe(424);
    const [call] = await calls(project);
    expect(call).toMatchObject({ status: 'failed', output_tokens: 1_000, estimated: 1 });
    expect(call?.nano_usd).toBeGreaterThan(2_000_000);
    expect((await used(project))?.nano).toBe(call?.nano_usd);
    expect(bench.testing.cell.catalog.spending.today()).toMatchObject({
      spentNanoUsd: call?.nano_usd,
      heldNanoUsd: 0,
    });
    await bench.testing.store(project, ({ reader }) => {
      expect([...usageSlices(reader, ['model'], {})].flat()).toMatchObject([
        { key: 'quick-1', calls: 1, output: 1_000 },
      ]);
    });
  });

  test('is paid for where the provider took too long for it', async () => {
    await open();
    const project = await bench.testing.create(yaml('', ', timeoutMs: 1s'));
    behaviour = { silent: true };
    expect((await ask(await bench.begin(project, 'worker-1'))).status).toBe(424);
    const [call] = await calls(project);
    expect(call).toMatchObject({ status: 'failed', output_tokens: 0, estimated: 1 });
    expect(call?.nano_usd).toBeGreaterThan(0);
  });

  test.each<[string, Behaviour]>([
    ['that is refused', { status: 400, body: { error: { message: 'bad' } } }],
    ['of a provider that is overloaded', { status: 503 }],
    ['of one that gives no answer', { lines: ['data: [DONE]\n'] }],
  ])('is not one %s: that costs nothing', async (_name, given) => {
    await open(1);
    const project = await bench.testing.create(yaml());
    behaviour = given;
    await ask(await bench.begin(project, 'worker-1'));
    expect(await calls(project)).toMatchObject([{ status: 'failed', nano_usd: 0, estimated: 0 }]);
    expect(bench.testing.cell.catalog.spending.today()).toMatchObject({ spentNanoUsd: 0, heldNanoUsd: 0 });
  });

  test('leaves the next of a list what is left of the budget, and no more', async () => {
    await open();
    const project = await bench.testing.create(yaml('budget: { usd: 0.001 }'));
    behaviour = half(900);
    const asked = await ask(await bench.begin(project, 'both'));
    expect(asked).toMatchObject({ status: 200 });
    expect(await calls(project)).toMatchObject([{ status: 'answered', output_tokens: 305, estimated: 1 }]);
    const other2 = await bench.testing.create(
      yaml('budget: { usd: 0.0007 }').replace('name: spenders', 'name: spenders-2'),
    );
    bench.testing.setNow(noon + 60_000);
    const before = other.requests.length;
    const refused = await ask(await bench.begin(other2, 'both'));
    expect(refused).toMatchObject({ status: 402, json: { code: 'budget-reached' } });
    expect(other.requests.length).toBe(before);
  });

  test('because its process died is paid for when that is found', async () => {
    await open(1);
    const project = await bench.testing.create(yaml());
    const one = await bench.begin(project, 'worker-1');
    behaviour = { silent: true };
    const gone = ask(one).catch(() => undefined);
    await eventually('it is asked', () => server.requests.length === 1);
    // As if nothing more were heard of who asks.
    await bench.testing.write(project, (tx) => tx.run('UPDATE model_calls SET until_ms = 1'));
    behaviour = { text: 'Yes.', usage: { input: 10, output: 5 } };
    expect((await ask(one)).status).toBe(200);
    const [lost, answered] = await calls(project);
    expect(lost).toMatchObject({ status: 'lost', estimated: 1 });
    expect(lost?.nano_usd).toBeGreaterThan(0);
    expect((await used(project))?.nano).toBe((lost?.nano_usd ?? 0) + (answered?.nano_usd ?? 0));
    expect(bench.testing.cell.catalog.spending.today().spentNanoUsd).toBe((await used(project))?.nano);
    await server.close();
    await gone;
  });
});
