import { describe, expect, test } from '@jest/globals';
import { agentStates } from '@suzumio/contract/model/states';
import { listAgents } from '@suzumio/store/projects/agents';
import { listInbox } from '@suzumio/store/mail/messages';
import { resetAgent, startAgent, stopAgent } from '@suzumio/store/turns/agent-transitions';
import { cancelActiveTurn } from '@suzumio/store/turns/cancel-turn';
import { retryTurn } from '@suzumio/store/turns/retry-turn';
import { refusedAs, type Team, teams } from '../team.js';

const team = teams();
const stop = (of: Team, agent: string, now = false) => of.write((tx) => stopAgent(tx, agent, 'test', { now }));
const restart = (of: Team, agent: string) => of.write((tx) => startAgent(tx, agent, 'test'));
const reset = (of: Team, agent: string, redeliver = false) =>
  of.write((tx) => resetAgent(tx, agent, 'test', { redeliver }));
const retry = (of: Team, agent: string) => of.write((tx) => retryTurn(tx, agent, 'test'));
const cancel = (of: Team, turn: string) => of.write((tx) => cancelActiveTurn(tx, turn, 'test'));
const viewOf = (of: Team, agent: string) => listAgents(of.store.reader).find(({ id }) => id === agent);
const undelivered = (of: Team, agent: string) =>
  listInbox(of.store.reader, { limit: 10, agent, undelivered: true }).items.map(({ id }) => id);

async function failed(agent = 'ada') {
  const of = await team();
  const begun = await of.work(agent);
  await of.fail(begun, 'non-zero-exit');
  return { of, begun };
}

describe('which state allows what', () => {
  const actions = { stop, start: restart, reset: (of: Team, agent: string) => reset(of, agent), retry };
  const allowed = {
    quiet: ['stop'],
    running: ['stop'],
    failed: ['reset', 'retry'],
    stopped: ['start'],
    retired: [] as string[],
  };
  const cases = agentStates.flatMap((state) =>
    (Object.keys(actions) as (keyof typeof actions)[]).map((action) => ({
      state,
      action,
      is: allowed[state].includes(action) ? 'done' : 'refused',
    })),
  );

  test.each(cases)('$action of one that is $state is $is', async ({ state, action, is }) => {
    const of = await team();
    const begun = state === 'quiet' ? undefined : await of.work('ada');
    if (state === 'failed' && begun) await of.fail(begun, 'non-zero-exit');
    if (state === 'stopped' && begun) {
      await of.complete(begun);
      await stop(of, 'ada');
    }
    if (state === 'retired') await of.retire('ada');
    expect(of.stateOf('ada')).toBe(state);
    const before = of.events();
    if (is === 'done') await actions[action](of, 'ada');
    else {
      await expect(actions[action](of, 'ada')).rejects.toMatchObject(refusedAs('agent-state-refused'));
      expect(of.events()).toEqual(before);
    }
  });

  test('an agent that there is not is refused', async () => {
    const of = await team();
    for (const action of Object.values(actions)) {
      await expect(action(of, 'zoe')).rejects.toMatchObject(refusedAs('agent-unknown'));
    }
  });
});

describe('a stopped agent', () => {
  test('keeps its mail unread until it is started', async () => {
    const of = await team();
    await stop(of, 'ada');
    await of.mail('ada');
    expect(await of.schedule()).toEqual([]);
    await restart(of, 'ada');
    expect(await of.schedule()).toHaveLength(1);
    expect(of.events().filter((type) => type.startsWith('agent.'))).toEqual(['agent.stopped', 'agent.started']);
  });

  test('loses a turn that nobody has claimed, and no mail', async () => {
    const of = await team();
    await of.mail('ada');
    await of.schedule();
    const turn = of.activeTurn('ada') ?? '';
    await stop(of, 'ada');
    expect([of.stateOf('ada'), of.turn(turn)?.status, of.unread('ada')]).toEqual(['stopped', 'cancelled', 1]);
  });

  test('goes to the end of its turn first', async () => {
    const of = await team();
    const begun = await of.work('ada');
    await of.mail('ada');
    await stop(of, 'ada');
    expect(viewOf(of, 'ada')).toMatchObject({ state: 'running', stopping: true });
    await expect(stop(of, 'ada')).rejects.toThrow('Agent ada is running and will stop after its turn');
    await of.complete(begun);
    expect(viewOf(of, 'ada')).toMatchObject({ state: 'stopped', stopping: false, unread: 1 });
    expect(await of.schedule()).toEqual([]);
  });

  test('need not stop after all', async () => {
    const of = await team();
    const begun = await of.work('ada');
    await stop(of, 'ada');
    await restart(of, 'ada');
    await of.complete(begun);
    expect(of.stateOf('ada')).toBe('quiet');
  });

  test('stops at once where that is wanted, also after it was to stop later', async () => {
    const of = await team();
    const begun = await of.work('ada');
    await stop(of, 'ada');
    await stop(of, 'ada', true);
    expect([of.stateOf('ada'), of.turn(begun.turn)?.status]).toEqual(['stopped', 'cancelled']);
    await expect(of.complete(begun)).rejects.toMatchObject(refusedAs('attempt-over'));
  });

  test('whose last turn fails is failed: that wants to be looked at', async () => {
    const of = await team();
    const begun = await of.work('ada');
    await stop(of, 'ada');
    await of.fail(begun, 'non-zero-exit');
    expect(viewOf(of, 'ada')).toMatchObject({ state: 'failed', stopping: false });
  });
});

