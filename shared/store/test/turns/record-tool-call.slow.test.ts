import { describe, expect, test } from '@jest/globals';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { postMessage } from '@suzumio/store/mail/post-message';
import { retryTurn } from '@suzumio/store/turns/retry-turn';
import type { Tx } from '@suzumio/store/sqlite/tx';
import { type Begun, hashes, refusedAs, type Team, teams } from '../team.js';

const team = teams();
const send = (tx: Tx) => {
  const { id } = postMessage(tx, { sender: 'ada', recipient: 'ben', priority: 'P1', body: 'Look.', actor: 'ada' });
  return { output: id };
};
const calls = (of: Team) =>
  of.rows<unknown>('SELECT attempt, step, tool, status, error_code FROM tool_calls ORDER BY rowid');
const messages = (of: Team) => of.rows<{ n: number }>(`SELECT count(*) AS n FROM messages WHERE sender = 'ada'`)[0]?.n;

describe('a tool call', () => {
  test('takes effect and is recorded in one transaction, its event before those of its effect', async () => {
    const of = await team();
    const begun = await of.work('ada');
    const before = of.events().length;
    const { result, replayed } = await of.call(begun, 'ada', { step: '0.0' }, send);
    expect(result).toMatchObject({ ok: true });
    expect(replayed).toBe(false);
    expect(calls(of)).toEqual([
      { attempt: 1, step: '0.0', tool: 'messages.send', status: 'succeeded', error_code: null },
    ]);
    expect(of.events().slice(before)).toEqual(['tool.called', 'message.created']);
    expect(of.rows('SELECT key, attempt FROM turn_steps')).toEqual([{ key: '0.0', attempt: 1 }]);
  });

  test('that is repeated gets its recorded answer and takes no further effect', async () => {
    const of = await team();
    const begun = await of.work('ada');
    const first = await of.call(begun, 'ada', { step: '0.0' }, send);
    expect(await of.call(begun, 'ada', { step: '0.0' }, send)).toEqual({ ...first, replayed: true });
    expect(messages(of)).toBe(1);
    expect(calls(of)).toHaveLength(1);
  });

  test('of a later attempt goes on from the journal', async () => {
    const of = await team();
    const begun = await of.work('ada');
    const first = await of.call(begun, 'ada', { step: '0.0' }, send);
    await of.fail(begun, 'container-vanished');
    const again = await of.begin(begun.turn);
    const tokenHash = hashes(2).tool;
    expect(await of.call(again, 'ada', { step: '0.0', tokenHash }, send)).toEqual({ ...first, replayed: true });
    await of.call(again, 'ada', { step: '1.0', tokenHash, requestHash: 'h2' }, send);
    expect(messages(of)).toBe(2);
    expect(calls(of)).toMatchObject([
      { attempt: 1, step: '0.0' },
      { attempt: 2, step: '1.0' },
    ]);
  });

  test('at a place that asked something else before is refused, and the turn goes on', async () => {
    const of = await team();
    const begun = await of.work('ada');
    await of.call(begun, 'ada', { step: '0.0' }, send);
    const { result } = await of.call(begun, 'ada', { step: '0.0', requestHash: 'other' }, send);
    expect(result).toMatchObject({ ok: false, code: 'journal-mismatch', refused: true });
    expect(messages(of)).toBe(1);
    expect(calls(of)).toMatchObject([{ status: 'succeeded' }, { status: 'refused', error_code: 'journal-mismatch' }]);
    expect(of.turn(begun.turn)?.status).toBe('running');
    expect((await of.call(begun, 'ada', { step: '1.0' }, send)).result.ok).toBe(true);
  });

  test('that fails is recorded without its effect, and repeated as it failed', async () => {
    const of = await team();
    const begun = await of.work('ada');
    const failing = (tx: Tx) => {
      send(tx);
      throw new SuzumioError('recipient-unknown', 'There is no such agent.');
    };
    const failed = { ok: false, code: 'recipient-unknown', message: 'There is no such agent.', refused: false };
    expect(await of.call(begun, 'ada', { step: '0.0' }, failing)).toEqual({ result: failed, replayed: false });
    expect(await of.call(begun, 'ada', { step: '0.0' }, send)).toEqual({ result: failed, replayed: true });
    expect(messages(of)).toBe(0);
    expect(calls(of)).toMatchObject([{ status: 'failed', error_code: 'recipient-unknown' }]);
    expect(of.events().at(-1)).toBe('tool.called');
  });

  test.each([new SuzumioError('store-busy', 'Later.'), new Error('a mistake of ours')])(
    'that fails for %s leaves nothing, and may come again',
    async (error) => {
      const of = await team();
      const begun = await of.work('ada');
      const failing = () => {
        throw error;
      };
      await expect(of.call(begun, 'ada', { step: '0.0' }, failing)).rejects.toBe(error);
      expect(calls(of)).toEqual([]);
      expect((await of.call(begun, 'ada', { step: '0.0' }, send)).result.ok).toBe(true);
    },
  );
});

