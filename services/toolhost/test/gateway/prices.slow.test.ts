import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { ModelPrice } from '@suzumio/contract/model/models-config';
import type { Policy } from '@suzumio/core/policy/policy';
import { noon } from '../../../../test/support/cell.js';
import type { Reply } from '../../../../test/support/reply.js';
import { type ModelServer, startModelServer } from '../../../../test/support/model-server.js';
import { allowing, type ToolhostBench, toolhostBench } from '../toolhost-client.js';

type AllowedProvider = Policy['providers'][number];

/** A call comes to $0.01 where it is counted by this. */
const dear = { input: 1, output: 9 };
let usage: NonNullable<Reply['usage']>;

let server: ModelServer;
let bench: ToolhostBench | undefined;

beforeEach(async () => {
  usage = { input: 1_000, output: 1_000 };
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
  questions = 1,
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
  const question = { messages: [{ role: 'user', content: 'Well?' }] };
  for (let asked = 1; asked < questions; asked++) await attempt.ask(question);
  const response = await attempt.ask(question);
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

const listed = (price?: ModelPrice) => ({
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

test('twenty questions of which nineteen tokens in twenty are cached cost what their provider bills', async () => {
  usage = { input: 100_000, output: 100, prompt_tokens_details: { cached_tokens: 95_000 } };
  const price = { input: 1.05, cached: 0.105, cacheWrite: 1.3, output: 5.25 };
  const { input, cached, output } = price;
  const own = `, price: { input: ${input}, cached: ${cached}, output: ${output} }`;
  const { status, spentUsd } = await ask(own, listed(price), 2, 20);
  expect({ status, spentUsd }).toEqual({ status: 200, spentUsd: 0.315 });
  const calls = await bench?.testing.rows('spenders', 'SELECT sum(cached_tokens) AS cached FROM model_calls');
  expect(calls).toEqual([{ cached: 1_900_000 }]);
});

test.each<[string, string, ModelPrice | undefined, number]>([
  ['that only the project names', ', price: { input: 100, cached: 10, cacheWrite: 125, output: 0 }', undefined, 0.051],
  ['that the project leaves out, as its input', ', price: { input: 100, output: 0 }', undefined, 0.1],
  ['of the policy, over a lower one', ', price: { input: 0, cached: 0, output: 0 }', { ...dear, cached: 90 }, 0.0634],
  ['of the project, over a lower one', ', price: { input: 1, cached: 90, output: 9 }', { ...dear, cached: 0 }, 0.0634],
  ['that the policy leaves out, as its input', ', price: { input: 0, cached: 0, output: 0 }', dear, 0.01],
  [
    'that the project leaves out, as the policy has it',
    ', price: { input: 100, output: 0 }',
    { ...dear, cached: 0 },
    0.0292,
  ],
  ['that the policy alone names', '', { ...dear, cached: 0, cacheWrite: 0 }, 0.0092],
  ['that is free', ', price: { input: 100, cached: 0, cacheWrite: 0, output: 0 }', undefined, 0.02],
])('cached tokens have a price %s', async (_name, own, price, usd) => {
  usage = { ...usage, prompt_tokens_details: { cached_tokens: 600, cache_write_tokens: 200 } };
  expect(await ask(own, price ? listed(price) : {})).toMatchObject({ status: 200, calledUsd: usd });
});

test.each(['cached', 'cacheWrite'])('the dearest price is reserved, be it %s', async (which) => {
  const asked = await ask('', listed({ ...dear, [which]: 100_000 }), 0.1);
  expect(asked).toMatchObject({ status: 402, code: 'budget-reached' });
  expect(server.requests).toHaveLength(0);
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
