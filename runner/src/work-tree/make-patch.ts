import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { knownTips, type Repository } from '@suzumio/protocol/repository';
import { baseIndex, treeOfFiles } from './all-files.js';
import { firstInHead } from './first-in-head.js';
import { WorkTree } from './work-tree.js';

/**
 * Makes a patch of all that differs between a workspace and the newest state of its repository that its branch has:
 * committed or not, with new files but those that `.gitignore` names, with binary ones. The repository, its index and its
 * objects stay as they are.
 *
 * @param use reads the patch, which is gone afterwards, and is told the commit that it is against
 * @throws Error with the reason for the caller
 */
export async function withPatch<Result>(
  workspace: string,
  repository: Pick<Repository, 'base' | 'upstream'>,
  use: (patch: FileHandle, base: string) => Promise<Result>,
): Promise<Result> {
  return WorkTree.use(workspace, { env: ownEnvironment() }, async (tree) => {
    if (!tree.isClone) throw new Error('the workspace has no directory .git any more');
    const base = (await firstInHead(tree, knownTips(repository))) ?? repository.base;
    const isThere = await tree.neutral(['cat-file', '--batch-check=%(objecttype)'], { input: `${base}\n` });
    if (isThere.trim() !== 'commit')
      throw new Error(`bad object ${base}: the workspace's .git has that commit no more`);
    const files = await treeOfFiles(tree, base);
    const path = join(tree.scratch, 'patch');
    const plain = ['--binary', '--full-index', '--no-color', '--no-ext-diff', '--no-textconv', '--no-renames'];
    await tree.neutral(['diff', ...plain, '--src-prefix=a/', '--dst-prefix=b/', base, files, '--'], {
      outputTo: path,
      // By the attributes of the commit, too.
      index: baseIndex,
    });
    const patch = await open(path);
    try {
      if ((await patch.stat()).size === 0) throw new Error(`nothing differs from the commit ${base}`);
      return await use(patch, base);
    } finally {
      await patch.close();
    }
  });
}

/** As the agent's programs have it, without the way to the turn's door. */
function ownEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:SUZUMIO|GIT)_/.test(name)));
}
