import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isGitUrl } from '@suzumio/contract/model/workspace-config';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import type { Session } from './session.js';

/** Warns of directories of this machine that agents are to clone and that are no repositories. */
export function warnOfMissingRepositories({ context }: Session, { agents }: Pick<ProjectConfig, 'agents'>): void {
  const named = Object.values(agents).flatMap(({ workspace }) => workspace?.git ?? []);
  for (const path of new Set(named.filter((git) => !isGitUrl(git)))) {
    if (isRepository(path)) continue;
    const above = repositoryAbove(path);
    const hint = above === undefined ? '' : ` (it is part of one: name ${above})`;
    context.err.write(`warning: ${path} is no Git repository${hint}; turns that clone it fail until it is one.\n`);
  }
}

function isRepository(path: string): boolean {
  return existsSync(join(path, '.git')) || existsSync(join(path, 'objects'));
}

function repositoryAbove(path: string): string | undefined {
  const above = dirname(path);
  if (above === path) return undefined;
  return existsSync(join(above, '.git')) ? above : repositoryAbove(above);
}
