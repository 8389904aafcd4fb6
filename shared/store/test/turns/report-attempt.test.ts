import { describe, expect, test } from '@jest/globals';
import type { FailureCode } from '@suzumio/protocol/failure-codes';
import { expireLease, extendLease, overdueAttempts } from '@suzumio/store/turns/leases';
import { completeTurn } from '@suzumio/store/turns/complete-turn';
import { retryTurn } from '@suzumio/store/turns/retry-turn';
import { type Begun, leaseMs, refusedAs, start, type Team, teams } from '../team.js';

const team = teams();
const beat = (of: Team, id: Begun) => of.write((tx) => extendLease(tx, id, leaseMs));
const leaseUntil = (of: Team) =>
  of.rows<{ until: number }>('SELECT lease_until_ms AS until FROM turn_attempts ORDER BY number DESC LIMIT 1')[0]
    ?.until;
const expire = (of: Team, id: Begun) => of.write((tx) => expireLease(tx, id));
const retry = (of: Team, agent: string) => of.write((tx) => retryTurn(tx, agent, 'test'));

describe('a lease', () => {
  test('is never longer than a whole one, though the clock stepped back since it was given', async () => {
    const of = await team();
    const begun = await of.work('ada');
    of.advance(-3_600_000);
    expect(await beat(of, begun)).toEqual({ leaseMs, cancel: false });
    expect(leaseUntil(of)).toBe(of.nowMs + leaseMs);
  });

  test('is extended once less than two thirds of it are left', async () => {
    const of = await team();
    const begun = await of.work('ada');
    of.advance(5_000);
    expect(await beat(of, begun)).toEqual({ leaseMs: 10_000, cancel: false });
    expect(leaseUntil(of)).toBe(start + leaseMs);
    of.advance(1);
    expect(await beat(of, begun)).toEqual({ leaseMs, cancel: false });
    expect(leaseUntil(of)).toBe(start + 5_001 + leaseMs);
  });

  test('of a worker that never ends its turn is not extended for ever', async () => {
    const of = await team();
    const begun = await of.work('ada');
    const { timeout, startDeadline } = of.store.config.turn;
    of.advance(timeout + startDeadline - 1);
    expect(await beat(of, begun)).toEqual({ leaseMs, cancel: false });
    of.advance(1);
    expect(await beat(of, begun)).toEqual({ leaseMs: 0, cancel: true });
    expect(JSON.parse(of.turn(begun.turn)?.failure_json ?? '{}')).toMatchObject({ code: 'time-limit' });
    await expect(of.complete(begun)).rejects.toMatchObject(refusedAs('attempt-over'));
  });

  test('past its deadline is good until it is ended', async () => {
    const of = await team();
    const begun = await of.work('ada');
    of.advance(10 * leaseMs);
    expect(await beat(of, begun)).toEqual({ leaseMs, cancel: false });
    of.advance(10 * leaseMs);
    await of.call(begun, 'ada');
    expect(await of.complete(begun)).toEqual({ turn: 'completed' });
  });

  test('is ended only once its deadline has come', async () => {
    const of = await team();
    const begun = await of.work('ada');
    of.advance(leaseMs - 1);
    expect(overdueAttempts(of.store.reader, of.nowMs)).toEqual([]);
    expect(await expire(of, begun)).toBeUndefined();
    of.advance(1);
    expect(overdueAttempts(of.store.reader, of.nowMs)).toEqual([begun]);
    expect(await expire(of, begun)).toBe('queued');
    expect(await expire(of, begun)).toBeUndefined();
    expect(of.turn(begun.turn)).toMatchObject({ status: 'queued', not_before_ms: of.nowMs, delivered_at_ms: null });
  });

  test('that was ended leaves its worker nothing to do harm with', async () => {
    const of = await team();
    const begun = await of.work('ada');
    of.advance(leaseMs);
    await expire(of, begun);
    expect(await beat(of, begun)).toEqual({ leaseMs: 0, cancel: true });
    await expect(of.complete(begun)).rejects.toMatchObject(refusedAs('attempt-over'));
    await expect(of.fail(begun, 'time-limit')).rejects.toMatchObject(refusedAs('attempt-over'));
    await expect(of.call(begun, 'ada')).rejects.toMatchObject(refusedAs('token-rejected'));
    await of.begin(begun.turn, { worker: 'w2' });
    await expect(of.complete(begun)).rejects.toMatchObject(refusedAs('attempt-over'));
    await expect(of.call(begun, 'ada')).rejects.toMatchObject(refusedAs('token-rejected'));
    expect(of.turn(begun.turn)).toMatchObject({ status: 'running', attempt: 2 });
  });

  test('that runs out too often fails the turn', async () => {
    const of = await team();
    const { turn } = await of.work('ada');
    for (const outcome of ['queued', 'queued', 'failed']) {
      of.advance(leaseMs);
      expect(await expire(of, { turn, attempt: of.turn(turn)?.attempt ?? 0 })).toBe(outcome);
      if (outcome === 'queued') await of.begin(turn);
    }
    expect(of.stateOf('ada')).toBe('failed');
    expect(JSON.parse(of.turn(turn)?.failure_json ?? '')).toMatchObject({ code: 'lease-expired' });
  });
});