describe('a failed agent that is reset', () => {
  test('is quiet, and its mail stays undelivered', async () => {
    const { of, begun } = await failed();
    const [mail] = undelivered(of, 'ada');
    expect(await reset(of, 'ada')).toEqual([]);
    expect(viewOf(of, 'ada')).toMatchObject({ state: 'quiet', failure: null, unread: 0, undelivered: 1 });
    expect(undelivered(of, 'ada')).toEqual([mail]);
    expect(of.turn(begun.turn)?.status).toBe('failed');
    await expect(retry(of, 'ada')).rejects.toThrow('its turn 1 is failed: there is nothing to retry');
  });

  test('has its mail again where that is wanted, for a new turn', async () => {
    const { of } = await failed();
    const mail = undelivered(of, 'ada');
    expect(await reset(of, 'ada', true)).toEqual(mail);
    expect(viewOf(of, 'ada')).toMatchObject({ state: 'quiet', unread: 1, undelivered: 0 });
    await of.schedule();
    const second = await of.begin(of.activeTurn('ada') ?? '');
    await of.complete(second);
    expect(of.rows('SELECT turn_id, voided_at_ms IS NULL AS valid FROM message_reads ORDER BY rowid')).toMatchObject([
      { valid: 0 },
      { turn_id: second.turn, valid: 1 },
    ]);
    expect(undelivered(of, 'ada')).toEqual([]);
  });

  test('has all that was left behind again, also of turns that it gave up before', async () => {
    const { of } = await failed();
    await reset(of, 'ada');
    await of.fail(await of.work('ada'), 'non-zero-exit');
    expect(await reset(of, 'ada', true)).toHaveLength(2);
    expect(of.unread('ada')).toBe(2);
  });
});

describe('a turn that is cancelled', () => {
  test('while it runs is fenced at once, and its mail is undelivered', async () => {
    const of = await team();
    const begun = await of.work('ada');
    expect(await cancel(of, 'ada:1')).toEqual({ turn: begun.turn, number: 1, agent: 'ada' });
    await expect(of.complete(begun)).rejects.toMatchObject(refusedAs('attempt-over'));
    expect(viewOf(of, 'ada')).toMatchObject({ state: 'quiet', unread: 0, undelivered: 1 });
    await expect(cancel(of, begun.turn)).rejects.toMatchObject(refusedAs('turn-state-refused'));
    await expect(cancel(of, 'ada:2')).rejects.toMatchObject(refusedAs('turn-unknown'));
  });

  test('before it was claimed leaves its mail unread', async () => {
    const of = await team();
    await of.mail('ada');
    await of.schedule();
    await cancel(of, of.activeTurn('ada') ?? '');
    expect(viewOf(of, 'ada')).toMatchObject({ state: 'quiet', unread: 1, undelivered: 0 });
    await expect(retry(of, 'ada')).rejects.toThrow('its turn 1 is cancelled: there is nothing to retry');
  });

  test('can be retried from its journal', async () => {
    const of = await team();
    const begun = await of.work('ada');
    await cancel(of, begun.turn);
    expect(await retry(of, 'ada')).toEqual({ turn: begun.turn, number: 1 });
    await of.complete(await of.begin(begun.turn));
    expect([of.turn(begun.turn)?.status, undelivered(of, 'ada')]).toEqual(['completed', []]);
  });

  test('is not retried once its mail was delivered again', async () => {
    const of = await team();
    const begun = await of.work('ada');
    await cancel(of, begun.turn);
    expect(await reset(of, 'ada', true)).toHaveLength(1);
    await expect(retry(of, 'ada')).rejects.toMatchObject(refusedAs('agent-state-refused'));
    await expect(reset(of, 'ada', true)).rejects.toThrow('has no undelivered mail');
  });
});
