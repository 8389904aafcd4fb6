import { posix } from 'node:path';
import type { SandboxLimits } from '@suzumio/protocol/attempts';
import { artifactsPath } from '@suzumio/protocol/own-artifacts';
import { type Denial, denial } from './denial.js';
import { type HostPaths, isProtected, isWithin, realPath } from './host-paths.js';
import type { Policy } from './policy.js';

/** Programs share memory there: a project may say how much. */
const sharedMemory = '/dev/shm';

type Mount = SandboxLimits['mounts'][number];

/** Paths that Suzumio and the kernel provide in every container; mounts must neither cover nor be inside them. */
export const reservedTargets = [
  '/turn',
  '/workspace',
  artifactsPath,
  '/turn-shim',
  '/suzumio',
  '/opt/suzumio',
  '/proc',
  '/sys',
  '/dev',
];

/** The denials of a container's mounts and memory file systems. */
export function mountDenials(
  { mounts: { roots } }: Policy,
  { mounts, tmpfs }: Pick<SandboxLimits, 'mounts' | 'tmpfs'>,
  host: HostPaths,
): Denial[] {
  const taken = new Set<string>();
  const target = (path: (string | number)[], at: string, free = false): Denial[] => {
    const problem =
      (free ? undefined : targetProblem(at)) ?? (taken.has(at) ? 'something else stands there already' : undefined);
    taken.add(at);
    return problem === undefined ? [] : [denial(path, 'targets', `nothing can be mounted at ${at}: ${problem}`)];
  };
  return [
    ...Object.keys(tmpfs).flatMap((at) => target(['tmpfs', at], at, at === sharedMemory)),
    ...mounts.flatMap((mount, index) => [
      ...target(['mounts', index, 'target'], mount.target),
      ...sourceDenials(roots, mount, index, host),
    ]),
  ];
}

function targetProblem(target: string): string | undefined {
  if (!posix.isAbsolute(target) || posix.resolve(target) !== target) {
    return 'write an absolute path without . and .. and a slash at its end';
  }
  const reserved = reservedTargets.find((path) => isWithin(target, path) || isWithin(path, target));
  return reserved === undefined ? undefined : `${reserved} belongs to the turn itself`;
}

function sourceDenials(roots: Policy['mounts']['roots'], mount: Mount, index: number, host: HostPaths): Denial[] {
  const { source } = mount;
  const deny = (rule: Denial['rule'], message: string) => [
    denial(['mounts', index, 'source'], rule, `${source} ${message}`),
  ];
  if (!posix.isAbsolute(source) || posix.resolve(source) !== source.replace(/(?<=.)\/$/, '')) {
    return deny('mounts.roots', 'is not an absolute path without . and ..');
  }
  if (isProtected(source, host)) return deny('protected', 'is, holds or lies in what is never mounted');
  const real = realPath(source, host);
  const within = roots.filter(({ path }) => isWithin(real, path));
  if (within.length === 0) return deny('mounts.roots', 'is not in a directory that may be mounted');
  if (!mount.readonly && within.every(({ readonly }) => readonly)) {
    const message = `${source} may be mounted for reading only: readonly: true`;
    return [denial(['mounts', index, 'readonly'], 'mounts.roots', message)];
  }
  const found = host.lookUp(source);
  if (found?.kind === 'other') return deny('protected', 'is neither a directory nor a file');
  if (!found && host.mounting) return deny('mounts.roots', 'is not on this host');
  return [];
}
