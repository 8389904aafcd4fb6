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
  /**
   * Neither these, nor what is below them, nor what holds them is mounted, read-only or not. Absolute and in their
   * shortest form, with the paths that their links lead to beside them.
   */
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

/** A host that cannot be seen from here: only what paths say is judged. */
export const unseenHost: HostPaths = {
  lookUp: () => undefined,
  mounting: false,
  protectedPaths: alwaysProtected,
};

/** Whether a path is a directory or below it, compared by components. Both are absolute and in their shortest form. */
export function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory === '/' ? '/' : `${directory}/`);
}

/** Whether what stands at a path lies in one of some directories, links followed on both sides. */
export function isBelow(path: string, directories: readonly string[], host: HostPaths): boolean {
  const real = realPath(path, host);
  return directories.some((directory) => isWithin(real, realPath(directory, host)));
}

/**
 * Whether a path is, holds or lies in what is protected. The path as it is written counts too: links may change, and
 * what this process sees may not be the host.
 */
export function isProtected(path: string, host: HostPaths): boolean {
  const paths = [posix.resolve(path), realPath(path, host)];
  return host.protectedPaths.some((kept) => paths.some((asked) => isWithin(asked, kept) || isWithin(kept, asked)));
}

/** Where a path leads, as far as that can be seen. */
export function realPath(path: string, host: HostPaths): string {
  return host.lookUp(path)?.real ?? posix.resolve(path);
}
