import type { Git } from './work-tree.js';

/** What a merge comes to: a tree, and the paths at which both sides have changed the same. */
export interface Merged {
  readonly tree: string;
  readonly conflicts: readonly string[];
}

/** Of a commit that nobody sees. */
const nobody = ['-c', 'user.name=Suzumio', '-c', 'user.email=suzumio@invalid', '-c', 'commit.gpgSign=false'];

/**
 * Merges two trees by the one that both come from: what either has changed since. History does not count.
 *
 * @param called what a file says of each side where both have changed the same
 */
export async function threeWay(
  git: Git,
  { base, ours, theirs }: { base: string; ours: string; theirs: string },
  called: { ours: string; theirs: string },
): Promise<Merged> {
  if (base === ours) return { tree: theirs, conflicts: [] };
  const commit = async (tree: string, ...parents: string[]) =>
    (await git([...nobody, 'commit-tree', tree, ...parents.flatMap((id) => ['-p', id])], { input: 'A side' })).trim();
  // Git merges commits; these have the trees and no more.
  const root = await commit(base);
  // A side is called what Git is given for it, and Git takes `words-gID` for ID.
  const sides = [`${called.ours}-g${await commit(ours, root)}`, `${called.theirs}-g${await commit(theirs, root)}`];
  const printed = await git(['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', ...sides], {
    codes: [0, 1],
  });
  const [tree = '', ...conflicts] = printed.split('\0').filter((part) => part !== '');
  return { tree, conflicts: [...new Set(conflicts)] };
}
