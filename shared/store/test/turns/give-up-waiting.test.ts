import { expect, test } from '@jest/globals';
import { attemptRow, turnRow } from '@suzumio/store/rows';
import { giveUpWaiting, impatientTurns } from '@suzumio/store/turns/give-up-waiting';
import { endByFailure } from '@suzumio/store/turns/fail-attempt';
import { type Begun, type Team, teams } from '../team.js';

const team = teams();
const circuit = 'models.test#01234567/m';
const patient = `
name: team
task: Wait.
turn: { providerPatience: 25s }
backend: { runner: { mode: mock } }
agents: { ada: { role: worker, prompt: Work. } }
`;

/** Ends an attempt because its model is away for so long. */
const awayFor = (of: Team, { turn, attempt }: Begun, ms: number, asked = true) =>
  of.write((tx) => {
    const row = attemptRow(tx, turn, attempt);
    if (!row) throw new Error('the attempt is gone');
    const failure = { code: 'provider-unavailable' as const, message: 'models.test: Come back in an hour.' };
    return endByFailure(tx, turnRow(tx, turn), row, failure, {
      wait: { provider: circuit, untilMs: of.nowMs + ms, asked },
    });
  });

test.each([
  ['has asked it', true],
  ['waits behind others', false],
])(
  'a turn that %s waits for its model until its patience ends, however long that is away, and fails then',
  async (_name, asked) => {
    const of = await team(patient);
    const begun = await of.work('ada');
    const away = new Map([[circuit, of.nowMs + 3_600_000]]);
    const waits = () => impatientTurns(of.store.reader, of.nowMs, away);
    expect(await awayFor(of, begun, 3_600_000, asked)).toBe('queued');
    expect(of.turn(begun.turn)?.not_before_ms).toBe(asked ? of.nowMs + 25_000 : of.nowMs);
    of.advance(24_999);
    expect(waits()).toEqual([]);
    of.advance(1);
    expect(waits()).toEqual([begun.turn]);
    await of.write((tx) => {
      giveUpWaiting(tx, away);
    });
    expect(of.turn(begun.turn)?.status).toBe('failed');
    expect(JSON.parse(of.turn(begun.turn)?.failure_json ?? '')).toEqual({
      code: 'provider-unavailable',
      message: 'models.test: Come back in an hour.',
    });
    expect(waits()).toEqual([]);
  },
);

test('a turn whose model may be asked again when its patience ends is tried once more', async () => {
  const of = await team(patient);
  const begun = await of.work('ada');
  await awayFor(of, begun, 5_000);
  of.advance(25_000);
  expect(impatientTurns(of.store.reader, of.nowMs, new Map([[circuit, of.nowMs]]))).toEqual([]);
  expect(impatientTurns(of.store.reader, of.nowMs, new Map())).toEqual([]);
});
