import * as z from 'zod';
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

/** Whether a directory at a path of a workspace is ignored. */
export function ignoring(roots: readonly string[]): (path: string) => boolean {
  const names = new Set(roots.filter((root) => !root.includes('/')));
  const paths = new Set(roots.filter((root) => root.includes('/')));
  return (path) => names.has(path.slice(path.lastIndexOf('/') + 1)) || paths.has(path);
}
