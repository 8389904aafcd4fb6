import { expect, test } from '@jest/globals';
import { databaseMemory } from '@suzumio/store/sqlite/memory-limits';

const mib = 1024 * 1024;

test.each([128, 512, 2_048, 24_576, 1_048_576])('the caches of all databases fit into half of %i MiB', (limitMib) => {
  const { maxOpen, cacheBytes } = databaseMemory(limitMib * mib);
  expect(maxOpen * cacheBytes).toBeLessThanOrEqual((limitMib * mib) / 2);
  expect(cacheBytes).toBeGreaterThanOrEqual(mib / 2);
});

test('what Compose gives a service is enough for five hundred projects at a time', () => {
  expect(databaseMemory(512 * mib)).toEqual({ maxOpen: 512, cacheBytes: mib / 2 });
});
