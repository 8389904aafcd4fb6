import { linkSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

// A file that is removed is set aside first, where nothing finds it, and unlinked once nobody is charged for it.

/** Prefix of files that are being removed; the file's name follows. */
const prefix = '.old-';

/**
 * Renames a file aside, unless it was confirmed meanwhile. Later requests find it missing, and store it again.
 *
 * @returns its new path
 */
export function setAside(path: string, beforeMs: number): string | undefined {
  const aside = join(dirname(path), `${prefix}${basename(path)}`);
  try {
    renameSync(path, aside);
    if (statSync(aside).mtimeMs < beforeMs) return aside;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  putBack(aside);
  return undefined;
}

export function isAside(name: string): boolean {
  return name.startsWith(prefix);
}

/** Gives a file its name back, unless it was stored again meanwhile. Returns its path. */
export function putBack(aside: string): string {
  const path = join(dirname(aside), basename(aside).slice(prefix.length));
  try {
    linkSync(aside, path);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST' && codeOf(error) !== 'ENOENT') throw error;
  }
  rmSync(aside, { force: true });
  return path;
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
