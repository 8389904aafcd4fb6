import { copyFile, lstat, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beginningOf } from '@suzumio/protocol/cut-text';
import {
  knownTips,
  type Repository,
  type Upstream,
  upstreamBranch,
  upstreamRemote,
} from '@suzumio/protocol/repository';
import type { SandboxInput } from '@suzumio/protocol/sandbox-tools/catalogue';
import { firstInHead } from '../work-tree/first-in-head.js';
import { GitFailed, GitMissing } from '../work-tree/run-git.js';
import { type Merged, threeWay } from '../work-tree/three-way.js';
import type { Git } from '../work-tree/work-tree.js';
import { ChangingTree } from '../work-tree/changing-tree.js';
import { WorkTreeError } from '../work-tree/work-tree-error.js';
import { SandboxRefusal } from './paths/refusal.js';
import type { Sandbox, SandboxCall, SandboxResponse } from './sandbox.js';
import { counted } from './text/legible.js';

/** How many paths a result names, and how much it shows of conflicts. */
const maxPaths = 50;
const maxShownChars = 6_000;

/** How long what is new may take to come: it is as large as a clone at most. */
const fetchMs = 600_000;

/** The sides of a conflict. */
const called = { ours: 'yours', theirs: upstreamRemote };

/** What Git keeps in a repository while something is not ended there, and what it is. */
const unfinished: readonly (readonly [file: string, what: string])[] = [
  ['MERGE_HEAD', 'merge'],
  ['rebase-merge', 'rebase'],
  ['rebase-apply/applying', 'am'],
  ['rebase-apply', 'rebase'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
];

/** Brings what is new in the repository of a clone into its branch and its files: all of it, or nothing. */
export async function refreshWorkspace(
  _: SandboxInput<'workspace.git.refresh'>,
  { repository, roots, env }: Sandbox,
  { signal }: SandboxCall,
): Promise<SandboxResponse> {
  const path = roots.workspacePath;
  if (!repository) throw new SandboxRefusal('not-a-clone', 'Your workspace was not cloned from a repository.');
  const { upstream } = repository;
  if (!upstream) {
    return {
      output:
        repository.ref === repository.base
          ? `Nothing can be new: your workspace was cloned at the commit ${repository.base}.`
          : 'Nothing is new: your workspace was cloned for this turn. The repository is looked at before each later one.',
    };
  }
  try {
    return await ChangingTree.change(path, { env, signal, retentionMs: 0 }, (tree) =>
      refresh(tree, repository, upstream),
    );
  } catch (error) {
    if (error instanceof WorkTreeError) throw new SandboxRefusal('git-failed', error.message, { cause: error });
    if (!(error instanceof GitFailed)) throw error;
    const code = error instanceof GitMissing ? 'program-missing' : 'git-failed';
    throw new SandboxRefusal(code, `Nothing was changed. git says: ${error.message}`, { cause: error });
  }
}

async function refresh(
  tree: ChangingTree,
  repository: Repository,
  { commit: tip, shallow }: Upstream,
): Promise<SandboxResponse> {
  if (!tree.isClone) {
    throw new SandboxRefusal('not-a-clone', 'Your workspace has no directory .git any more, so nothing was changed.');
  }
  await requireRest(tree);
  const cutOff = shallow ? ['--update-shallow'] : [];
  await tree.inClone(['fetch', '--quiet', '--no-tags', ...cutOff, upstreamRemote], { timeoutMs: fetchMs });
  const head = await idOf(tree, 'HEAD');
  // Where HEAD has none of them, its files are the agent's own, made from the first.
  const from = (await firstInHead(tree, knownTips(repository))) ?? repository.base;
  if (from === tip) return { output: `Nothing is new: your branch has the commit ${tip} of ${repository.name}.` };
  const merge = await mergeOf(tree, { head, from, tip });
  const paths = await bring(tree, { head, to: merge });
  const said = [
    `${merge === tip ? 'Your branch is at' : `Your commits were merged into ${merge}, with`} the commit ${tip} of ${repository.name} now.`,
    paths.length === 0 ? 'No file of the workspace has changed by that.' : changed(paths),
  ];
  return { output: said.join(' '), metadata: { from, tip, head: merge, files: paths.length } };
}

/** Has HEAD's history and the tip's in one commit: the tip itself where there is nothing besides. */
async function mergeOf(
  tree: ChangingTree,
  { head, from, tip }: { head: string; from: string; tip: string },
): Promise<string> {
  if (head === from) return tip;
  const ids = await Promise.all([from, head, tip].map((commit) => idOf(tree, `${commit}^{tree}`)));
  const [base = '', ours = '', theirs = ''] = ids;
  const merged = await threeWay(tree.inClone, { base, ours, theirs }, called);
  await requireAgreement('what you have committed', merged, tree.inClone);
  const message = `Merge commit '${tip}' of ${upstreamRemote}\n`;
  const parents = ['-p', head, '-p', tip];
  return (await tree.inClone(['commit-tree', merged.tree, ...parents], { input: message })).trim();
}

/** Brings files, index and HEAD to a commit, with all in them that is not committed. @returns the paths that have changed */
async function bring(tree: ChangingTree, { head, to }: { head: string; to: string }): Promise<string[]> {
  const [base, theirs] = [await idOf(tree, `${head}^{tree}`), await idOf(tree, `${to}^{tree}`)];
  const gitDir = join(tree.path, '.git');
  const index = join(gitDir, 'suzumio-index');
  const before = join(tree.scratch, 'index-before');
  // A refresh that was killed has left them.
  const remove = () => Promise.all([index, `${index}.lock`].map((file) => rm(file, { force: true })));
  await remove();
  try {
    await copyFile(join(gitDir, 'index'), before);
    const staged = (await tree.inClone(['write-tree'])).trim();
    const newIndex = await threeWay(tree.inClone, { base, ours: staged, theirs }, called);
    await requireAgreement('what you have staged', newIndex, tree.inClone);
    const newFiles = await tree.merged({ base, theirs }, called);
    await requireAgreement('what you have changed', newFiles, tree.git);
    await tree.inClone(['read-tree', newIndex.tree], { index });
    const moved = await tree.move(newFiles.files, newFiles.tree);
    // From here on a refresh that is killed goes on from the new files: merged again, they stay as they are.
    await moved.end();
    try {
      await tree.inClone(['update-index', '-q', '--refresh'], { index, codes: [0, 1] });
      await rename(index, join(gitDir, 'index'));
      await tree.inClone(['update-ref', '-m', 'workspace.git.refresh', 'HEAD', to, head]);
    } catch (error) {
      await copyFile(before, join(gitDir, 'index'));
      await moved.undo();
      throw error;
    }
    await moved.clean();
    return [...moved.paths];
  } finally {
    await remove();
  }
}

/** @throws SandboxRefusal `merge-unfinished` */
async function requireRest(tree: ChangingTree): Promise<void> {
  for (const [file, what] of unfinished) {
    if (!(await lstat(join(tree.path, '.git', file)).catch(() => undefined))) continue;
    throw new SandboxRefusal(
      'merge-unfinished',
      `A ${what} is not ended in your workspace, so nothing was changed: end it, or run git ${what} --abort, and call this again.`,
    );
  }
  const unmerged = (await tree.inClone(['diff', '--name-only', '--diff-filter=U', '-z'])).split('\0').filter(Boolean);
  if (unmerged.length === 0) return;
  throw new SandboxRefusal(
    'merge-unfinished',
    `Conflicts are not resolved in your workspace, so nothing was changed: ${listed(unmerged)}. Resolve them, git add the files, and call this again.`,
  );
}

/** @throws SandboxRefusal `merge-conflict`, which shows both sides */
async function requireAgreement(what: string, { tree, conflicts }: Merged, git: Git): Promise<void> {
  if (conflicts.length === 0) return;
  let shown = '';
  for (const path of conflicts) {
    if (shown.length >= maxShownChars) break;
    // A path that one side has removed has no text with both.
    const text = await git(['cat-file', 'blob', `${tree}:${path}`]).catch(() => '');
    shown += (text.match(bothSides) ?? []).map((part) => `\n${path}:\n${part}`).join('');
  }
  throw new SandboxRefusal(
    'merge-conflict',
    `Nothing was changed: ${what} and what is new contradict each other in ${counted(conflicts.length, 'file')}: ${listed(conflicts)}. ` +
      `Change what is yours so that both agree, or take it back, and call this again. Where you run programs, git merge ${upstreamRemote}/${upstreamBranch} does the same and leaves both sides in the files.` +
      beginningOf(shown, maxShownChars),
  );
}

/** What Git writes into a file where both sides have changed the same. */
const bothSides = /^<{7} [^]*?^>{7} .*$/gm;

function changed(paths: readonly string[]): string {
  return `${counted(paths.length, 'file')} of the workspace changed by that: ${listed(paths)}.`;
}

function listed(paths: readonly string[]): string {
  const more = paths.length > maxPaths ? ` and ${paths.length - maxPaths} more` : '';
  return `${paths
    .slice(0, maxPaths)
    .map((path) => JSON.stringify(path))
    .join(', ')}${more}`;
}

async function idOf(tree: ChangingTree, name: string): Promise<string> {
  return (await tree.inClone(['rev-parse', '--verify', '--quiet', '--end-of-options', name])).trim();
}
