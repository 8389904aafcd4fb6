import { relative } from 'node:path';
import { removeTree } from '../files/remove-tree.js';
import { treeSize } from '../files/tree-size.js';
import type { Workspace } from '../workspace/workspaces.js';

/** A workspace with directories that are not captured: caches of this host. */
export type CachedWorkspace = Pick<Workspace, 'directory' | 'isIgnored'>;

/** Whether a directory of a workspace, by its whole path, is a cache. */
export function isCache({ directory, isIgnored }: CachedWorkspace): (path: string) => boolean {
  return (path) => path.startsWith(`${directory}/`) && isIgnored(relative(directory, path));
}

/** What is not in a cache is bounded by another measurement. */
const unbounded = { maxBytes: Infinity, maxEntries: Infinity };

/** Where the caches are; what is in them is not looked at. */
export async function cachesIn(workspace: CachedWorkspace): Promise<string[]> {
  const caches: string[] = [];
  const isOne = isCache(workspace);
  await treeSize([workspace.directory], unbounded, {
    leave: (path) => {
      const found = isOne(path);
      if (found) caches.push(path);
      return found;
    },
  });
  return caches;
}

/** Removes the caches. No other process may be writing there. */
export async function removeCaches(workspace: CachedWorkspace): Promise<void> {
  for (const cache of await cachesIn(workspace)) await removeTree(cache);
}