describe('a turn that ends well', () => {
  test('keeps its text as a record, not as a message, and sets its agent free', async () => {
    const of = await team();
    const begun = await of.work('ada');
    of.advance(300);
    expect(await of.complete(begun, 'All done.')).toEqual({ turn: 'completed' });
    expect(of.turn(begun.turn)).toMatchObject({ status: 'completed', output_text: 'All done.' });
    expect(of.rows('SELECT count(*) AS n FROM messages')).toEqual([{ n: 1 }]);
    expect(of.stateOf('ada')).toBe('quiet');
    expect(of.rows(`SELECT token_hash FROM agents WHERE id = 'ada'`)).toEqual([{ token_hash: null }]);
    expect(of.events().slice(-3)).toEqual(['turn.queued', 'turn.started', 'turn.completed']);
  });

  test('may be reported twice', async () => {
    const of = await team();
    const begun = await of.work('ada');
    await of.complete(begun, 'One.');
    expect(await of.complete(begun, 'Two.')).toEqual({ turn: 'completed' });
    expect(of.turn(begun.turn)?.output_text).toBe('One.');
    expect(of.events().filter((type) => type === 'turn.completed')).toHaveLength(1);
  });

  test('leaves its workspace to the next, and an attempt that failed does not', async () => {
    const of = await team();
    const begun = await of.work('ada');
    const snapshot = 'a'.repeat(64);
    await of.write((tx) => completeTurn(tx, begun, { output: { text: '' }, snapshot }));
    await of.mail('ada');
    const [turn = ''] = await of.schedule();
    expect(await of.claim(turn)).toMatchObject({ snapshot });
    await of.write((tx) => completeTurn(tx, { turn, attempt: 1 }, { output: { text: '' }, snapshot: null }));
    expect(of.rows(`SELECT snapshot FROM agents WHERE id = 'ada'`)).toEqual([{ snapshot: null }]);
  });
});

