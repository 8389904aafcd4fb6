import { posix } from 'node:path';
import type { ConfigPath } from '../config/config-node.js';
import { type HostPaths, isWithin, realPath } from './host-paths.js';
import type { Policy } from './policy.js';

/**
 * A policy with the links in its paths resolved. This is done once, when the policy is read: a rule then means the
 * directories that its operator saw, wherever somebody puts a link later.
 */
export function resolvePolicy(policy: Policy, host: HostPaths): Policy {
  const real = (path: string) => realPath(path, host);
  return {
    ...policy,
    mounts: { roots: policy.mounts.roots.map((root) => ({ ...root, path: real(root.path) })) },
    workspaces: { roots: policy.workspaces.roots.map(real) },
    git: policy.git.map((pattern) => (pattern.startsWith('/') ? resolvePattern(pattern, host) : pattern)),
    toolpacks: { ...policy.toolpacks, directories: policy.toolpacks.directories.map(real) },
  };
}

function resolvePattern(pattern: string, host: HostPaths): string {
  const fixed = fixedPart(pattern);
  const real = realPath(fixed, host);
  // A star in a name would match others.
  if (real.includes('*')) return pattern;
  const rest = pattern.slice(fixed.length).replace(/^\/+/, '');
  return rest === '' ? real : posix.join(real, rest);
}

/** The directory of a pattern's paths: what comes before its first star. */
function fixedPart(pattern: string): string {
  const star = pattern.indexOf('*');
  return star === -1 ? pattern : pattern.slice(0, pattern.lastIndexOf('/', star) + 1);
}

interface PathRule {
  at: ConfigPath;
  directory: string;
  /** Whether agents may write there by this rule. */
  writable: boolean;
  /** Whether the directory itself is a root of mounts, which no agent that mounts it can move. */
  isRoot: boolean;
}

/** The paths that a policy names. */
function pathRules({ mounts, workspaces, git, toolpacks }: Policy): PathRule[] {
  const readonly = { writable: false, isRoot: false };
  return [
    ...mounts.roots.map((root, index) => ({
      at: ['mounts', 'roots', index, 'path'],
      directory: root.path,
      writable: !root.readonly,
      isRoot: true,
    })),
    ...workspaces.roots.map((directory, index) => ({
      at: ['workspaces', 'roots', index],
      directory,
      writable: false,
      isRoot: true,
    })),
    ...git.flatMap((pattern, index) =>
      pattern.startsWith('/') ? [{ ...readonly, at: ['git', index], directory: fixedPart(pattern) }] : [],
    ),
    ...toolpacks.directories.map((directory, index) => ({
      ...readonly,
      at: ['toolpacks', 'directories', index],
      directory,
    })),
  ];
}

/**
 * The rules of a policy whose directory agents may replace, because a directory above it is mounted for writing: when the
 * policy is read the next time, they would mean whatever an agent has put there.
 */
export function movableRules(policy: Policy, host: HostPaths): { at: ConfigPath; message: string }[] {
  const formsOf = (path: string) => [...new Set([posix.resolve(path), realPath(path, host)])];
  const rules = pathRules(policy).map((rule) => ({ ...rule, forms: formsOf(rule.directory) }));
  const writable = rules.filter((rule) => rule.writable);
  return rules.flatMap((rule) => {
    const above = writable.find(
      (root) =>
        root !== rule &&
        root.forms.some((directory) =>
          rule.forms.some((path) => isWithin(path, directory) && !(rule.isRoot && path === directory)),
        ),
    );
    if (above === undefined) return [];
    const message = `lies in ${above.directory}, which agents may mount for writing: they could put a link to anything there`;
    return [{ at: rule.at, message }];
  });
}

/** Whether a rule of the policy names a directory, or something in it. */
export function isNamedIn(policy: Policy, directory: string): boolean {
  return pathRules(policy).some((rule) => isWithin(posix.resolve(rule.directory), directory));
}

/** The directories in which agents may write, with links resolved. */
export function writableDirectories(policy: Policy, host: HostPaths): string[] {
  const roots = policy.mounts.roots.filter(({ readonly }) => !readonly).map(({ path }) => path);
  return [...roots, ...(host.writable?.() ?? [])];
}
