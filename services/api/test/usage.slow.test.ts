import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { SummaryListAnswer } from '@suzumio/contract/operations/memory';
import type { BudgetListAnswer } from '@suzumio/contract/operations/usage';
import type { ProjectDetailAnswer } from '@suzumio/contract/operations/projects';
import type { UsageAnswer } from '@suzumio/contract/model/usage';
import { usageSlices } from '@suzumio/store/models/model-usage';
import { noon, teamYaml } from '../../../test/support/cell.js';
import { type TestApi, testApi } from './support/api.js';
import { beginTurn, payForCall } from './support/play.js';
import { refusal } from './support/refusal.js';

let api: TestApi;
beforeEach(async () => {
  api = await testApi({ budgetUsdPerDay: 2 }, undefined, { startMs: noon });
});
afterEach(() => api.close());

const named = (name: string) => teamYaml.replace('name: team', `name: ${name}`);

/** A turn that has asked a model, and still runs. */
async function asked(project: string, agent: string, usd: number): Promise<void> {
  await beginTurn(api, project, agent);
  await payForCall(api, project, agent, { usd });
}

const usage = async (query: string, token?: string) =>
  (await api.get(`/api/usage${query}`, token === undefined ? {} : { token })).json as UsageAnswer;
const detail = async (project = 'team') => (await api.get(`/api/projects/${project}`)).json as ProjectDetailAnswer;

describe('usage', () => {
  beforeEach(async () => {
    for (const name of ['north', 'south']) await api.create(named(name));
    await asked('north', 'ada', 0.5);
    await asked('south', 'ada', 1);
  });

  test('of many projects lets other requests in between', async () => {
    const names = Array.from({ length: 60 }, (_, index) => `more-${String(index)}`);
    for (const name of names) await api.create(named(name), { start: false });
    for (const slow of ['/api/usage', '/api/projects?include=detail']) {
      const answered: string[] = [];
      const ask = async (path: string) => {
        expect((await api.get(path)).status).toBe(200);
        answered.push(path);
      };
      const begun = Promise.withResolvers<undefined>();
      const use = jest.spyOn(api.cell.stores, 'use').mockImplementationOnce((...args) => {
        begun.resolve(undefined);
        return api.cell.stores.use(...args);
      });
      const asked = ask(slow);
      await begun.promise;
      use.mockRestore();
      await Promise.all([asked, ask('/health')]);
      expect(answered).toEqual(['/health', slow]);
    }
  });

  test('of very many calls is added up in parts', async () => {
    await api.write('north', (tx) => {
      tx.run(
        `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 25000)
         INSERT INTO model_calls (id, turn_id, agent_id, attempt, step, status, request_hash, asked_preset, purpose,
           owner, until_ms, held_tokens, held_nano_usd, input_tokens, nano_usd, started_at_ms, ended_at_ms)
         SELECT 'more-' || i, turn_id, agent_id, 1, '0', 'answered', 'h', 'only', 'turn', 'o', 0, 0, 0, 1, 0, 0, ended_at_ms
         FROM model_calls, n`,
      );
    });
    await api.store('north', ({ reader }) => {
      expect([...usageSlices(reader, ['agent'], {})].map((part) => part[0]?.calls)).toEqual([10_000, 10_000, 5_001]);
    });
    expect(await usage('?project=north')).toMatchObject({
      total: { calls: 25_001, inputTokens: 25_010, costUsd: 0.5 },
    });
  });

  test('is that of every project, with the day and what is left of it', async () => {
    await api.cell.catalog.spending.settle('call', 1.5e9);
    const { items, total, today } = await usage('');
    expect(items.map(({ key, costUsd }) => [key, costUsd])).toEqual([
      ['south', 1],
      ['north', 0.5],
    ]);
    expect(total).toMatchObject({ calls: 2, inputTokens: 20, outputTokens: 10, costUsd: 1.5 });
    expect(today).toMatchObject({ spentUsd: 1.5, budgetUsd: 2, leftUsd: 0.5 });
  });

  test('is that of one project where one is asked for, or where a token is for one', async () => {
    expect((await usage('?project=north&by=agent')).items).toMatchObject([{ project: 'north', key: 'ada' }]);
    const token = await api.token('read', 'south');
    expect(await usage('', token)).toMatchObject({ items: [{ key: 'south' }], total: { calls: 1 }, today: null });
    const other = await api.get('/api/usage?project=north', { token });
    expect(refusal(other)).toMatchObject({ code: 'forbidden' });
  });

  test('is that of days and agents at once, others added up, and whole', async () => {
    for (let n = 0; n < 30; n += 1) {
      const yesterday = { endedAtMs: noon - 86_400_000, model: `m-${String(n)}` };
      await payForCall(api, 'north', 'ada', { usd: (n + 1) / 1_000, ...yesterday });
    }
    const byAgent = await usage('?by=day,agent');
    expect(byAgent).toMatchObject({ by: 'day', and: 'agent', more: 0, total: { calls: 32 } });
    expect(byAgent.items.map(({ project, key, and, calls }) => [project, key, and, calls])).toEqual([
      ['north', '2026-11-21', 'ada', 30],
      ['south', '2026-11-22', 'ada', 1],
      ['north', '2026-11-22', 'ada', 1],
    ]);
    const byModel = await usage('?by=day,model&project=north');
    expect(byModel.items.map(({ and }) => and)).toEqual([
      ...Array.from({ length: 19 }, (_, at) => `m-${String(29 - at)}`),
      null,
      'm',
    ]);
    const [others, own] = byModel.items.slice(-2);
    expect(others).toMatchObject({ key: '2026-11-21', calls: 11 });
    expect(others?.costUsd).toBeCloseTo(0.066, 9);
    expect(own).toMatchObject({ key: '2026-11-22', calls: 1, costUsd: 0.5 });
    expect(byModel.items.reduce((sum, { costUsd }) => sum + costUsd, 0)).toBeCloseTo(byModel.total.costUsd, 9);
    for (const by of ['agent,day', 'day,day', 'day,agent,model', 'week', 'day,', '']) {
      expect(refusal(await api.get(`/api/usage?by=${by}`))).toMatchObject({ code: 'invalid-request' });
    }
  });

  test('leads to the turns that asked on a day, and a model', async () => {
    const turns = async (query: string) =>
      ((await api.get(`/api/projects/north/turns?${query}`)).json as { items: { agent: string }[] }).items.length;
    expect(await turns('askedOn=2026-11-22')).toBe(1);
    expect(await turns('askedOn=2026-11-22&model=m')).toBe(1);
    expect(await turns('askedOn=2026-11-22&model=other')).toBe(0);
    expect(await turns('askedOn=2026-11-21')).toBe(0);
    await payForCall(api, 'north', 'ada', { usd: 1, model: 'late', endedAtMs: noon - 86_400_000 });
    expect(await turns('askedOn=2026-11-21&model=late')).toBe(1);
    expect(await turns('askedOn=2026-11-22&model=late')).toBe(0);
    expect(await turns('model=m&agent=ben')).toBe(0);
  });

  test('is that of some days', async () => {
    expect((await usage('?to=2020-01-01')).items).toEqual([]);
    expect((await usage('?from=2020-01-01T00:00:00Z')).items).toHaveLength(2);
    expect(refusal(await api.get('/api/usage?from=yesterday'))).toMatchObject({ code: 'invalid-request' });
  });
});

