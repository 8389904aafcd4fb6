import { expect, test } from '@jest/globals';
import { memoryShares } from '@suzumio/protocol/memory-shares';
import { maxYoungGenerationSizeMb, turnHeapMb } from '@suzumio/protocol/memory-turns';
import { databaseMemory, openBytes, scratchCacheKib, usualDatabaseBytes } from '@suzumio/store/sqlite/memory-limits';

const mib = 1024 * 1024;

test.each([512, 1_024, 2_048, 24_576, 1_048_576])(
  'open databases, a thread in its turn, a search and the process itself are no more than %i MiB',
  (mb) => {
    const { maxOpen, cacheBytes } = databaseMemory(usualDatabaseBytes(mb * mib), mb * mib);
    const databases = (maxOpen * (openBytes + cacheBytes)) / mib;
    const thread = turnHeapMb(mb * mib) + maxYoungGenerationSizeMb;
    expect(mb * memoryShares.itself + databases + 2 * thread + scratchCacheKib / 1024).toBeLessThanOrEqual(mb);
    expect(databases).toBeLessThanOrEqual(mb / 2);
  },
);

test('what Compose gives a service is enough for 89 projects at a time, of a ToolHost for 51', () => {
  const bytes = 512 * mib;
  expect(databaseMemory(usualDatabaseBytes(bytes), bytes)).toEqual({ maxOpen: 89, cacheBytes: mib / 4 });
  expect(databaseMemory(bytes * memoryShares.databases, bytes)).toEqual({ maxOpen: 51, cacheBytes: mib / 4 });
});
