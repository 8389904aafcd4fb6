import { describe, expect, test } from '@jest/globals';
import { StoredSum } from '@suzumio/store/content/storage';
import { defaultStorageLimits } from '@suzumio/contract/model/storage';
import { budgetsReached, listBudgets } from '@suzumio/store/budgets/read-budgets';
import { UsageSum, usageSlices } from '@suzumio/store/models/model-usage';
import { listModelCalls } from '@suzumio/store/turns/list-model-calls';
import { readProject } from '@suzumio/store/projects/read-project';
import { exhaustedBudget } from '@suzumio/store/budgets/usage';
import { changeBudget } from '@suzumio/store/budgets/change-budget';
import { beginModelCall } from '@suzumio/store/models/begin-model-call';
import { recordModelAnswer } from '@suzumio/store/models/record-model-answer';
import { type Begun, hashes, refusedAs, start, type Team, teams } from '../team.js';

const team = teams();

const yaml = (budget: string, price = 'price: { input: 1, output: 2 }') => `
name: thinkers
task: Think.
backend:
  runner:
    mode: ai
    model: only
    models:
      providers: { one: { type: openai-compatible, baseURL: "http://127.0.0.1:9/v1" } }
      presets: { only: { provider: one, model: m${price === '' ? '' : `, ${price}`} } }
${budget}
agents:
  ada: { role: thinker, prompt: Think. }
  ben: { role: thinker, prompt: Think., budget: { tokens: 1000 } }
`;

/** A call of a model, from the question to its answer. */
async function think(
  of: Team,
  begun: Begun,
  use: { input: number; output: number; cached?: number; usd: number; model?: string },
) {
  const step = String(of.rows(`SELECT 1 FROM model_calls WHERE turn_id = '${begun.turn}'`).length);
  const question = {
    ...begun,
    tokenHash: hashes(begun.attempt).tool,
    step,
    requestHash: 'h',
    purpose: 'turn' as const,
    preset: 'only',
    worst: { tokens: 1, nanoUsd: 1 },
    sent: {
      preset: 'only',
      model: 'm',
      cost: { tokens: 0, nanoUsd: 0 },
      inputTokens: 0,
      outputTokens: 0,
      estimated: true,
    },
  };
  await of.write((tx) => {
    const asked = beginModelCall(tx, question, { owner: 'o', untilMs: of.nowMs + 1000 });
    if (asked.state !== 'begun') throw new Error(JSON.stringify(asked));
    const [inputTokens, outputTokens] = [use.input, use.output];
    const cost = { tokens: inputTokens + outputTokens, nanoUsd: use.usd * 1e9 };
    const by = { preset: 'only', provider: 'one', model: use.model ?? 'm', cost, inputTokens, outputTokens };
    recordModelAnswer(
      tx,
      asked.call,
      { text: 'Well.', toolCalls: [], finishReason: 'stop' },
      {
        ...by,
        cachedTokens: use.cached,
        estimated: use.model === 'guessed',
      },
    );
  });
}

describe('a budget that an operator changes', () => {
  test('lets agents go on that it had kept from turns, and says what is left', async () => {
    const of = await team(yaml('budget: { usd: 1 }'));
    const begun = await of.work('ada');
    await think(of, begun, { input: 10, output: 5, usd: 1 });
    await of.complete(begun);
    await of.mail('ada');
    expect(await of.schedule()).toEqual([]);
    expect(budgetsReached(of.store.reader, of.store.config)).toEqual([
      { agent: null, limit: 'usd', message: "The project's budget of $1.00 is reached: $1.00 is spent." },
    ]);
    await of.write((tx) => changeBudget(tx, undefined, { usd: 3 }, 'ann'));
    expect(await of.schedule()).toHaveLength(1);
    expect(budgetsReached(of.store.reader, of.store.config)).toEqual([]);
    expect(listBudgets(of.store.reader, of.store.config)).toEqual([
      {
        agent: null,
        tokens: { limit: null, used: 15 },
        usd: { limit: 3, used: 1 },
        turns: { limit: null, used: 2 },
      },
      {
        agent: 'ben',
        tokens: { limit: 1000, used: 0 },
        usd: { limit: null, used: 0 },
        turns: { limit: null, used: 0 },
      },
    ]);
    expect(of.events()).toContain('budget.changed');
  });

  test('bounds calls from then on, keeps what is not named, and is lifted', async () => {
    const of = await team(yaml(''));
    const worst = { tokens: 500, nanoUsd: 5e8 };
    const exhausted = (agent: string) => of.write((tx) => exhaustedBudget(tx, agent, worst)?.limit);
    expect(await exhausted('ada')).toBeUndefined();
    await of.write((tx) => changeBudget(tx, 'ada', { tokens: 499 }, 'ann'));
    expect(await exhausted('ada')).toBe('tokens');
    await of.write((tx) => changeBudget(tx, 'ada', { tokens: 'unlimited', usd: 0.1 }, 'ann'));
    expect(await exhausted('ada')).toBe('usd');
    await of.write((tx) => changeBudget(tx, 'ada', { usd: 'unlimited' }, 'ann'));
    expect(await exhausted('ada')).toBeUndefined();
    await of.write((tx) => changeBudget(tx, 'ben', { turns: 9 }, 'ann'));
    expect(listBudgets(of.store.reader, of.store.config).find(({ agent }) => agent === 'ben')).toMatchObject({
      tokens: { limit: 1000 },
      turns: { limit: 9 },
    });
  });

  test('is refused for dollars that cannot be counted, and for nobody', async () => {
    const of = await team(yaml('', ''));
    await expect(of.write((tx) => changeBudget(tx, undefined, { usd: 1 }, 'ann'))).rejects.toMatchObject(
      refusedAs('budget-refused'),
    );
    await expect(of.write((tx) => changeBudget(tx, 'zoe', { turns: 1 }, 'ann'))).rejects.toMatchObject(
      refusedAs('agent-unknown'),
    );
    await of.write((tx) => changeBudget(tx, undefined, { turns: 1, usd: 'unlimited' }, 'ann'));
  });
});

