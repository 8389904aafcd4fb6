import { totalmem } from 'node:os';

/** How much of its memory a process gives to its databases. */
export interface DatabaseMemory {
  /** Databases of projects that are open at a time. */
  maxOpen: number;
  /** The most that SQLite keeps of one of them, in bytes. */
  cacheBytes: number;
}

const mib = 1024 * 1024;
/** What an open database takes at the least: its connection, its statements, and the pages that every look reads. */
const leastBytes = mib / 2;
/** More than this of one database is seldom read again. */
const mostBytes = 16 * mib;

/** Gives half of a process's memory to the caches of its databases, and opens no more than leave each of them enough. */
export function databaseMemory(limitBytes: number): DatabaseMemory {
  const maxOpen = Math.min(2_048, Math.max(16, Math.floor(limitBytes / 2 / leastBytes)));
  return { maxOpen, cacheBytes: Math.min(mostBytes, Math.floor(limitBytes / 2 / maxOpen)) };
}

/** What this process may use: its container's limit, or all that the machine has. */
export function memoryLimitBytes(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}
