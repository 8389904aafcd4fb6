import { afterEach, expect, test } from '@jest/globals';
import { checkRedis } from '@suzumio/runtime/queue/check-redis';
import { freePort } from '../../../../test/support/free-port.js';
import { startRedis, type TestRedis } from '../../../../test/support/redis.js';

let redis: TestRedis | undefined;
afterEach(async () => {
  await redis?.stop();
  redis = undefined;
});

test('a Redis that keeps its keys is fine', async () => {
  redis = await startRedis(['--maxmemory-policy', 'noeviction']);
  const report = await checkRedis(redis.url);
  expect(report).toMatchObject({ reachable: true, policy: 'noeviction', problems: [] });
  expect(report.version).toMatch(/^\d+\.\d+\.\d+$/);
});

test('one that drops keys is a problem, named with what would be right', async () => {
  redis = await startRedis(['--maxmemory-policy', 'allkeys-lru']);
  const report = await checkRedis(redis.url);
  expect(report.problems).toEqual([expect.stringMatching(/maxmemory-policy allkeys-lru.*noeviction/)]);
});

test('one that is not there, or wants a password, is a problem that names no password', async () => {
  const away = await checkRedis(`redis://:hunter22hunter22@127.0.0.1:${await freePort()}`);
  expect(away).toEqual({ reachable: false, problems: [expect.stringContaining('ECONNREFUSED')] });
  redis = await startRedis(['--requirepass', 'correcthorse']);
  const refused = await checkRedis(redis.url.replace('//', '//:hunter22hunter22@'));
  expect(refused.reachable).toBe(false);
  expect(JSON.stringify([away, refused])).not.toContain('hunter22');
});

test('one that answers nothing is given up soon', async () => {
  redis = await startRedis();
  redis.freeze();
  expect((await checkRedis(redis.url)).reachable).toBe(false);
});
