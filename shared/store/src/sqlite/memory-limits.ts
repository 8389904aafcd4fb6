/** How much memory a process gives to its databases. */
export interface DatabaseMemory {
  /** How many project databases are open at a time. */
  maxOpen: number;
  /** SQLite's page cache of each, in bytes. */
  cacheBytes: number;
}

const mib = 1024 * 1024;
/** The least that an open database needs: its connection, statements and most-read pages. */
const leastBytes = mib / 2;
/** A larger cache of one database is seldom used. */
const mostBytes = 16 * mib;

/**
 * Gives half of a process's memory to database caches, and opens only as many databases as that leaves enough for each.
 */
export function databaseMemory(limitBytes: number): DatabaseMemory {
  const maxOpen = Math.min(2_048, Math.max(16, Math.floor(limitBytes / 2 / leastBytes)));
  return { maxOpen, cacheBytes: Math.min(mostBytes, Math.floor(limitBytes / 2 / maxOpen)) };
}
