import { lstatSync, realpathSync } from 'node:fs';
import { posix } from 'node:path';
import { alwaysProtected, type HostPath, type HostPaths } from '@suzumio/core/policy/host-paths';

/**
 * This machine's disk.
 *
 * @param protectedPaths paths to protect besides the engines' own: data directories, worker directories, sockets
 */
export function hostPaths(
  protectedPaths: readonly string[],
  seen: Pick<HostPaths, 'mounting' | 'writable'>,
): HostPaths {
  const kept = [...alwaysProtected, ...protectedPaths.map((path) => posix.resolve(path))];
  const real = kept.map((path) => lookUp(path)?.real ?? path);
  return { ...seen, lookUp, protectedPaths: [...new Set([...kept, ...real])] };
}

function lookUp(path: string): HostPath | undefined {
  try {
    const real = realpathSync(path);
    const facts = lstatSync(real);
    return { real, kind: facts.isDirectory() ? 'directory' : facts.isFile() ? 'file' : 'other' };
  } catch {
    return undefined;
  }
}
