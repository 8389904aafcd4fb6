import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { createFleet } from '@suzumio/runtime/queue/fleet';
import { presenceMs } from '@suzumio/runtime/queue/jobs';
import { createPlaces } from '@suzumio/runtime/queue/places';
import { startRedis, type TestRedis } from '../../../../test/support/redis.js';

let redis: TestRedis;
let client: Redis;
beforeAll(async () => {
  redis = await startRedis();
  client = new Redis(redis.url);
});
afterAll(async () => {
  client.disconnect();
  await redis.stop();
});

/** Slots of the fleet under a key: as many places as are free before any was taken. */
async function slotsOf(key: string): Promise<number> {
  const places = createPlaces(client, { key: `${key}:places`, fleet: [key, `${key}:presence`] });
  return (await places.take([])).free;
}

test('a worker whose time has passed is not counted and is forgotten', async () => {
  const fleet = createFleet(client, 'fleet');
  await fleet.announce({ worker: 'living', slots: 4 });
  await client.hset('fleet:presence', 'late', '{}', 'garbled', '{}');
  await client.hset('fleet', 'late', `3 ${Date.now() - 1}`, 'garbled', 'many');
  expect(await slotsOf('fleet')).toBe(4);
  expect(await fleet.workers()).toEqual([{ worker: 'living', slots: 4 }]);
  expect(await client.hkeys('fleet')).toEqual(['living']);
  expect(await client.hkeys('fleet:presence')).toEqual(['living']);
});

test('a worker whose words this version cannot read counts by its slots alone', async () => {
  const fleet = createFleet(client, 'later');
  await client.hset('later', 'newer', `3 ${Date.now() + presenceMs}`, 'older', `1 ${Date.now() + presenceMs}`);
  await client.hset('later:presence', 'newer', '{"worker":"newer","slots":3,"state":"dreaming"}');
  expect(await slotsOf('later')).toBe(4);
  expect((await fleet.workers()).sort((a, b) => a.worker.localeCompare(b.worker))).toEqual([
    { worker: 'newer', slots: 3 },
    { worker: 'older', slots: 1 },
  ]);
});

test('the whole fleet runs out when nobody says anything', async () => {
  const fleet = createFleet(client, 'quiet');
  await fleet.announce({ worker: 'one', slots: 1 });
  const left = await client.pttl('quiet');
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThanOrEqual(presenceMs);
});
