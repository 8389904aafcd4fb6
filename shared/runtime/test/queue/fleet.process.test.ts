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

test('a worker whose time has passed is not counted, and is named as lost for a day', async () => {
  const fleet = createFleet(client, 'fleet');
  await fleet.announce({ worker: 'living', slots: 4 });
  const day = 24 * 60 * 60_000;
  const late = JSON.stringify({ worker: 'late', slots: 3, host: 'north' });
  await client.hset('fleet:presence', 'late', late, 'older', '{}', 'past', '{}', 'garbled', '{}');
  await client.hset('fleet', 'older', `1 ${Date.now() - 5_000}`, 'late', `3 ${Date.now() - 1}`);
  await client.hset('fleet', 'past', `3 ${Date.now() - day - 1}`, 'garbled', 'many');
  expect(await slotsOf('fleet')).toBe(4);
  expect(await fleet.workers()).toEqual([{ worker: 'living', slots: 4 }]);
  const lost = await fleet.lost();
  expect(lost.map(({ presence }) => presence)).toEqual([
    { worker: 'late', slots: 3, host: 'north' },
    { worker: 'older', slots: 0 },
  ]);
  expect(lost[1]?.silentMs).toBeGreaterThanOrEqual(presenceMs + 5_000);
  for (const key of ['fleet', 'fleet:presence'])
    expect((await client.hkeys(key)).sort()).toEqual(['late', 'living', 'older']);
  await fleet.announce({ worker: 'late', slots: 3 });
  await fleet.depart('older');
  expect(await fleet.lost()).toEqual([]);
});

test('of many lost workers, the last ones are kept', async () => {
  const fleet = createFleet(client, 'many');
  const all = Array.from({ length: 250 }, (_, at) => [`w${at}`, `1 ${Date.now() - 1_000 - at}`]).flat();
  await client.hset('many', ...all);
  expect((await fleet.lost()).map(({ presence }) => presence.worker)).toEqual(
    Array.from({ length: 200 }, (_, at) => `w${at}`),
  );
  expect(await client.hlen('many')).toBe(200);
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

test('the whole fleet is forgotten a day after the last word', async () => {
  const fleet = createFleet(client, 'quiet');
  await fleet.announce({ worker: 'one', slots: 1 });
  const left = await client.pttl('quiet');
  expect(left).toBeGreaterThan(presenceMs);
  expect(left).toBeLessThanOrEqual(24 * 60 * 60_000);
});
