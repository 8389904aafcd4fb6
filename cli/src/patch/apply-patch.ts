import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { oneLine } from '@suzumio/core/prompt/body';
import { quotedPath } from '@suzumio/protocol/quoted-path';
import { applying, type Patch, versionIn } from '@suzumio/runner/work-tree/patches';
import { GitFailed, GitMissing, runGit } from '@suzumio/runner/work-tree/run-git';
import { threeWay } from '@suzumio/runner/work-tree/three-way';
import { type GitPlace, WorkTree } from '@suzumio/runner/work-tree/work-tree';

/** What became of a person's files. */
export interface Applied {
  /** The directory of the repository. */
  readonly repository: string;
  /** Paths that have changed, relative to it. */
  readonly files: readonly string[];
  /** Those of them in which both sides stand, because both have changed the same. */
  readonly conflicts: readonly string[];
  /** The earlier version of the patch that was there, in whose place it is. */
  readonly supersedes: string | null;
}

export interface ApplyOptions {
  /** The repository, or a directory in it. */
  readonly directory: string;
  readonly env: NodeJS.ProcessEnv;
  /** Writes files in which both sides stand, instead of refusing. */
  readonly conflicts: boolean;
}

/**
 * Applies a patch to the files of a repository of this machine: three-way by the commit that it is against, all or nothing. No commit,
 * no branch and no index changes.
 *
 * @param earlier reads the versions of before, the newest first
 * @throws SuzumioError `invalid-request` where there is no repository; `patch-refused`
 */
export async function applyPatch(
  patch: Patch,
  earlier: () => AsyncIterable<Patch>,
  { directory, env, conflicts: leave }: ApplyOptions,
): Promise<Applied> {
  try {
    const { top, place } = await repositoryAt(directory, env);
    return await WorkTree.use(top, { env, repository: place }, async (tree) => {
      const files = await tree.files();
      const before = await versionIn(tree, patch.base, earlier());
      const merged = await mergedWith(tree, { files, patch, before });
      if (merged.conflicts.length > 0 && !leave) throw refusedFor(patch, merged.conflicts);
      const changed = await tree.differing(files, merged.tree);
      await tree.move(files, merged.tree);
      return {
        repository: top,
        files: changed,
        conflicts: merged.conflicts,
        supersedes: before?.id ?? null,
      };
    });
  } catch (error) {
    if (error instanceof GitMissing) throw new SuzumioError('invalid-request', 'There is no git on this machine.');
    if (!(error instanceof GitFailed)) throw error;
    throw new SuzumioError(
      'patch-refused',
      `Nothing was changed. git says: ${oneLine(error.message)}`,
      {},
      { cause: error },
    );
  }
}

/** The tree in which the patch, and what is in the files, both are. */
async function mergedWith(
  tree: WorkTree,
  { files, patch, before }: { files: string; patch: Patch; before: Patch | undefined },
) {
  const theirs = await treeOf(tree, patch);
  // Without the commit, the lines around each change have to be as they were.
  if (theirs === undefined) return { tree: await appliedTo(tree, { files, patch, before }), conflicts: [] };
  const base = (before && (await treeOf(tree, before))) ?? (await idOf(tree, `${patch.base}^{tree}`));
  return threeWay(tree.git, { base, ours: files, theirs });
}

async function appliedTo(
  tree: WorkTree,
  { files, patch, before }: { files: string; patch: Patch; before: Patch | undefined },
): Promise<string> {
  await tree.git(['read-tree', files], { index: 'applied' });
  if (before) await tree.git([...applying, '--reverse'], { input: before.bytes, index: 'applied' });
  try {
    await tree.git(applying, { input: patch.bytes, index: 'applied' });
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error;
    throw new SuzumioError(
      'patch-refused',
      `Nothing was changed: ${patch.id} does not apply to your files, and the commit ${patch.base}, which it is against, is not in your repository: fetch it, and apply it then. git says: ${oneLine(error.message)}`,
      {},
      { cause: error },
    );
  }
  return (await tree.git(['write-tree'], { index: 'applied' })).trim();
}

/** The tree of the commit that a patch is against, with the patch; undefined where the commit is not here. */
async function treeOf(tree: WorkTree, { base, bytes }: Patch): Promise<string | undefined> {
  const kind = await tree.git(['cat-file', '--batch-check=%(objecttype)'], { input: `${base}\n` });
  if (kind.trim() !== 'commit') return undefined;
  await tree.git(['read-tree', base], { index: 'patched' });
  await tree.git(applying, { input: bytes, index: 'patched' });
  return (await tree.git(['write-tree'], { index: 'patched' })).trim();
}

async function repositoryAt(directory: string, env: NodeJS.ProcessEnv): Promise<{ top: string; place: GitPlace }> {
  const cwd = await realpath(directory).catch(() => undefined);
  const ask = (...args: string[]) => runGit(['rev-parse', ...args], { env, cwd: cwd ?? directory });
  const inside = cwd === undefined ? undefined : await ask('--show-toplevel').catch(() => undefined);
  if (inside === undefined) {
    throw new SuzumioError(
      'invalid-request',
      `${resolve(directory)} is not in a Git repository with files: name one with --repository.`,
    );
  }
  const top = inside.replace(/\n$/, '');
  const gitDir = (await ask('--absolute-git-dir')).replace(/\n$/, '');
  const objects = resolve(cwd ?? directory, (await ask('--git-path', 'objects')).replace(/\n$/, ''));
  return { top, place: { gitDir, objects } };
}

function refusedFor({ id }: Patch, conflicts: readonly string[]): SuzumioError {
  const shown = conflicts.slice(0, 20).map((path) => oneLine(quotedPath(path)));
  const more = conflicts.length > 20 ? ` and ${conflicts.length - 20} more` : '';
  return new SuzumioError(
    'patch-refused',
    `Nothing was changed: ${id} and your files have changed the same lines of ${shown.join(', ')}${more}. With --conflicts both sides are written into those files.`,
    { conflicts },
  );
}

async function idOf(tree: WorkTree, name: string): Promise<string> {
  return (await tree.git(['rev-parse', '--verify', '--quiet', '--end-of-options', name])).trim();
}
