import { posix } from 'node:path';

/** What is at a path of a host, with links resolved. */
export interface HostPath {
  readonly real: string;
  readonly kind: 'directory' | 'file' | 'other';
}

/** A host, as the check of mounts sees it. */
export interface HostPaths {
  /** What is at a path; undefined where there is nothing, or nothing visible. */
  lookUp(path: string): HostPath | undefined;
  /**
   * Whether this is the host that mounts: then missing paths cannot be mounted. Otherwise they may exist on the other
   * host.
   */
  readonly mounting: boolean;
  /**
   * Paths that are never mounted, nor their contents, nor their parents, read-only or not. Absolute and normalized,
   * including the targets of their links.
   */
  readonly protectedPaths: readonly string[];
  /** Directories in which grants let agents write, with links resolved; a policy names others. @default none */
  readonly writable?: () => readonly string[];
}

/** The sockets and state of container engines, and the kernel's file systems. */
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

/** A host that is not visible from here: only the paths themselves are checked. */
export const unseenHost: HostPaths = {
  lookUp: () => undefined,
  mounting: false,
  protectedPaths: alwaysProtected,
};

/** Whether a path is a directory or below it, compared by components. Both are absolute and normalized. */
export function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory === '/' ? '/' : `${directory}/`);
}

/** Whether a path is in one of some directories. Its links are resolved; those of the directories were, once. */
export function isBelow(path: string, directories: readonly string[], host: HostPaths): boolean {
  const real = realPath(path, host);
  return directories.some((directory) => isWithin(real, directory));
}

/**
 * Whether a path is, contains or is in a protected one. The path as written counts, too: links may change, and this
 * process may not see the host.
 */
export function isProtected(path: string, host: HostPaths): boolean {
  const paths = [posix.resolve(path), realPath(path, host)];
  return host.protectedPaths.some((kept) => paths.some((asked) => isWithin(asked, kept) || isWithin(kept, asked)));
}

/** A path with links resolved, as far as it exists and is visible. */
export function realPath(path: string, host: HostPaths): string {
  const written = posix.resolve(path);
  const real = host.lookUp(written)?.real;
  if (real !== undefined || written === '/') return real ?? written;
  return posix.join(realPath(posix.dirname(written), host), posix.basename(written));
}
