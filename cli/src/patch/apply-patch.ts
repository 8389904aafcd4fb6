import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { oneLine } from '@suzumio/core/prompt/body';
import { quotedPath } from '@suzumio/protocol/quoted-path';
import { applying, type Patch, versionIn } from '@suzumio/runner/work-tree/patches';
import { GitFailed } from '@suzumio/runner/work-tree/run-git';
import { threeWay } from '@suzumio/runner/work-tree/three-way';
import { WorkTree } from '@suzumio/runner/work-tree/work-tree';
import { OwnRepository } from '../git/own-repository.js';

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
  /** What the patch is called in sentences. */
  readonly called: string;
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
  { directory, env, called, conflicts: leave }: ApplyOptions,
): Promise<Applied> {
  try {
    const { top, place } = await OwnRepository.at(directory, env);
    return await WorkTree.use(top, { env, repository: place }, async (tree) => {
      const files = await tree.files();
      const before = await versionIn(tree, patch.base, earlier());
      const merged = await mergedWith(tree, { files, patch, before, called });
      if (merged.conflicts.length > 0 && !leave) throw refusedFor(called, merged.conflicts);
      await requireResolved(tree, files, merged.conflicts);
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
    if (!(error instanceof GitFailed)) throw error;
    throw new SuzumioError(
      'patch-refused',
      `Nothing was changed. git says: ${oneLine(error.message)}`,
      {},
      { cause: error },
    );
  }
}

/** A person's files, as a tree, and what comes to them. */
interface Merging {
  readonly files: string;
  readonly patch: Patch;
  /** The version that is there. */
  readonly before: Patch | undefined;
  readonly called: string;
}

/** The tree in which the patch, and what is in the files, both are. */
async function mergedWith(tree: WorkTree, { files, patch, before, called }: Merging) {
  const theirs = await treeOf(tree, patch);
  // Without the commit, the lines around each change have to be as they were.
  if (theirs === undefined) return { tree: await appliedTo(tree, { files, patch, before, called }), conflicts: [] };
  const base = (before && (await treeOf(tree, before))) ?? (await idOf(tree, `${patch.base}^{tree}`));
  return threeWay(tree.git, { base, ours: files, theirs }, { ours: 'yours', theirs: 'patch' });
}

async function appliedTo(tree: WorkTree, { files, patch, before, called }: Merging): Promise<string> {
  await tree.git(['read-tree', files], { index: 'applied' });
  if (before) await tree.git([...applying, '--reverse'], { input: before.bytes, index: 'applied' });
  try {
    await tree.git(applying, { input: patch.bytes, index: 'applied' });
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error;
    throw new SuzumioError(
      'patch-refused',
      `Nothing was changed: ${called} does not apply to the files of ${tree.path}, and the commit ${patch.base}, which it is against, is not there. Is it the repository that the team works on? Name another with --repository, or fetch the commit. git says: ${oneLine(error.message)}`,
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

/**
 * Both sides are written once: into a file in which they stand already, they would be written into one another.
 *
 * @throws SuzumioError `patch-refused`
 */
async function requireResolved(tree: WorkTree, files: string, conflicts: readonly string[]): Promise<void> {
  for (const path of conflicts) {
    // A path that is not among the person's files has no text of theirs.
    const text = await tree.git(['cat-file', 'blob', `${files}:${path}`]).catch(() => '');
    if (!/^<{7} [^]*^>{7} /m.test(text)) continue;
    const name = oneLine(quotedPath(path));
    throw new SuzumioError(
      'patch-refused',
      `Nothing was changed: both sides stand in ${name} already (<<<<<<< and >>>>>>>). Resolve them, and apply it then.`,
    );
  }
}

function refusedFor(called: string, conflicts: readonly string[]): SuzumioError {
  const shown = conflicts.slice(0, 20).map((path) => oneLine(quotedPath(path)));
  const more = conflicts.length > 20 ? ` and ${conflicts.length - 20} more` : '';
  return new SuzumioError(
    'patch-refused',
    `Nothing was changed: ${called} and your files have changed the same lines of ${shown.join(', ')}${more}. With --conflicts both sides are written into those files.`,
    { conflicts },
  );
}

async function idOf(tree: WorkTree, name: string): Promise<string> {
  return (await tree.git(['rev-parse', '--verify', '--quiet', '--end-of-options', name])).trim();
}
