import { posix } from 'node:path';
import { isGitUrl } from '@suzumio/contract/model/workspace-config';
import type { ConfigPath } from '../config/config-node.js';
import { type Denial, denial } from './denial.js';
import { type HostPaths, isWithin, realPath } from './host-paths.js';
import { matchesAny, type Policy } from './policy.js';
import { writableDirectories } from './resolve-policy.js';

/** The denials of a repository, by its address or its path; `at` is its field. */
export function cloneDenials(policy: Policy, at: ConfigPath, git: string, host: HostPaths): Denial[] {
  const refused = [denial(at, 'git', `workspaces may not be clones of ${git}`)];
  if (isGitUrl(git)) return matchesAny(policy.git, git) ? [] : refused;
  const real = realPath(git, host);
  // The path as written counts, too: an agent may have put a link there.
  const paths = [posix.resolve(git), real];
  if (host.protectedPaths.some((kept) => paths.some((path) => isWithin(path, kept)))) {
    return [denial(at, 'protected', `${git} lies in what is never cloned`)];
  }
  if (!matchesAny(policy.git, real)) return refused;
  const repository = repositoryAt(real, host);
  const writable = writableDirectories(policy, host).find(
    (directory) =>
      paths.some((path) => isWithin(path, directory)) || (repository && isWithin(directory, repository)) === true,
  );
  if (writable === undefined) return [];
  const message = `${git} is where agents may write (${writable}): mount that with readonly: true, or clone another repository`;
  return [denial(at, 'writable', message)];
}

/** Where the repository of a work tree is, or a bare one; undefined where it cannot be seen. */
function repositoryAt(path: string, host: HostPaths): string | undefined {
  return host.lookUp(posix.join(path, '.git'))?.real ?? host.lookUp(path)?.real;
}
