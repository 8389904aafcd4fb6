import { describe, expect, test } from '@jest/globals';
import { once } from '@suzumio/store/sqlite/once';
import { postMessage } from '@suzumio/store/mail/post-message';
import { refusedAs, type Team, teams } from '../team.js';

const team = teams();
const key = { token: 'me', route: 'POST /messages', key: 'k1', requestHash: 'h1' };
const dayMs = 24 * 60 * 60 * 1000;

const post = (of: Team, change: Partial<typeof key> = {}, fail = false) =>
  of.write((tx) =>
    once(tx, { ...key, ...change }, () => {
      const { id } = postMessage(tx, { sender: 'user', recipient: 'ada', priority: 'P1', body: 'Hi.', actor: 'me' });
      if (fail) throw new Error('no');
      return { id };
    }),
  );
const messages = (of: Team) => of.rows<{ n: number }>('SELECT count(*) AS n FROM messages')[0]?.n;

describe('an idempotency key', () => {
  test('lets an effect happen once', async () => {
    const of = await team();
    const first = await post(of);
    expect(await post(of)).toEqual(first);
    expect(messages(of)).toBe(1);
  });

  test('is one token’s on one route', async () => {
    const of = await team();
    await post(of);
    await post(of, { token: 'you' });
    await post(of, { route: 'POST /start' });
    await post(of, { key: 'k2' });
    expect(messages(of)).toBe(4);
  });

  test('with another body is refused', async () => {
    const of = await team();
    await post(of);
    await expect(post(of, { requestHash: 'h2' })).rejects.toMatchObject(refusedAs('idempotency-mismatch'));
    expect(messages(of)).toBe(1);
  });

  test('of a request that failed is not used up', async () => {
    const of = await team();
    await expect(post(of, {}, true)).rejects.toThrow('no');
    await post(of, { requestHash: 'h2' });
    expect(messages(of)).toBe(1);
  });

  test('is kept for a day and then forgotten', async () => {
    const of = await team();
    await post(of);
    of.advance(dayMs - 1);
    await post(of);
    expect(messages(of)).toBe(1);
    of.advance(1);
    await post(of, { requestHash: 'h2' });
    expect(messages(of)).toBe(2);
    expect(of.rows('SELECT request_hash FROM idempotency_keys')).toEqual([{ request_hash: 'h2' }]);
  });

  test('is not needed', async () => {
    const of = await team();
    expect(await of.write((tx) => once(tx, undefined, () => 'done'))).toBe('done');
    expect(of.rows('SELECT * FROM idempotency_keys')).toEqual([]);
  });
});
