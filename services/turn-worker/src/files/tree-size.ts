import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from './errno.js';

export interface TreeBounds {
  maxBytes: number;
  maxEntries: number;
}

/**
 * Why a tree is beyond its bounds, or undefined while it is within. Stops at the bound: the cost is bounded, too. The
 * tree may change meanwhile. A file counts with its length or its blocks, whichever is more.
 */
export async function beyondBounds(roots: readonly string[], bounds: TreeBounds): Promise<string | undefined> {
  let sizeBytes = 0;
  let entries = 0;
  const directories = [...roots];
  for (let next = directories.pop(); next !== undefined; next = directories.pop()) {
    const directory = next;
    const children = await readdir(directory, { withFileTypes: true }).catch((error: unknown) => gone(error));
    if (children === undefined) return 'a directory that cannot be looked into, or a path that is too long';
    entries += children.length;
    if (entries > bounds.maxEntries) return `more than ${bounds.maxEntries} files and directories`;
    for (const child of children) {
      const path = join(directory, child.name);
      if (child.isDirectory()) directories.push(path);
      else if (child.isFile()) {
        const stat = await lstat(path).catch(() => undefined);
        sizeBytes += stat ? Math.max(stat.size, stat.blocks * 512) : 0;
        if (sizeBytes > bounds.maxBytes) return `more than ${bounds.maxBytes} bytes`;
      }
    }
  }
  return undefined;
}

function gone(error: unknown): [] | undefined {
  return ['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '') ? [] : undefined;
}
