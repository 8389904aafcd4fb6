import type { ConfigPath } from '../config/config-node.js';
import { describePath } from '../config/schema-problems.js';
import type { Policy } from './policy.js';

/**
 * The rule that forbids something: the field of the policy that would have to allow it, or a rule that no policy
 * changes.
 *
 * - `targets`: paths of a container that may not be covered
 * - `protected`: paths of a host that are never mounted
 * - `writable`: repositories in which agents may write are never cloned, and toolpacks never loaded from there
 * - `root`: nothing runs as uid or gid 0
 * - `reserved-env`: variables that Suzumio itself sets
 */
export type PolicyRule =
  | 'backends'
  | 'images'
  | 'networks'
  | 'users'
  | 'runtimes'
  | 'writableRoot'
  | 'mounts.roots'
  | 'workspaces.roots'
  | 'git'
  | 'env.allowed'
  | 'env.forbidden'
  | `ceilings.${keyof Policy['ceilings']}`
  | 'providers'
  | 'providers.models'
  | `toolpacks.${'directories' | 'mcpCommands' | 'mcpUrls'}`
  | 'targets'
  | 'protected'
  | 'writable'
  | 'root'
  | 'reserved-env';

/** Something that a policy does not allow. */
export interface Denial {
  /** The field with the request, such as `network` or `mounts[0].source`. */
  readonly field: string;
  readonly path: ConfigPath;
  readonly rule: PolicyRule;
  /** A sentence without the field: what is requested, and what would be right. */
  readonly message: string;
}

export function denial(path: ConfigPath, rule: PolicyRule, message: string): Denial {
  return { field: describePath(path), path, rule, message };
}

/** A denial for people. */
export function describeDenial({ field, rule, message }: Denial): string {
  return `${field}: ${message} (policy: ${rule})`;
}
