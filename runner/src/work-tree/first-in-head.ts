import type { WorkTree } from './work-tree.js';

/** The first of some commits that HEAD has in its history; undefined where it has none of them. */
export async function firstInHead(tree: WorkTree, commits: readonly string[]): Promise<string | undefined> {
  const asked = commits.map((id) => `${id}\n`).join('');
  const kinds = (await tree.inClone(['cat-file', '--batch-check=%(objecttype)'], { input: asked })).split('\n');
  const there = commits.filter((_, index) => kinds[index] === 'commit');
  for (const id of there) {
    const missing = await tree.inClone(['rev-list', '--max-count=1', id, '^HEAD']);
    if (missing === '') return id;
  }
  return undefined;
}
