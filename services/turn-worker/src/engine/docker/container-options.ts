import type { ContainerCreateOptions } from 'dockerode';
import type { SandboxLimits } from '@suzumio/protocol/attempts';
import type { Connection } from './connection.js';

export interface ContainerPlan {
  /** The image's id: a tag may be moved meanwhile. */
  image: string;
  /** `uid:gid`, never root. */
  user: string;
  limits: Pick<SandboxLimits, 'memoryBytes' | 'cpus' | 'pids' | 'readOnlyRoot' | 'tmpfs' | 'runtime'>;
  labels: Record<string, string>;
  environment: Record<string, string>;
  network: Connection['network'];
  mounts: readonly BindMount[];
  /** Replaces the image's own. */
  entrypoint?: readonly string[];
  /** Whether standard input and output are the door: they are attached, and not logged by the engine. */
  attached: boolean;
  maxFileBytes: number;
  maxLogBytes: number;
}

/** A directory or file of the host in a container. */
export interface BindMount {
  /** It must exist: the engine creates none. */
  source: string;
  target: string;
  writable?: boolean;
}

/**
 * Without this, the engine sets up an empty network for a container with the mode `none`, which takes as long as all else of
 * its start. The container then has loopback as well, but no `/etc/hosts` and no `/etc/resolv.conf`.
 */
export const withoutNetwork = { NetworkDisabled: true } as const;

/** The host name of a container without a network; its `/etc/hosts` has it. On a network the engine names it. */
export const sealedHostName = 'turn';

/** Where programs share memory. */
const sharedMemory = '/dev/shm';

/** The container of one turn: as closed as its network allows, and limited in everything that the engine can limit. */
export function containerOptions(plan: ContainerPlan): ContainerCreateOptions {
  const { limits } = plan;
  return {
    Image: plan.image,
    User: plan.user,
    Labels: plan.labels,
    Env: Object.entries(plan.environment).map(([name, value]) => `${name}=${value}`),
    ...(plan.entrypoint ? { Entrypoint: [...plan.entrypoint], Cmd: [] } : {}),
    ...(plan.attached ? { OpenStdin: true, StdinOnce: false } : {}),
    ...(plan.network.mode === 'none' ? { ...withoutNetwork, Hostname: sealedHostName } : {}),
    HostConfig: {
      NetworkMode: plan.network.mode,
      ExtraHosts: [...plan.network.hosts],
      ...(limits.runtime === undefined ? {} : { Runtime: limits.runtime }),
      ReadonlyRootfs: limits.readOnlyRoot,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      Init: true,
      Memory: limits.memoryBytes,
      MemorySwap: limits.memoryBytes,
      NanoCpus: Math.round(limits.cpus * 1e9),
      PidsLimit: limits.pids,
      Ulimits: [{ Name: 'fsize', Soft: plan.maxFileBytes, Hard: plan.maxFileBytes }],
      Tmpfs: tmpfsOptions(limits),
      Mounts: plan.mounts.map(({ source, target, writable = false }) => ({
        Type: 'bind',
        Source: source,
        Target: target,
        ReadOnly: !writable,
        // Mounts below the source are left out: `ReadOnly` would not apply to them.
        BindOptions: { Propagation: 'rprivate', NonRecursive: true },
      })),
      // Larger than the kept part, because the engine's format adds to each line; two files, because rotation may have
      // just begun a new one.
      LogConfig: plan.attached
        ? { Type: 'none', Config: {} }
        : { Type: 'json-file', Config: { 'max-size': String(plan.maxLogBytes * 4), 'max-file': '2' } },
    },
  };
}

/**
 * A container's file systems in memory. What is in them counts as memory of the container. Programs run from there, as
 * they do from the workspace: `go test`, loaders of native libraries and installers need it.
 */
function tmpfsOptions({ memoryBytes, tmpfs }: Pick<SandboxLimits, 'memoryBytes' | 'tmpfs'>): Record<string, string> {
  // Half of it, as Linux has it for a machine. The engine's own 64 MiB end a program that shares more by SIGBUS.
  const sizes = { [sharedMemory]: Math.floor(memoryBytes / 2), ...tmpfs };
  return Object.fromEntries(
    Object.entries(sizes).map(([path, sizeBytes]) => [path, `rw,exec,nosuid,nodev,mode=1777,size=${sizeBytes}`]),
  );
}