describe('pausing', () => {
  test('an agent and a project is told with who and why, and wakes the scheduler when it ends', async () => {
    await api.create();
    await api.post('/api/projects/team/agents/ada/pause', { reason: 'It loops.' });
    await api.post('/api/projects/team/pause');
    const { project, agents } = await detail();
    expect(agents.find(({ id }) => id === 'ada')?.paused).toMatchObject({ by: 'admin', reason: 'It loops.' });
    expect(project.paused).toMatchObject({ by: 'admin', reason: null });
    const before = api.wakes.length;
    await api.post('/api/projects/team/resume');
    await api.post('/api/projects/team/agents/ada/resume');
    const after = await detail();
    expect([after.project.paused, ...after.agents.map(({ paused }) => paused)]).toEqual([null, null, null, null]);
    expect(api.wakes.length).toBe(before + 2);
  });

  test('the whole cell is for administrators of the whole cell, and wakes every project when it ends', async () => {
    for (const name of ['north', 'south']) await api.create(named(name));
    for (const token of [await api.token('write'), await api.token('admin', 'north')]) {
      expect(refusal(await api.post('/api/pause', {}, { token }))).toMatchObject({ code: 'forbidden' });
    }
    await api.post('/api/pause', { reason: 'The bill.' });
    expect((await detail('north')).cellPaused).toMatchObject({ by: 'admin', reason: 'The bill.' });
    api.wakes.length = 0;
    await api.post('/api/resume');
    expect((await detail('north')).cellPaused).toBeNull();
    expect(api.wakes.sort()).toEqual(['north', 'south']);
  });

  test('is not paused or resumed anew by a request that comes again', async () => {
    const key = (name: string) => ({ headers: { 'idempotency-key': name } });
    const paused = await api.post('/api/pause', { reason: 'The bill.' }, key('p-1'));
    await api.post('/api/resume', undefined, key('r-1'));
    expect((await api.post('/api/pause', { reason: 'The bill.' }, key('p-1'))).json).toEqual(paused.json);
    expect(api.cell.catalog.pause.current).toBeNull();
    await api.post('/api/pause', { reason: 'Again.' }, key('p-2'));
    await api.post('/api/resume', undefined, key('r-1'));
    expect(api.cell.catalog.pause.current).toMatchObject({ reason: 'Again.' });
  });
});

test('a budget is changed for the project and for an agent, and says what is reached', async () => {
  await api.create();
  await beginTurn(api, 'team', 'ada');
  const path = '/api/projects/team/budget';
  await api.post(path, { turns: 1 });
  await api.post(path, { agent: 'ben', tokens: 5 });
  const { items } = (await api.get(path)).json as BudgetListAnswer;
  expect(items).toMatchObject([
    { agent: null, turns: { limit: 1, used: 1 } },
    { agent: 'ben', tokens: { limit: 5, used: 0 } },
  ]);
  expect((await detail()).budgetsReached).toMatchObject([{ agent: null, limit: 'turns' }]);
  await api.post(path, { turns: 'unlimited' });
  expect((await detail()).budgetsReached).toEqual([]);
  expect(refusal(await api.post(path, {}))).toMatchObject({ code: 'invalid-request' });
});

test('what an agent remembers is shown, the newest first', async () => {
  await api.create();
  await beginTurn(api, 'team', 'ada');
  await api.write('team', (tx) => {
    const turn = tx.get<{ id: string }>('SELECT id FROM turns')?.id ?? '';
    for (const through of [1, 4]) {
      const text = `Up to ${through}.`;
      const row = { agent_id: 'ada', through_number: through, text, turn_id: turn, step: '0', created_at_ms: 0 };
      tx.insert('agent_summaries', row);
    }
  });
  const { items } = (await api.get('/api/projects/team/agents/ada/memory')).json as SummaryListAnswer;
  expect(items.map(({ throughTurn, text }) => [throughTurn, text])).toEqual([
    [4, 'Up to 4.'],
    [1, 'Up to 1.'],
  ]);
});
