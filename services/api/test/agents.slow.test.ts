import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { agentAnswer, resetAgentAnswer, retryAnswer } from '@suzumio/contract/operations/agents';
import { cancelAnswer, toolCallListAnswer } from '@suzumio/contract/operations/turns';
import { messageListAnswer } from '@suzumio/contract/operations/messages';
import { tickAnswer } from '@suzumio/contract/operations/projects';
import { type TestApi, testApi } from './support/api.js';
import { beginTurn, failTurn, playTurn } from './support/play.js';
import { refusal } from './support/refusal.js';

let api: TestApi;
beforeEach(async () => {
  api = await testApi();
  await api.create();
  api.wakes.length = 0;
});
afterEach(() => api.close());

const path = '/api/projects/team';
const inbox = async (query = '') => messageListAnswer.parse((await api.get(`${path}/inbox${query}`)).json).items;

describe('a failed agent', () => {
  test('is retried, any other is not', async () => {
    const turn = await failTurn(api, 'team', 'ada');
    const retried = await api.post(`${path}/agents/ada/retry`);
    expect(retried.status).toBe(200);
    expect(retryAnswer.parse(retried.json)).toEqual({ turn, number: 1 });
    expect(api.wakes).toEqual(['team']);

    expect(refusal(await api.post(`${path}/agents/ben/retry`))).toEqual({
      status: 409,
      code: 'agent-state-refused',
      detail: 'Agent ben is quiet and has had no turn yet: there is nothing to retry.',
    });
    expect(refusal(await api.post(`${path}/agents/dan/retry`))).toEqual({
      status: 404,
      code: 'agent-unknown',
      detail: 'There is no agent "dan" here: known are ada, ben, cat',
    });
  });

  test('is reset, and has its mail again where that is asked for', async () => {
    await failTurn(api, 'team', 'ada');
    const [left] = await inbox('?undelivered=true');
    expect(await inbox()).toEqual([]);
    const answer = resetAgentAnswer.parse((await api.post(`${path}/agents/ada/reset`, { redeliver: true })).json);
    expect(answer).toMatchObject({ agent: { id: 'ada', state: 'quiet', unread: 1 }, redelivered: [left?.id] });
    expect(api.wakes).toEqual(['team']);
    expect((await inbox()).map(({ id }) => id)).toEqual([left?.id]);
    expect(await inbox('?undelivered=true')).toEqual([]);
    expect(await api.rows('team', `SELECT actor, agent_id, data_json FROM events WHERE type = 'agent.reset'`)).toEqual([
      { actor: 'admin', agent_id: 'ada', data_json: JSON.stringify({ redelivered: [left?.id] }) },
    ]);
    expect(refusal(await api.post(`${path}/agents/ada/reset`))).toEqual({
      status: 409,
      code: 'agent-state-refused',
      detail: 'Agent ada is quiet, so "reset" is refused: it needs an agent that is failed.',
    });
  });
});

describe('an agent', () => {
  test('is stopped and started', async () => {
    const stopped = agentAnswer.parse((await api.post(`${path}/agents/ben/stop`)).json);
    expect(stopped.agent).toMatchObject({ state: 'stopped', stopping: false });
    const started = agentAnswer.parse((await api.post(`${path}/agents/ben/start`)).json);
    expect(started.agent.state).toBe('quiet');
    expect(api.wakes).toEqual(['team', 'team']);
    expect(refusal(await api.post(`${path}/agents/ben/start`)).code).toBe('agent-state-refused');
  });

  test('at work is stopped after its turn, or at once', async () => {
    const { turn } = await beginTurn(api, 'team', 'ben');
    const later = agentAnswer.parse((await api.post(`${path}/agents/ben/stop`)).json);
    expect(later.agent).toMatchObject({ state: 'running', stopping: true, activeTurn: { id: turn } });
    const now = agentAnswer.parse((await api.post(`${path}/agents/ben/stop`, { now: true })).json);
    expect(now.agent).toMatchObject({ state: 'stopped', stopping: false, activeTurn: null, undelivered: 1 });
  });
});

describe('a turn', () => {
  test('is cancelled by its id or its number, and the agent’s next mail is looked at', async () => {
    const { turn } = await beginTurn(api, 'team', 'ada');
    const answer = await api.post(`${path}/turns/ada:1/cancel`);
    expect(cancelAnswer.parse(answer.json)).toEqual({ turn, number: 1, agent: 'ada' });
    expect(api.wakes).toEqual(['team']);
    expect(await api.rows('team', `SELECT status FROM turn_attempts`)).toEqual([{ status: 'cancelled' }]);
    expect(refusal(await api.post(`${path}/turns/${turn}/cancel`))).toEqual({
      status: 409,
      code: 'turn-state-refused',
      detail: 'Turn 1 of ada is cancelled; only one that is queued or running can be cancelled.',
    });
  });

  test('has its tool calls listed by its number, too, and no log of an attempt that it never had', async () => {
    await playTurn(api, 'team', 'ada', 'messages.read', () => undefined);
    const calls = async (query: string) =>
      toolCallListAnswer.parse((await api.get(`${path}/tool-calls${query}`)).json).items;
    expect(await calls('?turn=ada:1')).toEqual(await calls(''));
    expect((await api.get(`${path}/turns/ada:1/log`)).status).toBe(200);
    expect(refusal(await api.get(`${path}/turns/ada:1/log?attempt=2`))).toEqual({
      status: 404,
      code: 'turn-unknown',
      detail: 'Turn 1 of ada has had no attempt 2.',
    });
  });
});

describe('the inbox', () => {
  test('has unread mail, of all agents or of one, part by part', async () => {
    for (const recipient of ['ada', 'ben', 'ada']) await api.post(`${path}/messages`, { recipient, body: 'Hello.' });
    await api.post(`${path}/messages`, { channel: '#team', body: 'Hello, all.' });
    expect(await inbox()).toHaveLength(4);
    expect((await inbox('?agent=ben')).map(({ recipient, channel }) => recipient ?? channel)).toEqual(['ben', '#team']);
    expect((await inbox('?agent=cat'))[0]?.recipients).toEqual(
      ['ada', 'ben', 'cat'].map((agent) => ({
        agent,
        turn: null,
        turnNumber: null,
        turnStatus: null,
        readAt: null,
        undelivered: false,
      })),
    );
    const first = messageListAnswer.parse((await api.get(`${path}/inbox?after=0&limit=3`)).json);
    expect(await inbox(`?after=${String(first.next)}`)).toHaveLength(1);
    expect(refusal(await api.get(`${path}/inbox?undelivered=perhaps`)).code).toBe('invalid-request');
  });

  test('says which turn left mail behind', async () => {
    const turn = await failTurn(api, 'team', 'ada');
    expect(await inbox('?undelivered=true&agent=ben')).toEqual([]);
    expect((await inbox('?undelivered=true&agent=ada'))[0]?.recipients).toMatchObject([
      { agent: 'ada', turn, undelivered: true },
    ]);
  });
});

describe('a tick', () => {
  test('wakes a project, also one that the catalog took for settled', async () => {
    await api.cell.catalog.projects.noteStatus('team', () => ({ status: 'stopped', settled: true }));
    expect(api.cell.catalog.projects.unsettled()).toEqual([]);
    const answer = await api.post(`${path}/tick`);
    expect([answer.status, tickAnswer.parse(answer.json)]).toEqual([200, { id: 'team', status: 'running' }]);
    expect(api.wakes).toEqual(['team']);
    expect(api.cell.catalog.projects.unsettled()).toEqual(['team']);
  });
});
