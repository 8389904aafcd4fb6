import type { ContainerCreateOptions } from 'dockerode';
import type { SandboxLimits } from '@suzumio/protocol/attempts';
import type { Connection } from './connection.js';

export interface ContainerPlan {
  /** The image's id, so that a tag that moves meanwhile changes nothing. */
  image: string;
  /** `uid:gid`, never root. */
  user: string;
  limits: Pick<SandboxLimits, 'memoryBytes' | 'cpus' | 'pids' | 'readOnlyRoot' | 'tmpfs' | 'runtime'>;
  labels: Record<string, string>;
  environment: Record<string, string>;
  network: Connection['network'];
  mounts: readonly BindMount[];
  /** Instead of the image's own. */
  entrypoint?: readonly string[];
  /** Its standard input and output are the door: they are attached, and kept out of the engine's log. */
  attached: boolean;
  maxFileBytes: number;
  maxLogBytes: number;
}

/** A directory or file of the host in a container. */
export interface BindMount {
  /** It must be there: the engine makes none. */
  source: string;
  target: string;
  writable?: boolean;
}

/** The container of one turn: as closed as its network allows, and bounded in everything that the engine can bound. */
export function containerOptions(plan: ContainerPlan): ContainerCreateOptions {
  const { limits } = plan;
  return {
    Image: plan.image,
    User: plan.user,
    Labels: plan.labels,
    Env: Object.entries(plan.environment).map(([name, value]) => `${name}=${value}`),
    ...(plan.entrypoint ? { Entrypoint: [...plan.entrypoint], Cmd: [] } : {}),
    ...(plan.attached ? { OpenStdin: true, StdinOnce: false } : {}),
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
      Tmpfs: Object.fromEntries(
        Object.entries(limits.tmpfs).map(([path, sizeBytes]) => [path, `rw,nosuid,nodev,mode=1777,size=${sizeBytes}`]),
      ),
      Mounts: plan.mounts.map(({ source, target, writable = false }) => ({
        Type: 'bind',
        Source: source,
        Target: target,
        ReadOnly: !writable,
        // What else the host has mounted below the source stays out: `ReadOnly` would not hold for it.
        BindOptions: { Propagation: 'rprivate', NonRecursive: true },
      })),
      // Larger than what is kept of it, because each line costs more there; two files, because the newer one may have
      // been begun a moment ago.
      LogConfig: plan.attached
        ? { Type: 'none', Config: {} }
        : { Type: 'json-file', Config: { 'max-size': String(plan.maxLogBytes * 4), 'max-file': '2' } },
    },
  };
}
