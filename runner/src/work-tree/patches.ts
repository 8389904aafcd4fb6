import { GitFailed, GitMissing } from './run-git.js';
import type { WorkTree } from './work-tree.js';

/** Applies a patch, which is the input, to an index. */
export const applying = ['apply', '--cached', '--whitespace=nowarn'];

/** A patch, and the commit that it is against. */
export interface Patch {
  readonly id: string;
  readonly base: string;
  readonly bytes: Buffer;
}

/** The first of some earlier versions of a patch that the files have, unless the commit of the new one has it, too. */
export async function versionIn(
  tree: WorkTree,
  base: string | undefined,
  earlier: AsyncIterable<Patch>,
): Promise<Patch | undefined> {
  for await (const version of earlier) {
    if (!(await hasPatch(tree, version.bytes))) continue;
    const isMerged = base !== undefined && base !== version.base && (await commitHasPatch(tree, version.bytes, base));
    return isMerged ? undefined : version;
  }
  return undefined;
}

/** Whether an index has what a patch brings: by default that of the files as they are. */
function hasPatch(tree: WorkTree, patch: Buffer, index = 'index'): Promise<boolean> {
  return tree.git([...applying, '--check', '--reverse'], { input: patch, index }).then(
    () => true,
    (error: unknown) => {
      if (error instanceof GitFailed && !(error instanceof GitMissing)) return false;
      throw error;
    },
  );
}

/** Whether a commit has what a patch brings. A commit that is not here is taken to be without it. */
async function commitHasPatch(tree: WorkTree, patch: Buffer, commit: string): Promise<boolean> {
  try {
    await tree.git(['read-tree', commit], { index: 'commit' });
  } catch (error) {
    if (error instanceof GitFailed) return false;
    throw error;
  }
  return hasPatch(tree, patch, 'commit');
}
