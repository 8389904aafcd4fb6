import { GitFailed, GitMissing } from './run-git.js';
import type { WorkTree } from './work-tree.js';

/** Applies a patch, which is the input, to an index. */
export const applying = ['apply', '--cached', '--whitespace=nowarn'];

/** Whether an index has what a patch brings: by default that of the files as they are. */
export function hasPatch(tree: WorkTree, patch: Buffer, index = 'index'): Promise<boolean> {
  return tree.git([...applying, '--check', '--reverse'], { input: patch, index }).then(
    () => true,
    (error: unknown) => {
      if (error instanceof GitFailed && !(error instanceof GitMissing)) return false;
      throw error;
    },
  );
}

/** Whether a commit has what a patch brings. A commit that is not here is taken to be without it. */
export async function commitHasPatch(tree: WorkTree, patch: Buffer, commit: string): Promise<boolean> {
  try {
    await tree.git(['read-tree', commit], { index: 'commit' });
  } catch (error) {
    if (error instanceof GitFailed) return false;
    throw error;
  }
  return hasPatch(tree, patch, 'commit');
}
