import { isGitUrl } from '@suzumio/contract/model/workspace-config';
import type { ConfigPath } from '../config/config-node.js';
import { type Denial, denial } from './denial.js';
import { type HostPaths, isWithin, realPath } from './host-paths.js';
import { matchesAny, type Policy } from './policy.js';

/** The denials of a repository, by its address or its path; `at` is its field. */
export function cloneDenials(policy: Policy, at: ConfigPath, git: string, host: HostPaths): Denial[] {
  const refused = [denial(at, 'git', `workspaces may not be clones of ${git}`)];
  if (isGitUrl(git)) return matchesAny(policy.git, git) ? [] : refused;
  const real = realPath(git, host);
  if (host.protectedPaths.some((kept) => isWithin(real, kept))) {
    return [denial(at, 'protected', `${git} lies in what is never cloned`)];
  }
  // A pattern without * is the path of one repository, which may be named through links.
  const patterns = policy.git.map((pattern) => (/^\/[^*]*$/.test(pattern) ? realPath(pattern, host) : pattern));
  return matchesAny(patterns, real) ? [] : refused;
}
