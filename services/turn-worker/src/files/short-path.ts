import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A path of a directory that is short enough for unix sockets below it. */
export interface ShortPath {
  path: string;
  release(): Promise<void>;
}

/** A unix socket's path has at most 103 bytes (107 on Linux); what follows the directory in ours takes up to this. */
const maxPathBytes = 103 - '/d/XXXXXX/door.sock'.length;

/** The directory's own path, or, where that is too long, a link to it that only this user can see. */
export async function shortPath(directory: string): Promise<ShortPath> {
  if (Buffer.byteLength(directory) <= maxPathBytes) return { path: directory, release: () => Promise.resolve() };
  const holder = await mkdtemp(join(tmpdir(), 'suzumio-'));
  const path = join(holder, 'w');
  await symlink(directory, path);
  return { path, release: () => rm(holder, { recursive: true, force: true }) };
}
