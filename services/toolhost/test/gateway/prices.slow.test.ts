import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Policy } from '@suzumio/core/policy/policy';
import { noon } from '../../../../test/support/cell.js';
import { type ModelServer, startModelServer } from '../../../../test/support/model-server.js';
import { allowing, type ToolhostBench, toolhostBench } from '../toolhost-client.js';

type AllowedProvider = Policy['providers'][number];

/** A call comes to $0.01 where it is counted by this. */
const dear = { input: 1, output: 9 };
const usage = { input: 1_000, output: 1_000 };

let server: ModelServer;
let bench: ToolhostBench | undefined;

beforeEach(async () => {
  server = await startModelServer(() => ({ text: 'Yes.', usage }));
});
afterEach(async () => {
  await bench?.close();
  bench = undefined;
  await server.close();
});

async function ask(
  price: string,
  rules: Omit<AllowedProvider, 'baseURL'>,
  budgetUsdPerDay?: number,
): Promise<{ status: number; code?: string; detail?: string; spentUsd: number; calledUsd: number }> {
  const budget = budgetUsdPerDay === undefined ? {} : { budgetUsdPerDay };
  bench = await toolhostBench({ ...allowing({ baseURL: server.baseURL, ...rules }), ...budget }, {}, { startMs: noon });
  const project = await bench.testing.create(`
name: spenders
task: Spend.
backend:
  runner:
    mode: ai
    model: main
    models:
      providers: { one: { type: openai-compatible, baseURL: "${server.baseURL}" } }
      presets: { main: { provider: one, model: mine, apiModel: vendor/large-1, maxOutputTokens: 1000${price} } }
agents:
  ada: { role: thinker, prompt: Think. }
`);
  const attempt = await bench.begin(project, 'ada');
  const response = await attempt.ask({ messages: [{ role: 'user', content: 'Well?' }] });
  const { code, detail } = (await response.json()) as { code?: string; detail?: string };
  const [call] = await bench.testing.rows<{ nano_usd: number }>(project, 'SELECT nano_usd FROM model_calls');
  return {
    status: response.status,
    ...(code === undefined ? {} : { code }),
    ...(detail === undefined ? {} : { detail }),
    spentUsd: bench.testing.cell.catalog.spending.today().spentNanoUsd / 1e9,
    calledUsd: (call?.nano_usd ?? 0) / 1e9,
  };
}

const listed = (price?: { input: number; output: number }) => ({
  models: [{ name: 'vendor/*', ...(price ? { price } : {}) }],
});

test.each([
  ['that costs nothing', ', price: { input: 0, output: 0 }', 0.01],
  ['that is lower', ', price: { input: 0.5, output: 1 }', 0.01],
  ['that is not there', '', 0.01],
  ['that is higher, for what it is higher', ', price: { input: 2, output: 1 }', 0.011],
])('a price of the policy is counted instead of one of the project %s', async (_name, own, usd) => {
  const asked = await ask(own, listed(dear), 1);
  expect(asked).toMatchObject({ status: 200, spentUsd: usd, calledUsd: usd });
});

test('the budget of the day holds by the policy’s price, whatever the project says that a model costs', async () => {
  const asked = await ask(', price: { input: 0, output: 0 }', listed(dear), 0.005);
  expect(asked).toMatchObject({ status: 402, code: 'budget-reached' });
  expect(server.requests).toHaveLength(0);
});

test.each<[string, string, Omit<AllowedProvider, 'baseURL'>, RegExp]>([
  [
    'its project gives a price for',
    ', price: { input: 0, output: 0 }',
    {},
    /the policy gives vendor\/large-1 no price/,
  ],
  ['the policy lists without a price', ', price: { input: 1, output: 1 }', listed(), /no price.*ownPrices: true/],
  ['has no price where projects are believed', '', { ownPrices: true }, /vendor\/large-1 has no price/],
])('a model that %s is not asked where the day has a budget', async (_name, own, rules, why) => {
  const asked = await ask(own, rules, 1);
  expect(asked).toMatchObject({ status: 403, code: 'policy-denied' });
  expect(asked.detail).toMatch(why);
  expect(server.requests).toHaveLength(0);
});

test('a project is believed where the policy says so', async () => {
  expect(await ask(', price: { input: 1, output: 1 }', { ownPrices: true }, 1)).toMatchObject({ spentUsd: 0.002 });
});

test('without a budget of the day a model needs no price, and has the one of its project', async () => {
  expect(await ask(', price: { input: 1, output: 1 }', {})).toMatchObject({ status: 200, calledUsd: 0.002 });
});

test('a model that is not among those of its provider is not asked, by whatever name the file has for it', async () => {
  const asked = await ask('', { models: [{ name: 'mine' }] });
  expect(asked).toMatchObject({ status: 403, code: 'policy-denied' });
  expect(asked.detail).toContain('the model vendor/large-1 is not among those that are asked there');
  expect(server.requests).toHaveLength(0);
});