describe('what models were asked', () => {
  async function used(): Promise<{ of: Team; turn: string }> {
    const of = await team(yaml(''));
    const ada = await of.work('ada');
    await think(of, ada, { input: 100, output: 20, cached: 90, usd: 0.5 });
    await think(of, ada, { input: 50, output: 30, usd: 0, model: 'guessed' });
    const ben = await of.work('ben');
    of.advance(4 * 3_600_000);
    await think(of, ben, { input: 1, output: 1, usd: 2 });
    return { of, turn: ada.turn };
  }
  const sum = (of: Team, by: 'project' | 'agent' | 'model' | 'day', span = {}) => {
    const added = new UsageSum([by]);
    added.add('thinkers', [...usageSlices(of.store.reader, [by], span)].flat());
    added.add('others', by === 'project' ? [...usageSlices(of.store.reader, [by], span)].flat() : []);
    return added.answer(null, new StoredSum(defaultStorageLimits).view(false, undefined));
  };

  test.each([
    [
      'project',
      [
        ['thinkers', 'thinkers', 3, 2.5],
        ['others', 'others', 3, 2.5],
      ],
    ],
    [
      'agent',
      [
        ['thinkers', 'ben', 1, 2],
        ['thinkers', 'ada', 2, 0.5],
      ],
    ],
    [
      'model',
      [
        [null, 'm', 2, 2.5],
        [null, 'guessed', 1, 0],
      ],
    ],
    [
      'day',
      [
        [null, '2026-11-21', 2, 0.5],
        [null, '2026-11-22', 1, 2],
      ],
    ],
  ] as const)('is added up by %s', async (by, expected) => {
    const { of } = await used();
    const { items } = sum(of, by);
    expect(items.map(({ project, key, calls, costUsd }) => [project, key, calls, costUsd])).toEqual(expected);
  });

  test('says which part was estimated, and all of it', async () => {
    const { of } = await used();
    const { items, total } = sum(of, 'model');
    expect(items.map(({ estimatedShare }) => estimatedShare)).toEqual([0, 1]);
    expect(total).toEqual({
      calls: 3,
      inputTokens: 151,
      outputTokens: 51,
      cachedTokens: 90,
      costUsd: 2.5,
      estimatedShare: 80 / 202,
    });
    expect(readProject(of.store.reader)).toMatchObject({ tokens: 202, costUsd: 2.5 });
  });

  test('counts only what ended in the time that is asked for', async () => {
    const { of } = await used();
    expect(sum(of, 'agent', { fromMs: start + 1 }).items).toMatchObject([{ key: 'ben' }]);
    expect(sum(of, 'agent', { toMs: start + 1 }).items).toMatchObject([{ key: 'ada' }]);
    expect(sum(of, 'agent', { toMs: start }).items).toEqual([]);
  });

  test('is listed for a turn, call by call', async () => {
    const { of, turn } = await used();
    expect(listModelCalls(of.store.reader, turn)).toMatchObject([
      { step: '0', preset: 'only', provider: 'one', model: 'm', status: 'answered', costUsd: 0.5, cachedTokens: 90 },
      { step: '1', inputTokens: 50, outputTokens: 30, estimated: true, endedAt: '2026-11-21T20:00:00.000Z' },
    ]);
  });
});