describe('a refusal', () => {
  test('of a tool off the allowlist is recorded', async () => {
    const of = await team();
    const begun = await of.work('cat');
    const { result } = await of.call(begun, 'cat', { step: '0.0' }, send);
    expect(result).toMatchObject({ code: 'tool-not-allowed', refused: true });
    expect(result.ok ? '' : result.message).toBe('Agent cat may not use messages.send; its tools are: none.');
    expect(calls(of)).toMatchObject([{ status: 'refused', error_code: 'tool-not-allowed' }]);
    expect(messages(of)).toBe(0);
  });

  test('follows once a tool has ended the turn; what came before is still answered', async () => {
    const of = await team();
    const begun = await of.work('ada');
    await of.call(begun, 'ada', { step: '0.0' }, send);
    await of.call(begun, 'ada', { step: '1.0', tool: 'completion.submit' }, () => ({ output: '', endTurn: true }));
    expect(of.turn(begun.turn)?.ended_by_tool).toBe('completion.submit');
    const { result } = await of.call(begun, 'ada', { step: '2.0' }, send);
    expect(result).toMatchObject({ code: 'turn-ended', refused: true });
    expect(await of.call(begun, 'ada', { step: '0.0' }, send)).toMatchObject({ replayed: true, result: { ok: true } });
  });

  test('follows when a turn has made all its calls', async () => {
    const of = await team(three);
    const begun = await of.work('ada');
    for (let n = 0; n < 3; n += 1) {
      expect((await of.call(begun, 'ada', { step: `${String(n)}.0` })).result.ok).toBe(true);
    }
    const { result } = await of.call(begun, 'ada', { step: '3.0' });
    expect(result).toMatchObject({ code: 'tool-limit-reached', refused: true });
    expect((await of.call(begun, 'ada', { step: '1.0' })).replayed).toBe(true);
  });

  test('leaves no row beyond twice the limit, however often a runner asks', async () => {
    const of = await team(three);
    const begun = await of.work('ada');
    for (let n = 0; n < 20; n += 1) await of.call(begun, 'ada', { step: `${String(n)}.0` });
    expect(calls(of)).toHaveLength(6);
    const events = of.events().length;
    const { result } = await of.call(begun, 'ada', { step: '20.0' });
    expect(result).toMatchObject({ code: 'tool-limit-reached', refused: true });
    const elsewhere = await of.call(begun, 'ada', { step: '0.0', requestHash: 'another' });
    expect(elsewhere.result).toMatchObject({ code: 'journal-mismatch', refused: true });
    expect(calls(of)).toHaveLength(6);
    expect(of.events()).toHaveLength(events);
    expect((await of.call(begun, 'ada', { step: '0.0' })).replayed).toBe(true);
  });

  test('of a hundredth call of an attempt ends its turn, whether or not its calls leave rows', async () => {
    const of = await team(three);
    const begun = await of.work('ada');
    for (let n = 0; n < 3 + 99; n += 1) await of.call(begun, 'ada', { step: `${String(n)}.0` });
    expect(of.turn(begun.turn)?.status).toBe('running');
    const { result } = await of.call(begun, 'ada', { step: '200.0' });
    expect(result).toMatchObject({ code: 'tool-limit-reached', refused: true });
    expect(of.turn(begun.turn)).toMatchObject({
      status: 'failed',
      failure_json: expect.stringContaining('refusal-limit') as unknown,
    });
    await expect(of.call(begun, 'ada', { step: '0.0' })).rejects.toMatchObject(refusedAs('token-rejected'));
  });

  test('is counted for its own attempt, and not again when it is repeated', async () => {
    const of = await team();
    const begun = await of.work('cat');
    for (let n = 0; n < 99; n += 1) await of.call(begun, 'cat', { step: `${String(n)}.0` });
    for (let n = 0; n < 99; n += 1) expect((await of.call(begun, 'cat', { step: '0.0' })).replayed).toBe(true);
    await of.fail(begun, 'container-vanished');
    const again = await of.begin(begun.turn);
    await of.call(again, 'cat', { step: '100.0', tokenHash: hashes(2).tool });
    expect(of.turn(begun.turn)?.status).toBe('running');
  });

  test.each([
    ['another secret', { tokenHash: hashes(2).tool }],
    ['another attempt', { attempt: 2 }],
    ['another turn', { turn: 'turn_00000000000000000000000000' }],
  ])('of a token for %s leaves no row', async (_, change) => {
    const of = await team();
    const begun = await of.work('ada');
    await expect(of.call(begun, 'ada', { step: '0.0', ...change })).rejects.toMatchObject(refusedAs('token-rejected'));
    expect(calls(of)).toEqual([]);
  });
});

