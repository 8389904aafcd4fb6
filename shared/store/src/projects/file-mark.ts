import { statSync } from 'node:fs';

/** The coarsest resolution of a file system's timestamps. */
const coarsestMs = 2_000;

/**
 * The state of a database and its write-ahead log that changes with every commit: size and time; undefined while the
 * last commit is so recent that another could leave the same state. The log of a database that is opened and closed
 * comes and goes empty.
 */
export function markOf(file: string): string | undefined {
  const parts: string[] = [];
  for (const path of [file, `${file}-wal`]) {
    const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
    if (!stat || stat.size === 0n) continue;
    if (Date.now() - Number(stat.mtimeMs) < coarsestMs) return undefined;
    parts.push(`${String(stat.ino)} ${String(stat.size)} ${String(stat.mtimeNs)}`);
  }
  return parts.join(' ');
}
