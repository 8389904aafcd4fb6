import { describe, expect, test } from '@jest/globals';
import { contradictionsIn } from '@suzumio/store/projects/contradictions';
import { listInbox } from '@suzumio/store/mail/messages';
import { readMessageDetail } from '@suzumio/store/turns/receipts';
import { resetAgent } from '@suzumio/store/turns/agent-transitions';
import { cancelActiveTurn } from '@suzumio/store/turns/cancel-turn';
import { postMessage } from '@suzumio/store/mail/post-message';
import { redeliverMessage } from '@suzumio/store/mail/redeliver-message';
import { retryTurn } from '@suzumio/store/turns/retry-turn';
import { type Begun, refusedAs, start, type Team, teams } from '../team.js';

const team = teams();
const redeliver = (of: Team, message: string, agent?: string) =>
  of.write((tx) => redeliverMessage(tx, message, { agent, actor: 'test' }));
const retry = (of: Team, agent: string) => of.write((tx) => retryTurn(tx, agent, 'test'));
const cancel = (of: Team, turn: string) => of.write((tx) => cancelActiveTurn(tx, turn, 'test'));
const reset = (of: Team, agent: string) => of.write((tx) => resetAgent(tx, agent, 'test', { redeliver: false }));
const receipts = (of: Team, message: string) => readMessageDetail(of.store.reader, message).receipts;
const undelivered = (of: Team) =>
  listInbox(of.store.reader, { limit: 10, undelivered: true }).items.map(({ id }) => id);

/** Two messages for ada, in one turn that was cancelled while it worked, or that failed. */
async function leftBehind(how: 'cancelled' | 'failed') {
  const of = await team();
  const first = await of.mail('ada');
  const second = await of.mail('ada');
  await of.schedule();
  const begun = await of.begin(of.activeTurn('ada') ?? '');
  if (how === 'cancelled') await cancel(of, begun.turn);
  else await of.fail(begun, 'non-zero-exit');
  return { of, first, second, begun };
}

/** Posts to all of #pair; both read it, and the turn of each of `failing` fails. */
async function toBoth(failing: readonly ('ada' | 'ben')[]) {
  const of = await team();
  const message = { sender: 'user', channel: '#pair', priority: 'P1' as const, body: 'To both.', actor: 'test' };
  const { id } = await of.write((tx) => postMessage(tx, message));
  await of.schedule();
  for (const agent of ['ada', 'ben'] as const) {
    const begun: Begun = await of.begin(of.activeTurn(agent) ?? '');
    await (failing.includes(agent) ? of.fail(begun, 'non-zero-exit') : of.complete(begun));
  }
  return { of, id };
}

