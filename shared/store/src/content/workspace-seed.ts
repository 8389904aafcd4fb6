import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { type DirectoryEntry, manifestBytes, type WorkspaceLimits } from '@suzumio/protocol/workspace-manifest';
import { byName } from '@suzumio/protocol/workspace-snapshot';
import type { ContentStore } from './content-store.js';

/**
 * Stores a directory of the host as a workspace snapshot and returns its id. Links are kept as links.
 *
 * @throws SuzumioError `invalid-config` when it cannot be read or is too large
 */
export async function snapshotDirectory(
  content: ContentStore,
  directory: string,
  limits: WorkspaceLimits,
): Promise<string> {
  const totals = { files: 0, bytes: 0 };
  const store = async (relative: string): Promise<string> => {
    const entries: DirectoryEntry[] = [];
    for (const name of await readdir(join(directory, relative))) {
      const entry = await describe(join(relative, name), name);
      assertWithinBounds(directory, totals, limits);
      if (entry) entries.push(entry);
    }
    return content.putBytes(manifestBytes(entries.sort(byName)));
  };
  const describe = async (path: string, name: string): Promise<DirectoryEntry | undefined> => {
    const file = join(directory, path);
    const facts = await lstat(file);
    if (facts.isDirectory() || facts.isFile() || facts.isSymbolicLink()) totals.files += 1;
    if (facts.isDirectory()) return { kind: 'directory', name, sha256: await store(path) };
    if (facts.isSymbolicLink()) return { kind: 'link', name, target: await readlink(file) };
    if (!facts.isFile()) return undefined;
    totals.bytes += facts.size;
    assertWithinBounds(directory, totals, limits);
    const sha256 = await hashFile(file);
    if (!content.has(sha256)) await content.put(sha256, createReadStream(file));
    return { kind: 'file', name, sha256, sizeBytes: facts.size, executable: (facts.mode & 0o100) !== 0 };
  };
  try {
    return await store('');
  } catch (error) {
    if (error instanceof SuzumioError) throw error;
    throw new SuzumioError(
      'invalid-config',
      `The workspace directory ${directory} ${faultOf(error)}`,
      { directory },
      { cause: error },
    );
  }
}

/** What is wrong with a directory, and what would be right. */
function faultOf(error: unknown): string {
  const { code, message, path } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'does not exist: make it, or name another one in workspace.from.';
  if (code === 'ENOTDIR') return 'is no directory: name one in workspace.from.';
  if (code === 'EACCES') return `cannot be read: give this user the right to read ${path ?? 'it'}.`;
  return `cannot be read: ${message}.`;
}

function assertWithinBounds(
  directory: string,
  { files, bytes }: { files: number; bytes: number },
  { maxFiles, maxBytes }: WorkspaceLimits,
): void {
  if (files <= maxFiles && bytes <= maxBytes) return;
  throw new SuzumioError(
    'invalid-config',
    `The workspace directory ${directory} is too large: a workspace may have ${String(maxFiles)} files (workspace.maxFiles) and ${String(maxBytes)} bytes (workspace.maxBytes).`,
    { directory },
  );
}

async function hashFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
