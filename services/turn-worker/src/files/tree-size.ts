import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from './errno.js';

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
}

/**
 * The total size of trees. Counting stops at a limit, which bounds its cost, too. The trees may change meanwhile. A
 * file counts as its length or its blocks, whichever is more; `alsoBytes` is added. `ended` ends it early.
 *
 * @param options.leave told the path of each directory; what is in those that it says yes to is not counted
 */
export async function treeSize(
  roots: readonly string[],
  bounds: TreeBounds,
  { alsoBytes = 0, ended, leave, leaveUnseen = false }: TreeSizeOptions = {},
): Promise<TreeSize> {
  let bytes = alsoBytes;
  let entries = 0;
  const directories = [...roots];
  for (let next = directories.pop(); next !== undefined; next = directories.pop()) {
    if (ended?.() === true) break;
    const directory = next;
    const children = await readdir(directory, { withFileTypes: true }).catch((error: unknown) => gone(error));
    if (children === undefined && leaveUnseen) continue;
    if (children === undefined)
      return { bytes, entries, beyond: 'a directory that cannot be looked into, or a path that is too long' };
    entries += children.length;
    if (entries > bounds.maxEntries)
      return { bytes, entries, beyond: `more than ${bounds.maxEntries} files and directories` };
    for (const child of children) {
      const path = join(directory, child.name);
      if (child.isDirectory()) {
        if (leave?.(path) !== true) directories.push(path);
      } else if (child.isFile()) {
        const stat = await lstat(path).catch(() => undefined);
        bytes += stat ? Math.max(stat.size, stat.blocks * 512) : 0;
        if (bytes > bounds.maxBytes) return { bytes, entries, beyond: `more than ${bounds.maxBytes} bytes` };
      }
    }
  }
  return { bytes, entries };
}

function gone(error: unknown): [] | undefined {
  return ['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '') ? [] : undefined;
}
