import { constants, type Dirent } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readlink } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { inBlocks } from '@suzumio/protocol/disk-blocks';
import { errnoOf } from './errno.js';
import { hasDescriptorPaths } from './open-directory.js';

export interface TreeBounds {
  maxBytes: number;
  maxEntries: number;
}

export interface TreeSize {
  /** The counted size: complete, unless the trees exceed their limits, or the counting was ended. */
  bytes: number;
  entries: number;
  /** How they exceed their limits, if they do. */
  beyond?: string;
}

export interface TreeSizeOptions {
  alsoBytes?: number;
  ended?: () => boolean;
  leave?: ((path: string) => boolean) | undefined;
  /** Whether directories that cannot be looked into are left out, and not beyond every limit. */
  leaveUnseen?: boolean;
  /** A directory that the roots are in, where others may write between it and them. @default each root itself */
  within?: string | undefined;
}

/**
 * The total size of trees. Counting stops at a limit, which bounds its cost, too. The trees may change meanwhile. A
 * file counts as its length or its blocks, whichever is more, and like a directory as one block at least; `alsoBytes` is added. `ended` ends it early. Nothing outside
 * of them is looked at, also where a directory becomes a link meanwhile.
 *
 * @param options.leave told the path of each directory; what is in those that it says yes to is not counted
 */
export async function treeSize(
  roots: readonly string[],
  bounds: TreeBounds,
  { alsoBytes = 0, ended, leave, leaveUnseen = false, within }: TreeSizeOptions = {},
): Promise<TreeSize> {
  let bytes = alsoBytes;
  let entries = 0;
  const directories = roots.map((root) => ({ top: within ?? root, path: root }));
  for (let next = directories.pop(); next !== undefined; next = directories.pop()) {
    if (ended?.() === true) break;
    const { top, path: directory } = next;
    const tooLarge = await inDirectory(top, directory, async (children, at) => {
      entries += children.length;
      if (entries > bounds.maxEntries) return `more than ${bounds.maxEntries} files and directories`;
      for (const child of children) {
        const path = join(directory, child.name);
        if (child.isDirectory()) {
          bytes += inBlocks(0);
          if (leave?.(path) !== true) directories.push({ top, path });
        } else if (child.isFile()) {
          const stat = await lstat(join(at, child.name)).catch(() => undefined);
          bytes += stat ? inBlocks(Math.max(stat.size, stat.blocks * 512)) : 0;
        }
        if (bytes > bounds.maxBytes) return `more than ${bounds.maxBytes} bytes`;
      }
      return undefined;
    }).catch((error: unknown) => {
      if (leaveUnseen || isGone(error)) return undefined;
      return 'a directory that cannot be looked into, or a path that is too long';
    });
    if (tooLarge !== undefined) return { bytes, entries, beyond: tooLarge };
  }
  return { bytes, entries };
}

const isGone = (error: unknown) => ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errnoOf(error) ?? '');

const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Lists a directory if it really is at its path below `top`, and not where a link on the way leads.
 *
 * @param look given what is in it, and a path of it that stays the same
 */
async function inDirectory<Result>(
  top: string,
  path: string,
  look: (children: Dirent[], at: string) => Promise<Result>,
): Promise<Result | undefined> {
  // As on macOS, where a descriptor does not lead anywhere.
  if (!hasDescriptorPaths) return look(await readdir(path, { withFileTypes: true }), path);
  const directory = await open(path, flags);
  try {
    if (path !== top && (await placeOf(directory)) !== join(await placeOfTop(top), relative(top, path)))
      return undefined;
    const at = `/proc/self/fd/${directory.fd}`;
    return await look(await readdir(at, { withFileTypes: true }), at);
  } finally {
    await directory.close();
  }
}

async function placeOfTop(top: string): Promise<string> {
  const directory = await open(top, flags);
  try {
    return await placeOf(directory);
  } finally {
    await directory.close();
  }
}

/** Where an open directory is now. */
const placeOf = ({ fd }: FileHandle) => readlink(`/proc/self/fd/${fd}`);
