import { describe, expect, test } from '@jest/globals';
import { authorizeLease, authorizeTool } from '@suzumio/store/turns/authorize';
import { attemptToken, hashToken, parseAttemptToken, sameHash } from '@suzumio/store/turns/tokens';
import { hashes, refusedAs, teams } from '../team.js';

const turn = `turn_${'0'.repeat(26)}`;
const of = { cell: 'main', project: 'team', epoch: 1, turn, attempt: 2 };

describe('the tokens of an attempt', () => {
  test('are the same for the same claim, and for nothing else', () => {
    const token = attemptToken('key', 'tool', of, 'claim');
    expect(attemptToken('key', 'tool', of, 'claim')).toBe(token);
    const others = [
      attemptToken('other key', 'tool', of, 'claim'),
      attemptToken('key', 'lease', of, 'claim'),
      attemptToken('key', 'tool', of, 'another claim'),
      attemptToken('key', 'tool', { ...of, attempt: 3 }, 'claim'),
      attemptToken('key', 'tool', { ...of, epoch: 2 }, 'claim'),
    ].map((other) => other.split('.').at(-1));
    expect(new Set([...others, token.split('.').at(-1)]).size).toBe(6);
  });

  test('say which attempt they are of', () => {
    expect(parseAttemptToken(attemptToken('key', 'lease', of, 'claim'))).toEqual({ kind: 'lease', ...of });
  });

  test.each([
    '',
    'tool',
    'tool.main.team.1.turn_x.2.mac',
    `${attemptToken('key', 'tool', of, 'claim')}.more`,
    'x'.repeat(500),
  ])('are of one form: not %j', (token) => {
    expect(parseAttemptToken(token)).toBeUndefined();
  });

  test('are compared by their hashes', () => {
    expect(sameHash(hashToken('one'), hashToken('one'))).toBe(true);
    expect(sameHash(hashToken('one'), hashToken('two'))).toBe(false);
    expect(sameHash(hashToken('one'), '')).toBe(false);
  });
});

describe('what a token opens', () => {
  const team = teams();

  test('the tool token: its running attempt', async () => {
    const made = await team();
    const begun = await made.work('ada');
    const tool = { ...begun, tokenHash: hashes(1).tool };
    expect(authorizeTool(made.store.reader, tool)).toEqual({ agent: 'ada' });
    await made.fail(begun, 'container-vanished');
    expect(() => authorizeTool(made.store.reader, tool)).toThrow(expect.objectContaining(refusedAs('token-rejected')));
  });

  test('the lease token: its attempt, also when that is over', async () => {
    const made = await team();
    const begun = await made.work('ada');
    await made.complete(begun);
    const lease = { ...begun, tokenHash: hashes(1).lease };
    expect(authorizeLease(made.store.reader, lease)).toMatchObject({ turn_id: begun.turn, status: 'completed' });
    for (const change of [{ tokenHash: hashes(1).tool }, { attempt: 2 }, { turn }]) {
      expect(() => authorizeLease(made.store.reader, { ...lease, ...change })).toThrow(
        expect.objectContaining(refusedAs('token-rejected')),
      );
    }
  });
});
