import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync } from 'node:fs';
import { dirname } from 'node:path';

/** What the repository in this directory is, to agents that get clones of it. */
export interface RepositoryHere {
  /** Why it cannot be cloned, and what would be right. */
  readonly problem?: string;
  /** How many files have changes that no clone has. */
  readonly uncommitted: number;
}

/** Looks at the repository whose top this directory is; a repository that this machine's Git cannot read is taken as sound. */
export function repositoryHere(): RepositoryHere {
  const sound = { uncommitted: 0 };
  if (!existsSync('.git')) {
    return {
      ...sound,
      problem: 'This directory is no Git repository, for there is no .git in it: go to the top of one.',
    };
  }
  if (git('rev-parse', '--is-inside-work-tree') === undefined) return sound;
  if (!lstatSync('.git').isDirectory()) {
    const home = dirname(git('rev-parse', '--path-format=absolute', '--git-common-dir') ?? '');
    return {
      ...sound,
      problem: `This directory is a linked work tree or a submodule, which cannot be cloned: its history is in ${home}. Clone the branch that agents are to work on, and go there.`,
    };
  }
  if (git('rev-parse', '--verify', '--quiet', 'HEAD^{commit}') === undefined) {
    return {
      ...sound,
      problem: 'This repository has no commit, so that there is nothing to clone: make its first one.',
    };
  }
  const changed = git('status', '--porcelain', '--untracked-files=normal') ?? '';
  return { uncommitted: changed.split('\n').filter((line) => line !== '').length };
}

function git(...args: string[]): string | undefined {
  const { status, stdout } = spawnSync('git', args, { encoding: 'utf8', timeout: 20_000, maxBuffer: 64 * 1024 * 1024 });
  return status === 0 ? stdout.replace(/\n$/, '') : undefined;
}