describe('a turn that fails', () => {
  test('by its agent’s doing fails at once; its mail is undelivered, not unread', async () => {
    const of = await team();
    const begun = await of.work('ada');
    expect(await of.fail(begun, 'non-zero-exit', 'Exit code 3.')).toEqual({ turn: 'failed' });
    expect(of.stateOf('ada')).toBe('failed');
    expect(of.unread('ada')).toBe(0);
    expect(of.rows('SELECT voided_at_ms FROM message_reads')).toEqual([{ voided_at_ms: null }]);
    await of.mail('ada');
    expect(await of.schedule()).toEqual([]);
    expect(of.events().slice(-2)).toEqual(['turn.failed', 'message.created']);
  });

  test('before it could start waits longer each time, until its deadline', async () => {
    const of = await team();
    const { turn } = await of.work('ada');
    for (const waitMs of [1_000, 2_000, 4_000, 8_000]) {
      const attempt = of.turn(turn)?.attempt ?? 0;
      expect(await of.fail({ turn, attempt }, 'image-missing')).toEqual({ turn: 'queued' });
      expect(of.turn(turn)?.not_before_ms).toBe(of.nowMs + waitMs);
      of.advance(waitMs);
      await of.begin(turn, { worker: `w${String(attempt + 1)}` });
    }
    of.advance(3_600_000);
    expect(await of.fail({ turn, attempt: 5 }, 'image-missing')).toEqual({ turn: 'failed' });
    expect(JSON.parse(of.turn(turn)?.failure_json ?? '')).toMatchObject({ code: 'start-deadline' });
  });

  test('a mount that was waited for leaves it all of its time to start', async () => {
    const of = await team();
    const { turn } = await of.work('ada');
    const fail = (code: FailureCode) => of.fail({ turn, attempt: of.turn(turn)?.attempt ?? 0 }, code);
    for (let hours = 0; hours < 3; hours += 1) {
      expect(await fail('mount-in-use')).toEqual({ turn: 'queued' });
      of.advance(3_600_000);
      await of.begin(turn);
    }
    expect(await fail('image-missing')).toEqual({ turn: 'queued' });
    expect(of.turn(turn)?.not_before_ms).toBe(of.nowMs + 1_000);
  });

  test('a day that was waited for leaves a provider all of its patience', async () => {
    const of = await team();
    const { turn } = await of.work('ada');
    expect(await of.fail({ turn, attempt: 1 }, 'day-budget-reached')).toEqual({ turn: 'queued' });
    of.advance(30 * 3_600_000);
    await of.begin(turn);
    expect(await of.fail({ turn, attempt: 2 }, 'provider-unavailable')).toEqual({ turn: 'queued' });
  });

  test('what fails of our machinery is counted, what cannot start is not', async () => {
    const of = await team();
    const { turn } = await of.work('ada');
    for (const [code, outcome] of [
      ['container-vanished', 'queued'],
      ['worker-shutdown', 'queued'],
      ['container-vanished', 'queued'],
      ['worker-shutdown', 'queued'],
      ['container-vanished', 'failed'],
    ] as const) {
      const attempt = of.turn(turn)?.attempt ?? 0;
      expect(await of.fail({ turn, attempt }, code)).toEqual({ turn: outcome });
      if (outcome === 'failed') continue;
      of.advance(60_000);
      await of.begin(turn);
    }
    expect(of.rows('SELECT counted FROM turn_attempts ORDER BY number')).toEqual(
      [1, 0, 1, 0, 1].map((counted) => ({ counted })),
    );
  });
});

describe('a retry', () => {
  test('is the same turn’s next attempt, with fresh allowances', async () => {
    const of = await team();
    const { turn } = await of.work('ada');
    const vanish = async () => of.fail({ turn, attempt: of.turn(turn)?.attempt ?? 0 }, 'container-vanished');
    await vanish();
    for (let n = 0; n < 2; n += 1) {
      await of.begin(turn);
      await vanish();
    }
    expect(of.turn(turn)?.status).toBe('failed');
    expect(await retry(of, 'ada')).toEqual({ turn, number: 1 });
    expect(of.stateOf('ada')).toBe('running');
    expect(of.turn(turn)).toMatchObject({ status: 'queued', attempt: 3, failure_json: null });
    expect(await of.begin(turn)).toMatchObject({ attempt: 4 });
    expect(await vanish()).toEqual({ turn: 'queued' });
  });

  test('is for failed agents only', async () => {
    const of = await team();
    await expect(retry(of, 'ada')).rejects.toMatchObject(refusedAs('agent-state-refused'));
    await of.work('ada');
    await expect(retry(of, 'ada')).rejects.toMatchObject(refusedAs('agent-state-refused'));
    await expect(retry(of, 'nobody')).rejects.toMatchObject(refusedAs('agent-unknown'));
  });
});
