import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { exhaustedBudget, spentBudget } from '@suzumio/store/budgets/usage';
import { postMessage } from '@suzumio/store/mail/post-message';
import { startTurns } from '@suzumio/store/turns/start-turns';
import { type TestCell, testCell } from '../../../../test/support/cell.js';

let testing: TestCell;

beforeEach(async () => {
  testing = await testCell();
});
afterEach(() => testing.close());

const create = (own: string, whole = '') =>
  testing.create(`
name: spenders
task: Spend.
backend: { runner: { mode: mock } }
${whole}
agents:
  ada: { role: spender, prompt: Spend., ${own} }
  ben: { role: spender, prompt: Spend. }
`);

async function use(project: string, agent: string, tokens: number, nanoUsd: number): Promise<void> {
  await testing.write(project, (tx) =>
    tx.insert('agent_usage', { agent_id: agent, calls: 1, input_tokens: tokens, output_tokens: 0, nano_usd: nanoUsd }),
  );
}

async function mail(project: string, agent: string): Promise<string[]> {
  return testing.write(project, (tx) => {
    postMessage(tx, { sender: 'user', recipient: agent, priority: 'P1', body: 'Go.', actor: 'test' });
    return startTurns(tx);
  });
}

describe('a budget', () => {
  test.each([
    ['of tokens', 'budget: { tokens: 100 }', { tokens: 60, nanoUsd: 0 }, { tokens: 41, nanoUsd: 0 }],
    ['of dollars', 'budget: { usd: 0.1 }', { tokens: 0, nanoUsd: 6e7 }, { tokens: 0, nanoUsd: 4.1e7 }],
  ])('%s holds for its agent alone, to the last unit', async (_name, own, usedSoFar, worst) => {
    const project = await create(own);
    await use(project, 'ada', usedSoFar.tokens, usedSoFar.nanoUsd);
    await testing.write(project, (tx) => {
      expect(exhaustedBudget(tx, 'ada', worst)?.of).toBe('ada');
      expect(exhaustedBudget(tx, 'ben', worst)).toBeUndefined();
      const fits = { tokens: Math.max(0, worst.tokens - 1), nanoUsd: Math.max(0, worst.nanoUsd - 1e6) };
      expect(exhaustedBudget(tx, 'ada', fits)).toBeUndefined();
    });
  });

  test('of the project holds for all of its agents together', async () => {
    const project = await create('displayName: Ada', 'budget: { tokens: 100 }');
    await use(project, 'ada', 70, 0);
    await use(project, 'ben', 25, 0);
    await testing.write(project, (tx) => {
      expect(exhaustedBudget(tx, 'ben', { tokens: 6, nanoUsd: 0 })).toMatchObject({ of: 'project', limit: 'tokens' });
      expect(exhaustedBudget(tx, 'ben', { tokens: 5, nanoUsd: 0 })).toBeUndefined();
    });
  });

  test('that is used up starts no turn, and leaves the mail unread', async () => {
    const project = await create('budget: { tokens: 100 }');
    await use(project, 'ada', 100, 0);
    expect(await mail(project, 'ada')).toEqual([]);
    expect(await testing.rows(project, 'SELECT recipient FROM inbox')).toEqual([{ recipient: 'ada' }]);
    expect(await mail(project, 'ben')).toHaveLength(1);
  });

  test.each([
    ['of an agent', 'budget: { turns: 1 }', '', 'ada'],
    ['of the project', 'displayName: Ada', 'budget: { turns: 1 }', 'project'],
  ])('of turns %s is counted when a turn is queued, and told when it was the last', async (_name, own, whole, of) => {
    const project = await create(own, whole);
    expect(await mail(project, 'ada')).toHaveLength(1);
    const [event] = await testing.rows<{ data_json: string }>(
      project,
      `SELECT data_json FROM events WHERE type = 'budget.reached'`,
    );
    expect(JSON.parse(event?.data_json ?? '{}')).toMatchObject({ of, limit: 'turns' });
    await testing.write(project, (tx) => {
      tx.run(`UPDATE turns SET status = 'completed'`);
      tx.run(`UPDATE agents SET state = 'quiet', active_turn_id = NULL`);
    });
    expect(await mail(project, 'ada')).toEqual([]);
    await testing.store(project, (store) => {
      expect(spentBudget(store.reader, store.config, 'ada')?.message).toMatch(/1 turn is used up\.$/);
    });
  });
});
