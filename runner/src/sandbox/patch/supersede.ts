import type { AppliedArtifact, EarlierPatch } from '@suzumio/protocol/artifacts';
import { GitFailed, GitMissing } from '../../work-tree/run-git.js';
import { WorkTree } from '../../work-tree/work-tree.js';
import { SandboxRefusal } from '../paths/refusal.js';
import type { Sandbox } from '../sandbox.js';

/** A patch as Git is given it, and what is known of it. */
interface Patch {
  readonly base: string | undefined;
  readonly bytes: Buffer;
}

const applying = ['apply', '--cached', '--whitespace=nowarn'];

/**
 * Applies a patch in the place of an earlier version of it, all or nothing: the newest one that is in the workspace is taken
 * back first, unless the commit that the new one is against has it already.
 *
 * @returns the version that was taken back; undefined where there is none, and nothing was done
 * @throws SandboxRefusal `patch-mismatch`
 */
export async function supersede(
  artifact: AppliedArtifact,
  bytes: Buffer,
  { roots, env, fetch, limits }: Sandbox,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { earlier = [], base } = artifact;
  if (earlier.length === 0) return undefined;
  return WorkTree.use(roots.workspacePath, { env, signal }, async (tree) => {
    const files = await tree.files();
    for (const version of earlier) {
      if (version.sizeBytes > limits.fileBytes) continue;
      const before = { base: version.base, bytes: await fetch(version.sha256, limits.fileBytes) };
      if (!(await isIn(tree, before))) continue;
      if (await isInBase(tree, before, base)) return undefined;
      await replace(tree, files, { version, before, bytes });
      return version.id;
    }
    return undefined;
  }).catch((error: unknown) => {
    if (error instanceof GitMissing) return undefined;
    throw error;
  });
}

async function replace(
  tree: WorkTree,
  files: string,
  { version, before, bytes }: { version: EarlierPatch; before: Patch; bytes: Buffer },
): Promise<void> {
  try {
    await tree.git([...applying, '--reverse'], { input: before.bytes });
    await tree.git(applying, { input: bytes });
    const wanted = await tree.written();
    // As the files are: what has been applied is in the index only.
    await tree.files();
    await tree.move(files, wanted);
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error;
    throw new SandboxRefusal(
      'patch-mismatch',
      `Nothing was changed: with its earlier version ${version.id} taken back, it does not apply. git says: ${error.message}`,
      { cause: error },
    );
  }
}

/** Whether files have what a patch brings. */
function isIn(tree: WorkTree, { bytes }: Patch, index = 'index'): Promise<boolean> {
  return tree.git([...applying, '--check', '--reverse'], { input: bytes, index }).then(
    () => true,
    (error: unknown) => {
      if (error instanceof GitFailed && !(error instanceof GitMissing)) return false;
      throw error;
    },
  );
}

/** Whether a commit has what a patch brings. A commit that is not here is taken to be without it. */
async function isInBase(tree: WorkTree, patch: Patch, commit: string | undefined): Promise<boolean> {
  if (commit === undefined || commit === patch.base) return false;
  try {
    await tree.git(['read-tree', commit], { index: 'base' });
  } catch (error) {
    if (error instanceof GitFailed) return false;
    throw error;
  }
  return isIn(tree, patch, 'base');
}
