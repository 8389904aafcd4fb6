import type { AppliedArtifact } from '@suzumio/protocol/artifacts';
import { GitFailed, GitMissing } from '../../work-tree/run-git.js';
import { applying, type Patch, pathsIn, versionIn } from '../../work-tree/patches.js';
import { ChangingTree } from '../../work-tree/changing-tree.js';
import { WorkTreeError } from '../../work-tree/work-tree-error.js';
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
  async function* fetched(): AsyncGenerator<Patch> {
    for (const { id, base: against, sha256, sizeBytes } of earlier) {
      if (sizeBytes <= limits.fileBytes) yield { id, base: against, bytes: await fetch(sha256, limits.fileBytes) };
    }
  }
  return ChangingTree.change(roots.workspacePath, { env, signal, retentionMs: 0 }, async (tree) => {
    const version = await versionIn(tree, base, fetched());
    if (version) await replace(tree, { version, bytes });
    return version?.id;
  }).catch((error: unknown) => {
    if (error instanceof GitMissing) return undefined;
    throw error;
  });
}

async function replace(
  tree: ChangingTree,
  { version, bytes }: { readonly version: Patch; readonly bytes: Buffer },
): Promise<void> {
  try {
    const files = await tree.read(await pathsIn(tree, bytes));
    await tree.git([...applying, '--reverse'], { input: version.bytes });
    await tree.git(applying, { input: bytes });
    const moved = await tree.move(files, await tree.written());
    await moved.end();
    await moved.clean();
  } catch (error) {
    if (error instanceof WorkTreeError) throw new SandboxRefusal('patch-mismatch', error.message, { cause: error });
    if (!(error instanceof GitFailed)) throw error;
    throw new SandboxRefusal(
      'patch-mismatch',
      `Nothing was changed: with its earlier version ${version.id} taken back, it does not apply. git says: ${error.message}`,
      { cause: error },
    );
  }
}
