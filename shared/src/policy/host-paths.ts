import { lstatSync, realpathSync } from 'node:fs';
import { posix } from 'node:path';

/** What a path of a host is, links followed. */
export interface HostPath {
  readonly real: string;
  readonly kind: 'directory' | 'file' | 'other';
}

/** What a check of mounts can see of the host that they come from. */
export interface HostPaths {
  /** What stands at a path; undefined where there is nothing, or nothing that can be seen. */
  lookUp(path: string): HostPath | undefined;
  /** Whether this is the host that mounts: what is not there cannot be mounted. Else what is not seen may be there. */
  readonly mounting: boolean;
  /** Neither these, nor what is below them, nor what holds them is mounted, read-only or not. */
  readonly protectedPaths: readonly string[];
}

/** The sockets and the state of container engines, and what the kernel shows as files. */
export const alwaysProtected = [
  '/proc',
  '/sys',
  '/dev',
  '/run',
  '/var/run',
  '/var/lib/docker',
  '/var/lib/containerd',
  '/var/lib/containers',
];

/**
 * This machine's disk.
 *
 * @param protectedPaths what is protected here besides the engines' own: data directories, worker directories, sockets
 */
export function hostPaths(protectedPaths: readonly string[], { mounting }: { mounting: boolean }): HostPaths {
  return { lookUp, mounting, protectedPaths: [...alwaysProtected, ...protectedPaths] };
}

/** A host that cannot be seen from here: only what paths say is judged. */
export const unseenHost: HostPaths = {
  lookUp: () => undefined,
  mounting: false,
  protectedPaths: alwaysProtected,
};

function lookUp(path: string): HostPath | undefined {
  try {
    const real = realpathSync(path);
    const facts = lstatSync(real);
    return { real, kind: facts.isDirectory() ? 'directory' : facts.isFile() ? 'file' : 'other' };
  } catch {
    return undefined;
  }
}

/** Whether a path is a directory or below it, compared by components. Both are absolute. */
export function isWithin(path: string, directory: string): boolean {
  const [inner, outer] = [posix.resolve(path), posix.resolve(directory)];
  return inner === outer || inner.startsWith(outer === '/' ? '/' : `${outer}/`);
}

/** Whether what stands at a path lies in one of some directories, links followed on both sides. */
export function isBelow(path: string, directories: readonly string[], host: HostPaths): boolean {
  const real = host.lookUp(path)?.real ?? path;
  return directories.some((directory) => isWithin(real, host.lookUp(directory)?.real ?? directory));
}

/**
 * Whether a path is, holds or lies in what is protected. The path as it is written counts too: links may change, and
 * what this process sees may not be the host.
 */
export function isProtected(path: string, host: HostPaths): boolean {
  const paths = [path, host.lookUp(path)?.real ?? path];
  const kept = host.protectedPaths.flatMap((one) => [one, host.lookUp(one)?.real ?? one]);
  return paths.some((asked) => kept.some((one) => isWithin(asked, one) || isWithin(one, asked)));
}
