import * as z from 'zod';
import { isInOwnArtifacts } from './own-artifacts.js';
import { workspacePath } from './workspace-manifest.js';

/**
 * Directories that are no part of a workspace's snapshots: names, which mean any directory of that name, or paths from the
 * workspace's root, which have a `/` in them.
 */
export const ignoredRoots = z.array(workspacePath).max(100);

/** What package managers and test runners make anew. */
export const defaultIgnored: readonly string[] = [
  'node_modules',
  '.venv',
  '__pycache__',
  '.pytest_cache',
  '.mypy_cache',
  '.ruff_cache',
  '.tox',
  '.gradle',
];

/** The bounds of what is named of ignored directories: paths, and their bytes as JSON together. */
export const maxTrackedPaths = 2_000;
export const maxTrackedBytes = 128 * 1024;

/**
 * What of ignored directories is captured all the same: files by their paths, or ignored directories with all that is in
 * them.
 */
export const trackedPaths = z.array(workspacePath).max(maxTrackedPaths);

/** What of a workspace is captured. */
export interface CaptureScope {
  /** Whether a directory at this path is left out, but for what of it is tracked. */
  isIgnored: (path: string) => boolean;
  /** Of a directory that is left out, or that is in one: the names in it that are captured all the same. */
  trackedIn: (path: string) => ReadonlySet<string> | undefined;
}

export function captureScope(roots: readonly string[], tracked: readonly string[] = []): CaptureScope {
  const isRoot = ignoring(roots);
  const whole = new Set(tracked.filter(isRoot));
  const names = new Map<string, Set<string>>();
  for (const path of tracked) {
    const outermost = outermostIgnored(isRoot, path);
    if (outermost === undefined) continue;
    for (const [parent, name] of waysTo(path)) {
      if (parent.length < outermost.length) continue;
      names.set(parent, (names.get(parent) ?? new Set()).add(name));
    }
  }
  const isIn = (path: string) => whole.has(path) || whole.has(outermostIgnored(isRoot, path) ?? '');
  return {
    isIgnored: (path) => isRoot(path) && !(whole.size > 0 && isIn(path)),
    trackedIn: (path) => names.get(path),
  };
}

/** Whether a directory at a path of a workspace is ignored by its name or path. What is to be published is not. */
export function ignoring(roots: readonly string[]): (path: string) => boolean {
  const names = new Set(roots.filter((root) => !root.includes('/')));
  const paths = new Set(roots.filter((root) => root.includes('/')));
  return (path) => (names.has(path.slice(path.lastIndexOf('/') + 1)) && !isInOwnArtifacts(path)) || paths.has(path);
}

/** The first ignored directory on the way to a path, which is not the path itself. */
export function outermostIgnored(isIgnored: (path: string) => boolean, path: string): string | undefined {
  for (const [parent] of waysTo(path)) if (isIgnored(parent)) return parent;
  return undefined;
}

/** The directories on the way to a path, from the top, each with the next name. */
function* waysTo(path: string): Generator<[parent: string, name: string]> {
  for (let at = path.indexOf('/'); at !== -1;) {
    const end = path.indexOf('/', at + 1);
    yield [path.slice(0, at), path.slice(at + 1, end === -1 ? undefined : end)];
    at = end;
  }
}
