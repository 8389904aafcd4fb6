import type { ConfigPath } from '../config/config-node.js';
import type { ProjectToolpack } from '../config/local-toolpacks.js';
import { type Denial, denial } from './denial.js';
import { type HostPaths, isBelow, isWithin, realPath } from './host-paths.js';
import type { Policy } from './policy.js';
import { writableDirectories } from './resolve-policy.js';

/**
 * The denials of a toolpack's directory, before it is loaded; `at` is its field. Code is not loaded from where agents may write:
 * they could put theirs there, for the next project.
 */
export function toolpackDenials(policy: Policy, at: ConfigPath, path: string, host: HostPaths): Denial[] {
  if (!isBelow(path, policy.toolpacks.directories, host)) {
    return [denial(at, 'toolpacks.directories', `no toolpack is loaded from ${path}`)];
  }
  const writable = writableDirectories(policy, host).find(
    (directory) => isBelow(path, [directory], host) || isWithin(directory, realPath(path, host)),
  );
  if (writable === undefined) return [];
  const message = `${path} is where agents may write (${writable}): mount that with readonly: true, or keep the toolpack elsewhere`;
  return [denial(at, 'writable', message)];
}

/** The denials of a toolpack that was loaded: of where it came from, by its path then. */
export function takenDenials({ toolpacks }: Policy, { id, directory }: ProjectToolpack): Denial[] {
  if (toolpacks.directories.some((allowed) => isWithin(directory, allowed))) return [];
  const message = `the toolpack ${id} came from ${directory}, from where none may be loaded`;
  return [denial(['tools', 'toolpacks'], 'toolpacks.directories', message)];
}
