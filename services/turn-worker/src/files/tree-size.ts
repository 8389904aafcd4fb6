import { constants } from 'node:fs';
import { type FileHandle, lstat, open, opendir, readlink } from 'node:fs/promises';
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

/** Longer than any path of a workspace; programs that are given such a path cannot use it. */
const maxPathBytes = 4095;
/** As deep as a path of a workspace may be: each level is open while what is in it is counted. */
const maxDepth = 512;

const unseen = 'a directory that cannot be looked into, or a path that is too long';

/**
 * The total size of trees. Counting stops at a limit, which bounds its cost, too: what is in a directory is read piece by piece,
 * and none of it is kept. The trees may change meanwhile. A file counts as its length or its blocks, whichever is more, and like a
 * directory as one block at least; `alsoBytes` is added. `ended` ends it early. Nothing outside of them is looked at, also where a
 * directory becomes a link meanwhile.
 *
 * @param options.leave told the path of each directory; what is in those that it says yes to is not counted
 */
export async function treeSize(
  roots: readonly string[],
  bounds: TreeBounds,
  options: TreeSizeOptions = {},
): Promise<TreeSize> {
  const counting = new Counting(bounds, options);
  for (const root of roots) {
    const beyond = await counting.directory(root);
    if (beyond !== undefined) return { ...counting.size, beyond };
  }
  return counting.size;
}

class Counting {
  readonly size: TreeSize;

  constructor(
    private readonly bounds: TreeBounds,
    private readonly options: TreeSizeOptions,
  ) {
    this.size = { bytes: options.alsoBytes ?? 0, entries: 0 };
  }

  /**
   * @param at a path of it that leads nowhere else
   * @returns how the trees exceed their limits, if they do
   */
  async directory(path: string, at = path, depth = 0): Promise<string | undefined> {
    if (this.options.ended?.() === true) return undefined;
    try {
      if (depth > maxDepth || Buffer.byteLength(path) > maxPathBytes) throw new Error(unseen);
      const directory = await open(at, flags);
      try {
        const { within = path } = this.options;
        return depth === 0 && !(await isIn(directory, within, path))
          ? undefined
          : await this.#in(directory, path, depth);
      } finally {
        await directory.close();
      }
    } catch (error) {
      return this.options.leaveUnseen === true || isGone(error) ? undefined : unseen;
    }
  }

  async #in({ fd }: FileHandle, path: string, depth: number): Promise<string | undefined> {
    const { size, bounds, options } = this;
    // Elsewhere, as on macOS, a descriptor does not lead anywhere.
    const at = hasDescriptorPaths ? `/proc/self/fd/${fd}` : path;
    for await (const child of await opendir(at, { bufferSize: 256 })) {
      if (options.ended?.() === true) return undefined;
      size.entries += 1;
      if (size.entries > bounds.maxEntries) return `more than ${bounds.maxEntries} files and directories`;
      if (child.isDirectory()) size.bytes += inBlocks(0);
      else if (child.isFile()) {
        const stat = await lstat(join(at, child.name)).catch(() => undefined);
        size.bytes += stat ? inBlocks(Math.max(stat.size, stat.blocks * 512)) : 0;
      }
      if (size.bytes > bounds.maxBytes) return `more than ${bounds.maxBytes} bytes`;
      if (!child.isDirectory() || options.leave?.(join(path, child.name)) === true) continue;
      const beyond = await this.directory(join(path, child.name), join(at, child.name), depth + 1);
      if (beyond !== undefined) return beyond;
    }
    return undefined;
  }
}

const isGone = (error: unknown) => ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errnoOf(error) ?? '');

const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Whether an open directory really is at its path below `top`, and not where a link on the way leads. */
async function isIn(directory: FileHandle, top: string, path: string): Promise<boolean> {
  if (!hasDescriptorPaths || path === top) return true;
  return (await placeOf(directory)) === join(await placeOfTop(top), relative(top, path));
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
