import { spawnSync } from 'node:child_process';
import { usualWorkspaceLimits } from '@suzumio/protocol/workspace-manifest';
import { defaultIgnored } from '@suzumio/protocol/ignored-roots';
import { maxContentBytes } from '@suzumio/protocol/content';
import { inspectRepository, type RepositoryRequest } from '@suzumio/runtime/repository/inspect-repository';
import { RepositoryProblem } from '@suzumio/runtime/repository/repository-problem';
import { existsSync, lstatSync } from 'node:fs';
import { dirname } from 'node:path';

/** What the repository in this directory is, to agents that get clones of it. */
export interface RepositoryHere {
  /** Why it cannot be cloned, and what would be right. */
  readonly problem?: string;
  /** How many files have changes that no clone has. */
  readonly uncommitted: number;
  /** What clones of it have to do without: `git` of a project file. */
  readonly settings: Pick<RepositoryRequest, 'lfs' | 'submodules'>;
}

/** Inspects the repository whose top this directory is. */
export async function repositoryHere(): Promise<RepositoryHere> {
  const sound = { uncommitted: 0, settings: {} };
  if (!existsSync('.git')) {
    return {
      ...sound,
      problem: 'This directory is no Git repository, for there is no .git in it: go to the top of one.',
    };
  }
  if (!lstatSync('.git').isDirectory()) {
    const common = git('rev-parse', '--path-format=absolute', '--git-common-dir');
    const history = common === undefined ? 'its .git leads nowhere' : `its history is in ${dirname(common)}`;
    return {
      ...sound,
      problem: `This directory is a linked work tree or a submodule, which cannot be cloned: ${history}. Clone the branch that agents are to work on, and go there.`,
    };
  }
  if (git('rev-parse', '--verify', '--quiet', 'HEAD^{commit}') === undefined) {
    return {
      ...sound,
      problem: 'This repository has no commit, so that there is nothing to clone: make its first one.',
    };
  }
  const { problem, settings } = await inspected(process.cwd());
  if (problem !== undefined) return { ...sound, problem };
  const changed = git('status', '--porcelain', '--untracked-files=normal') ?? '';
  return { settings, uncommitted: changed.split('\n').filter((line) => line !== '').length };
}

/** Inspects it as the worker does, and finds out what clones have to do without. */
async function inspected(path: string): Promise<{ problem?: string; settings: RepositoryHere['settings'] }> {
  const { maxBytes, maxFiles } = usualWorkspaceLimits;
  const bounds = { maxBytes, maxEntries: maxFiles, maxFileBytes: maxContentBytes };
  let settings: RepositoryHere['settings'] = {};
  for (;;) {
    try {
      await inspectRepository({ git: path, ...settings }, { bounds, ignored: defaultIgnored });
      return { settings };
    } catch (error) {
      if (!(error instanceof RepositoryProblem)) {
        if ((error as Error).name === 'AbortError') return { settings };
        throw error;
      }
      // Another machine may have Git.
      if (error.code === 'git-missing') return { settings };
      if (error.setting === undefined) return { problem: error.message, settings };
      settings = { ...settings, ...error.setting };
    }
  }
}

function git(...args: string[]): string | undefined {
  const { status, stdout } = spawnSync('git', args, { encoding: 'utf8', timeout: 20_000, maxBuffer: 64 * 1024 * 1024 });
  return status === 0 ? stdout.replace(/\n$/, '') : undefined;
}
