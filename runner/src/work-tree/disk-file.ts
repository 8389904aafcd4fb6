import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, type FileHandle, lstat, mkdir, open, readlink, symlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hasCode } from '../sandbox/paths/refusal.js';

/** What a path of a disk has. `mode` are the permission bits of a file. */
export type DiskFile =
  | { readonly kind: 'absent' }
  | { readonly kind: 'directory' }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'file'; readonly sha256: string; readonly mode: number };

export const absent: DiskFile = { kind: 'absent' };

/** Neither a file, a directory nor a link: a pipe, a socket or a device. */
export class NoPlainFile extends Error {}

const chunkBytes = 1024 * 1024;

/**
 * Reads what a path has, without following a link.
 *
 * @param copyTo a path at which nothing is yet: it gets what was read, byte for byte
 * @throws NoPlainFile
 */
export async function readDiskFile(path: string, copyTo?: string): Promise<DiskFile> {
  const found = await lstat(path).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  });
  if (!found) return absent;
  if (found.isDirectory()) return { kind: 'directory' };
  if (copyTo !== undefined) await mkdir(dirname(copyTo), { recursive: true });
  if (found.isSymbolicLink()) {
    const target = await readlink(path);
    if (copyTo !== undefined) await symlink(target, copyTo);
    return { kind: 'link', target };
  }
  if (!found.isFile()) throw new NoPlainFile('it is neither a file nor a link');
  const source = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await source.stat();
    if (!stats.isFile()) throw new NoPlainFile('it is neither a file nor a link');
    const mode = stats.mode & 0o777;
    const copy = copyTo === undefined ? undefined : await open(copyTo, 'wx', 0o600);
    try {
      const sha256 = await copyAndHash(source, copy);
      await copy?.chmod(mode | 0o600);
      return { kind: 'file', sha256, mode };
    } finally {
      await copy?.close();
    }
  } finally {
    await source.close();
  }
}

async function copyAndHash(source: FileHandle, copy: FileHandle | undefined): Promise<string> {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(chunkBytes);
  for (;;) {
    const { bytesRead } = await source.read(buffer, 0, chunkBytes);
    if (bytesRead === 0) return hash.digest('hex');
    const bytes = buffer.subarray(0, bytesRead);
    hash.update(bytes);
    await copy?.writeFile(bytes);
  }
}

/** Whether two readings found the same: bytes, target, and permissions. */
export function isSameFile(one: DiskFile, other: DiskFile): boolean {
  return hasSameBytes(one, other) && (one.kind !== 'file' || other.kind !== 'file' || one.mode === other.mode);
}

/** Whether two readings found the same, permissions aside. */
export function hasSameBytes(one: DiskFile, other: DiskFile): boolean {
  if (one.kind === 'file') return other.kind === 'file' && one.sha256 === other.sha256;
  if (one.kind === 'link') return other.kind === 'link' && one.target === other.target;
  return one.kind === other.kind;
}

/** Has the disk keep a file, or the entries of a directory. */
export async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Gives a file the permissions of the one that it replaces; whether it is executable is Git's to say. */
export async function takePermissions(
  path: string,
  { mode: own }: { mode: number },
  before: DiskFile,
): Promise<number> {
  if (before.kind !== 'file') return own;
  const readable = before.mode & 0o444;
  const mode = (before.mode & 0o666) | ((own & 0o100) === 0 ? 0 : readable >> 2);
  if (mode !== own) await chmod(path, mode);
  return mode;
}
