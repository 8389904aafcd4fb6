import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { oneLine } from '@suzumio/core/prompt/body';
import { quotedPath } from '@suzumio/protocol/quoted-path';
import { ChangingTree } from '@suzumio/runner/work-tree/changing-tree';
import { applying, type Patch, pathsIn, versionIn } from '@suzumio/runner/work-tree/patches';
import { GitFailed } from '@suzumio/runner/work-tree/run-git';
import type { LeftFile } from '@suzumio/runner/work-tree/work-tree-error';
import { WorkTreeError } from '@suzumio/runner/work-tree/work-tree-error';
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
  /** The directory that has the files as they were before, for a week; null where none was replaced. */
  readonly replaced: string | null;
  /** Sentences about changes of before: one that broke off and was undone, text that came to a replaced file later. */
  readonly notes: readonly string[];
}

/** How long files are kept that a patch has replaced. */
const retentionMs = 7 * 24 * 60 * 60_000;

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
  let notes: readonly string[] = [];
  const refused = (sentence: string, cause: unknown) =>
    new SuzumioError('patch-refused', [...notes, sentence].map(oneLine).join(' '), {}, { cause });
  try {
    const { top, gitDir } = await OwnRepository.at(directory, env);
    return await ChangingTree.change(top, { env, repository: gitDir, retentionMs }, async (tree) => {
      notes = notesOn(tree);
      const before = await versionIn(tree, patch.base, earlier());
      const merged = await mergedWith(tree, { patch, before, called });
      if (merged.conflicts.length > 0 && !leave) throw refusedFor(called, merged.conflicts);
      await requireResolved(tree, merged.files, merged.conflicts);
      const moved = await tree.move(merged.files, merged.tree);
      await moved.end();
      await moved.clean();
      return {
        repository: top,
        files: moved.paths,
        conflicts: merged.conflicts,
        supersedes: before?.id ?? null,
        replaced: moved.replaced,
        notes,
      };
    });
  } catch (error) {
    if (error instanceof WorkTreeError) throw refused(error.message, error);
    if (error instanceof GitFailed) throw refused(`Nothing was changed. git says: ${error.message}`, error);
    throw error;
  }
}

/** What comes to a person's files. */
interface Merging {
  readonly patch: Patch;
  /** The version that is there. */
  readonly before: Patch | undefined;
  readonly called: string;
}

/** The tree in which the patch, and what is in the files, both are. */
async function mergedWith(tree: ChangingTree, { patch, before, called }: Merging) {
  const theirs = await treeOf(tree, patch);
  // Without the commit, the lines around each change have to be as they were.
  if (theirs === undefined) return appliedTo(tree, { patch, before, called });
  const base = (before && (await treeOf(tree, before))) ?? (await idOf(tree, `${patch.base}^{tree}`));
  return tree.merged({ base, theirs }, { ours: 'yours', theirs: 'patch' });
}

async function appliedTo(tree: ChangingTree, { patch, before, called }: Merging) {
  const files = await tree.read(await pathsIn(tree, patch.bytes));
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
  const applied = await tree.git(['write-tree', '--missing-ok'], { index: 'applied' });
  return { files, tree: applied.trim(), conflicts: [] };
}

/** The tree of the commit that a patch is against, with the patch; undefined where the commit is not here. */
async function treeOf(tree: ChangingTree, { base, bytes }: Patch): Promise<string | undefined> {
  const kind = await tree.git(['cat-file', '--batch-check=%(objecttype)'], { input: `${base}\n` });
  if (kind.trim() !== 'commit') return undefined;
  await tree.git(['read-tree', base], { index: 'patched' });
  await tree.git(applying, { input: bytes, index: 'patched' });
  return (await tree.git(['write-tree', '--missing-ok'], { index: 'patched' })).trim();
}

/**
 * Both sides are written once: into a file in which they stand already, they would be written into one another.
 *
 * @throws SuzumioError `patch-refused`
 */
async function requireResolved(tree: ChangingTree, files: string, conflicts: readonly string[]): Promise<void> {
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

/** What a person has to know of changes before this one. */
function notesOn({ recovered }: ChangingTree): string[] {
  const named = ({ path, copy }: LeftFile) => `${quotedPath(path)} (${quotedPath(copy)})`;
  return [
    ...recovered.undone.map(({ left }) =>
      left.length === 0
        ? 'An earlier patch broke off while it was applied: it was undone first.'
        : `An earlier patch broke off while it was applied, and was undone but for ${left.map(named).join(', ')}: files that were written to since. In brackets: what was there before.`,
    ),
    ...(recovered.late.length === 0
      ? []
      : [
          `Text was written to files after a patch had replaced them; it is in brackets: ${recovered.late.map(named).join(', ')}.`,
        ]),
  ];
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

async function idOf(tree: ChangingTree, name: string): Promise<string> {
  return (await tree.git(['rev-parse', '--verify', '--quiet', '--end-of-options', name])).trim();
}
