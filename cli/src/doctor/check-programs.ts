import { spawnSync } from 'node:child_process';
import { missingPrograms, programsOfAgents } from '@suzumio/turn-worker';
import { hostPolicy } from '../host-policy.js';
import type { Session } from '../session.js';
import { broken, type Finding, ok, skipped } from './check.js';

/** Whether projects may run turns as processes; not by a policy that cannot be read, which is told of elsewhere. */
export function mayRunProcesses(session: Session): boolean {
  try {
    return hostPolicy(session).backends.includes('process');
  } catch {
    return false;
  }
}

/** The programs of this machine that tools and commands of such turns use. */
export function checkPrograms(missing = missingPrograms()): Finding {
  const lack = missing.join(', ');
  if (missing.includes('rg')) {
    return broken(
      'process',
      `turns may run as processes, and do not find ${lack} on this machine; file.search needs rg`,
      'install ripgrep, and what else agents are to use (apt-get install ripgrep; brew install ripgrep)',
    );
  }
  const there = programsOfAgents.filter((program) => !missing.includes(program)).join(', ');
  return ok('process', lack === '' ? there : `${there}; not found, should agents want it: ${lack}`);
}

/** The Git with which a worker of this machine clones workspaces. */
export function checkGit(program = 'git'): Finding {
  const { status, stdout } = spawnSync(program, ['--version'], { encoding: 'utf8', timeout: 2_000 });
  if (status === 0) return ok('git', stdout.trim().replace(/^git version /, ''));
  return skipped('git', 'not on this machine: workspaces cannot be clones of repositories (workspace.git)');
}