describe('a runner that names no steps', () => {
  const seq = (of: Team, at: Begun, requestHash: string) =>
    of.call(at, 'ada', { requestHash, tokenHash: hashes(at.attempt).tool }, send);

  test('has its calls counted, and a later attempt replays them in their order', async () => {
    const of = await team();
    const begun = await of.work('ada');
    await seq(of, begun, 'one');
    await seq(of, begun, 'two');
    await of.fail(begun, 'container-vanished');
    const again = await of.begin(begun.turn);
    expect((await seq(of, again, 'one')).replayed).toBe(true);
    expect((await seq(of, again, 'two')).replayed).toBe(true);
    expect((await seq(of, again, 'three')).replayed).toBe(false);
    expect(calls(of)).toMatchObject([{ step: 'seq.1' }, { step: 'seq.2' }, { step: 'seq.3', attempt: 2 }]);
    expect(messages(of)).toBe(3);
  });

  test('fails its turn when a later attempt calls otherwise: it could never get past that place', async () => {
    const of = await team();
    const begun = await of.work('ada');
    await seq(of, begun, 'one');
    await of.fail(begun, 'container-vanished');
    const again = await of.begin(begun.turn);
    expect((await seq(of, again, 'another')).result).toMatchObject({ code: 'journal-mismatch' });
    expect(of.turn(begun.turn)?.status).toBe('failed');
    expect(of.stateOf('ada')).toBe('failed');
    await expect(seq(of, again, 'more')).rejects.toMatchObject(refusedAs('token-rejected'));
    await expect(of.complete(again)).rejects.toMatchObject(refusedAs('attempt-over'));
    await of.write((tx) => retryTurn(tx, 'ada', 'test'));
    expect((await seq(of, await of.begin(begun.turn), 'one')).replayed).toBe(true);
  });
});

const three = `
name: three
task: Call.
turn: { maxToolCalls: 3 }
backend: { runner: { mode: mock } }
agents: { ada: { role: caller, prompt: Call., tools: ["*"] } }
`;
