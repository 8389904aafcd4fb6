import { memoryShares } from '@suzumio/protocol/memory-shares';
import { maxYoungGenerationSizeMb, turnHeapMb } from '@suzumio/protocol/memory-turns';
import { memoryLimitBytes } from '@suzumio/protocol/process-memory';

/** How much memory a process gives to its databases. */
export interface DatabaseMemory {
  /** How many project databases are open at a time. */
  maxOpen: number;
  /** SQLite's page cache of each, in bytes. */
  cacheBytes: number;
}

const mib = 1024 * 1024;
/** What an open database takes beside its cache: its connection, schema and statements. */
export const openBytes = mib;
/** The most-read pages. */
const leastCacheBytes = mib / 4;
/** A larger cache of one database is seldom used. */
const mostCacheBytes = 16 * mib;
/** The share of the process for one cache. */
const cacheShare = 1 / 4_096;

/** The pages of the index of a search of stored content. */
export const scratchCacheKib = 16 * 1024;

/** What a process gives to its databases, in bytes, where nothing else takes much but a thread in its turn and a search. */
export function usualDatabaseBytes(limitBytes = memoryLimitBytes()): number {
  const threadBytes = (turnHeapMb(limitBytes) + maxYoungGenerationSizeMb) * mib;
  const leftBytes = limitBytes * (1 - memoryShares.itself) - 2 * threadBytes - scratchCacheKib * 1024;
  return Math.min(limitBytes / 2, leftBytes);
}

/**
 * Opens only as many databases as there is room for.
 *
 * @param bytes what all of them may take
 * @param limitBytes what the process may take
 */
export function databaseMemory(bytes = usualDatabaseBytes(), limitBytes = memoryLimitBytes()): DatabaseMemory {
  const cacheBytes = Math.min(mostCacheBytes, Math.max(leastCacheBytes, Math.floor(limitBytes * cacheShare)));
  return {
    maxOpen: Math.min(2_048, Math.max(16, Math.floor(bytes / (openBytes + cacheBytes)))),
    cacheBytes,
  };
}
