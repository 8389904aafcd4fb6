import type { AppliedArtifact, EarlierPatch } from '@suzumio/protocol/artifacts';
import { GitFailed, GitMissing } from '../../work-tree/run-git.js';
import { applying, commitHasPatch, hasPatch } from '../../work-tree/patches.js';
import { WorkTree } from '../../work-tree/work-tree.js';
import { SandboxRefusal } from '../paths/refusal.js';
import type { Sandbox } from '../sandbox.js';

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
      const before = await fetch(version.sha256, limits.fileBytes);
      if (!(await hasPatch(tree, before))) continue;
      const isMerged = base !== undefined && base !== version.base && (await commitHasPatch(tree, before, base));
      if (isMerged) return undefined;
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
  { version, before, bytes }: { version: EarlierPatch; before: Buffer; bytes: Buffer },
): Promise<void> {
  try {
    await tree.git([...applying, '--reverse'], { input: before });
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
