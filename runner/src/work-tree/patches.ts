import { GitFailed, GitMissing } from './run-git.js';
import type { ChangingTree } from './changing-tree.js';
import { WorkTreeError } from './work-tree-error.js';

/** Applies a patch, which is the input, to an index. */
export const applying = ['apply', '--cached', '--whitespace=nowarn'];

/** A patch, and the commit that it is against. */
export interface Patch {
  readonly id: string;
  readonly base: string;
  readonly bytes: Buffer;
}

/** The paths that a patch names, those that it takes away, too. */
export async function pathsIn(tree: ChangingTree, patch: Buffer): Promise<string[]> {
  const paths = new Set<string>();
  for (const side of [[], ['--reverse']]) {
    const counts = await tree.git(['apply', '--numstat', '-z', ...side], { input: patch });
    // Lines added, lines removed, path.
    for (const line of counts.split('\0')) if (line !== '') paths.add(line.split('\t').slice(2).join('\t'));
  }
  return [...paths];
}

/** The first of some earlier versions of a patch that the files have, unless the commit of the new one has it, too. */
export async function versionIn(
  tree: ChangingTree,
  base: string | undefined,
  earlier: AsyncIterable<Patch>,
): Promise<Patch | undefined> {
  for await (const version of earlier) {
    if (!(await isReadable(tree, version.bytes)) || !(await hasPatch(tree, version.bytes))) continue;
    const isMerged = base !== undefined && base !== version.base && (await commitHasPatch(tree, version.bytes, base));
    return isMerged ? undefined : version;
  }
  return undefined;
}

/** Reads the files of a patch. One that names other paths than those of files was never applied. */
async function isReadable(tree: ChangingTree, patch: Buffer): Promise<boolean> {
  try {
    await tree.read(await pathsIn(tree, patch));
    return true;
  } catch (error) {
    if (error instanceof WorkTreeError || (error instanceof GitFailed && !(error instanceof GitMissing))) return false;
    throw error;
  }
}

/** Whether an index has what a patch brings: by default that of the files as they are. */
function hasPatch(tree: ChangingTree, patch: Buffer, index = 'index'): Promise<boolean> {
  return tree.git([...applying, '--check', '--reverse'], { input: patch, index }).then(
    () => true,
    (error: unknown) => {
      if (error instanceof GitFailed && !(error instanceof GitMissing)) return false;
      throw error;
    },
  );
}

/** Whether a commit has what a patch brings. A commit that is not here is taken to be without it. */
async function commitHasPatch(tree: ChangingTree, patch: Buffer, commit: string): Promise<boolean> {
  try {
    await tree.git(['read-tree', commit], { index: 'commit' });
  } catch (error) {
    if (error instanceof GitFailed) return false;
    throw error;
  }
  return hasPatch(tree, patch, 'commit');
}
