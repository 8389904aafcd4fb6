import { createHash } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import {
  type DirectoryEntry,
  manifestBytes,
  ManifestTooLong,
  maxWorkspaceLinkBytes,
  type WorkspaceLimits,
} from '@suzumio/protocol/workspace-manifest';
import { byName } from '@suzumio/protocol/workspace-snapshot';
import type { ContentStore } from './content-store.js';

export interface SeedBounds {
  limits: WorkspaceLimits;
  /** Whether the directory may be copied, by its path once it is open. @default it may */
  mayCopy?: ((directory: string) => boolean) | undefined;
}

/** Whether what is open has a path by its descriptor. Not on macOS. */
const hasDescriptorPaths = existsSync('/proc/self/fd');
const directoryFlags = constants.O_RDONLY | constants.O_DIRECTORY;
/** Without O_NONBLOCK, opening a pipe would wait for a writer. */
const fileFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Stores a directory of the host as a workspace snapshot and returns its id. Links are kept as links. Agents may be writing
 * there: what is opened is reached by its descriptor, and below the directory no link is followed.
 *
 * @throws SuzumioError `invalid-config` when it cannot be read or is too large, `policy-denied` when it may not be copied
 */
export async function snapshotDirectory(
  content: ContentStore,
  directory: string,
  { limits, mayCopy = () => true }: SeedBounds,
): Promise<string> {
  const totals = { files: 0, bytes: 0, linkBytes: 0 };
  const storeAt = async (path: string, flags: number): Promise<string> => {
    const opened = await open(path, directoryFlags | flags);
    try {
      return await store(hasDescriptorPaths ? `/proc/self/fd/${String(opened.fd)}` : path, path === directory);
    } finally {
      await opened.close();
    }
  };
  const store = async (path: string, isTop: boolean): Promise<string> => {
    if (isTop && !mayCopy(await (hasDescriptorPaths ? readlink(path) : realpath(path))))
      throw leadsElsewhere(directory);
    const entries: DirectoryEntry[] = [];
    for (const name of await readdir(path)) {
      const entry = await describe(join(path, name), name);
      assertWithinBounds(directory, totals, limits);
      if (entry) entries.push(entry);
    }
    return content.putBytes(manifestBytes(entries.sort(byName)));
  };
  const describe = async (path: string, name: string): Promise<DirectoryEntry | undefined> => {
    const facts = await lstat(path);
    if (facts.isDirectory() || facts.isFile() || facts.isSymbolicLink()) totals.files += 1;
    if (facts.isDirectory()) {
      return { kind: 'directory', name, sha256: await storeAt(path, constants.O_NOFOLLOW) };
    }
    if (facts.isSymbolicLink()) {
      const target = await readlink(path);
      totals.linkBytes += Buffer.byteLength(target);
      return { kind: 'link', name, target };
    }
    if (!facts.isFile()) return undefined;
    const file = await open(path, fileFlags);
    try {
      return await describeFile(file, name);
    } finally {
      await file.close();
    }
  };
  const describeFile = async (file: FileHandle, name: string): Promise<DirectoryEntry | undefined> => {
    const facts = await file.stat();
    if (!facts.isFile()) return undefined;
    totals.bytes += facts.size;
    assertWithinBounds(directory, totals, limits);
    const sha256 = await hashFile(file);
    if (!content.has(sha256)) await content.put(sha256, readingAll(file));
    return { kind: 'file', name, sha256, sizeBytes: facts.size, executable: (facts.mode & 0o100) !== 0 };
  };
  try {
    return await storeAt(directory, 0);
  } catch (error) {
    if (error instanceof SuzumioError) throw error;
    if (error instanceof ManifestTooLong) throw tooLarge(directory, `a directory in it ${error.message}`);
    throw new SuzumioError(
      'invalid-config',
      `The workspace directory ${directory} ${faultOf(error)}`,
      { directory },
      { cause: error },
    );
  }
}

function leadsElsewhere(directory: string): SuzumioError {
  return new SuzumioError(
    'policy-denied',
    `The workspace directory ${directory} leads to another one than when it was allowed: put back what stood there.`,
    { directory },
  );
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
  { files, bytes, linkBytes }: { files: number; bytes: number; linkBytes: number },
  { maxFiles, maxBytes }: WorkspaceLimits,
): void {
  if (linkBytes > maxWorkspaceLinkBytes)
    throw tooLarge(directory, `it has links with more than ${String(maxWorkspaceLinkBytes)} bytes together`);
  if (files <= maxFiles && bytes <= maxBytes) return;
  throw tooLarge(
    directory,
    `a workspace may have ${String(maxFiles)} files (workspace.maxFiles) and ${String(maxBytes)} bytes (workspace.maxBytes)`,
  );
}

function tooLarge(directory: string, why: string): SuzumioError {
  return new SuzumioError('invalid-config', `The workspace directory ${directory} is too large: ${why}.`, {
    directory,
  });
}

const readingAll = (file: FileHandle) => file.createReadStream({ start: 0, autoClose: false });

async function hashFile(file: FileHandle): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of readingAll(file)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
