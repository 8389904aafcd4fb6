import { expect, test } from '@jest/globals';
import { packMemory } from '@suzumio/control-plane/packs/pack-inspector';
import { memoryShares } from '@suzumio/protocol/memory-shares';
import { maxYoungGenerationSizeMb, turnHeapMb } from '@suzumio/protocol/memory-turns';
import { databaseMemory, openBytes } from '@suzumio/store/sqlite/memory-limits';
import { roomBytes } from '../src/bodies/runner-bodies.js';
import { controllerMemory } from '../src/toolpacks/controller-memory.js';

const mib = 1024 ** 2;

test.each([512, 1_024, 4_096, 65_536])('what a ToolHost may take at the same time is no more than %i MiB', (mb) => {
  const bytes = mb * mib;
  const { maxOpen, cacheBytes } = databaseMemory(bytes * memoryShares.databases, bytes);
  const { atOnce, processMb } = controllerMemory(bytes);
  const shares = {
    itself: mb * memoryShares.itself,
    turn: turnHeapMb(bytes) + maxYoungGenerationSizeMb,
    pack: packMemory.maxOldGenerationSizeMb + packMemory.maxYoungGenerationSizeMb,
    bodies: roomBytes(bytes) / mib,
    databases: (maxOpen * (openBytes + cacheBytes)) / mib,
    controllers: atOnce * processMb,
  };
  expect(Object.values(shares).reduce((sum, one) => sum + one)).toBeLessThanOrEqual(mb);
});

test.each([
  [512, { atOnce: 1, processMb: 64, heapMb: 40, semiSpaceMb: 4 }],
  [2_048, { atOnce: 4, processMb: 64, heapMb: 40, semiSpaceMb: 4 }],
  [8_192, { atOnce: 4, processMb: 256, heapMb: 128, semiSpaceMb: 16 }],
  [65_536, { atOnce: 4, processMb: 256, heapMb: 128, semiSpaceMb: 16 }],
])('controllers of a ToolHost with %i MiB share an eighth of it', (mb, expected) => {
  expect(controllerMemory(mb * mib)).toEqual(expected);
});