describe('delivering a message again', () => {
  test('makes it unread, and leaves what was read beside it undelivered', async () => {
    const { of, first, second, begun } = await leftBehind('cancelled');
    expect(undelivered(of)).toEqual([first.id, second.id]);
    of.advance(1_000);
    expect(await redeliver(of, first.id)).toEqual({ id: first.id, agents: ['ada'] });
    expect([undelivered(of), of.unread('ada')]).toEqual([[second.id], 1]);
    expect(
      of.rows(`SELECT actor, agent_id, turn_id, data_json FROM events WHERE type = 'message.redelivered'`),
    ).toEqual([
      {
        actor: 'test',
        agent_id: 'ada',
        turn_id: begun.turn,
        data_json: JSON.stringify({ message: first.id, seq: 1, turnNumber: 1 }),
      },
    ]);
    expect(receipts(of, first.id)).toMatchObject([
      { agent: 'ada', unread: true, reads: [{ undelivered: false, voidedAt: new Date(start + 1_000).toISOString() }] },
    ]);
    expect(contradictionsIn(of.store.reader)).toEqual({});

    await of.schedule();
    await of.complete(await of.begin(of.activeTurn('ada') ?? ''));
    expect(receipts(of, first.id)).toMatchObject([
      {
        agent: 'ada',
        unread: false,
        reads: [
          { turnNumber: 1, status: 'cancelled', attempts: [{ number: 1, status: 'cancelled' }], undelivered: false },
          { turnNumber: 2, status: 'completed', attempts: [{ number: 1, status: 'completed' }], voidedAt: null },
        ],
      },
    ]);
  });

  test('is for all who have it undelivered, or for one of them, and for nobody else', async () => {
    const all = await toBoth(['ada', 'ben']);
    expect(await redeliver(all.of, '1')).toEqual({ id: all.id, agents: ['ada', 'ben'] });
    const one = await toBoth(['ada', 'ben']);
    expect(await redeliver(one.of, '1', 'ben')).toEqual({ id: one.id, agents: ['ben'] });
    expect([one.of.unread('ada'), one.of.unread('ben')]).toEqual([0, 1]);
    const some = await toBoth(['ben']);
    expect(await redeliver(some.of, '1')).toEqual({ id: some.id, agents: ['ben'] });
    expect(receipts(some.of, '1')).toMatchObject([
      { agent: 'ada', unread: false, reads: [{ status: 'completed', undelivered: false }] },
      { agent: 'ben', unread: true },
    ]);
  });

  test('leaves an agent that failed as it is: its mail waits until it is reset', async () => {
    const { of, first } = await leftBehind('failed');
    await redeliver(of, first.id);
    expect([of.stateOf('ada'), await of.schedule()]).toEqual(['failed', []]);
    await reset(of, 'ada');
    expect(await of.schedule()).toHaveLength(1);
  });

  test('happens while the agent is at another turn, which does not read it', async () => {
    const { of, first } = await leftBehind('cancelled');
    const other = await of.work('ada');
    await redeliver(of, first.id);
    await of.complete(other);
    expect(of.unread('ada')).toBe(1);
    expect(contradictionsIn(of.store.reader)).toEqual({});
  });

  test.each(['cancelled', 'failed'] as const)('ends a turn that was %s for good', async (how) => {
    const { of, first, begun } = await leftBehind(how);
    await redeliver(of, first.id);
    await expect(retry(of, 'ada')).rejects.toMatchObject({
      ...refusedAs('agent-state-refused'),
      message: 'Mail of turn 1 of ada was delivered again, so that turn cannot go on with it: reset the agent.',
    });
    expect(of.turn(begun.turn)?.status).toBe(how);
  });

  test('is refused where it is unread, was read, is being read again, or went to no agent', async () => {
    const { of, first, second } = await leftBehind('cancelled');
    const refused = async (message: string, why: string, agent?: string) => {
      await expect(redeliver(of, message, agent)).rejects.toMatchObject({
        ...refusedAs('redelivery-refused'),
        message: expect.stringContaining(why),
      });
    };
    await refused('1', 'Message 1 is not undelivered to ben: it went to no agent.', 'ben');
    await redeliver(of, first.id);
    await refused(first.id, 'Message 1 is not undelivered: ada has it unread.');
    await of.write((tx) => resetAgent(tx, 'ada', 'test', { redeliver: true }));
    await of.schedule();
    const begun = await of.begin(of.activeTurn('ada') ?? '');
    await refused(second.id, 'ada read it in turn 2, which is running');
    await of.complete(begun);
    await refused(second.id, 'ada read it in turn 2, which is completed');
    const toUser = { sender: 'ada', recipient: 'user', priority: 'P1' as const, body: 'x', actor: 'ada' };
    await of.write((tx) => postMessage(tx, toUser));
    await refused('3', 'Message 3 is not undelivered: it went to no agent.');
    await expect(redeliver(of, '4')).rejects.toMatchObject(refusedAs('message-unknown'));
    await expect(redeliver(of, first.id, 'zoe')).rejects.toMatchObject(refusedAs('agent-unknown'));
  });

  test('is refused while a retry of its turn is under way, and allowed when that has failed as well', async () => {
    const { of, first } = await leftBehind('cancelled');
    const { turn } = await retry(of, 'ada');
    await expect(redeliver(of, first.id)).rejects.toMatchObject(refusedAs('redelivery-refused'));
    await of.fail(await of.begin(turn), 'non-zero-exit');
    await redeliver(of, first.id);
    expect(receipts(of, first.id)).toMatchObject([
      { reads: [{ attempts: [{ status: 'cancelled' }, { status: 'failed', failure: { code: 'non-zero-exit' } }] }] },
    ]);
  });
});
