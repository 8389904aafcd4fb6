import { mkdtemp, readdir, readlink, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A path of a directory that is short enough for unix sockets below it. */
export interface ShortPath {
  path: string;
  release(): Promise<void>;
}

/**
 * A unix socket's path has at most 103 bytes (107 on Linux). The part after the directory takes up to this: the socket of a
 * program that makes a directory of its own for temporary files, such as one of Python's `multiprocessing`.
 */
const maxPathBytes = 103 - '/d/XXXXXX/tmp/suzumio-XXXXXXXX/listener-XXXXXXXX'.length;

/** The directory's own path, or, where that is too long, a link to it that only this user can see. */
export async function shortPath(directory: string): Promise<ShortPath> {
  if (Buffer.byteLength(directory) <= maxPathBytes) return { path: directory, release: () => Promise.resolve() };
  const holder = await mkdtemp(join(tmpdir(), prefix));
  const path = join(holder, linkName);
  await symlink(directory, path);
  return { path, release: () => rm(holder, { recursive: true, force: true }) };
}

const prefix = 'suzumio-';
const linkName = 'w';
const isHolder = new RegExp(`^${prefix}[A-Za-z0-9]{6}$`);

/**
 * Removes links to a directory that killed processes left, except `own`. No other process may be using the directory.
 */
export async function removeShortPaths(directory: string, own: string): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const holder = join(tmpdir(), name);
    if (!isHolder.test(name) || holder === dirname(own)) continue;
    const target = await readlink(join(holder, linkName)).catch(() => undefined);
    if (target === directory) await rm(holder, { recursive: true, force: true });
  }
}
