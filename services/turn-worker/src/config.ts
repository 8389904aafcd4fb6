import { isAbsolute } from 'node:path';
import * as z from 'zod';
import { maxLogBytes } from '@suzumio/protocol/attempts';
import { policySchema } from '@suzumio/core/policy/policy';
import { compareMs } from '@suzumio/protocol/repository-diff';
import { maxOutputBytes } from '@suzumio/protocol/runner';

/** The addresses of a cell's ToolHosts, and this worker's credential. A job only names the cell. */
export const cellConfig = z.strictObject({
  /** The ToolHost's listener for workers. */
  toolhostUrl: z.url({ protocol: /^https?$/ }),
  /** The ToolHost's listener for runners, the only address that a door forwards to. */
  runnerUrl: z.url({ protocol: /^https?$/ }),
  /** This worker's credential in that cell. */
  credential: z.string().min(1),
});
export type CellConfig = z.infer<typeof cellConfig>;

const ms = z.int().positive();
const bytes = z.int().positive();

/** Limits and intervals of a worker. The defaults are meant to be kept; tests shorten them. */
export const workerLimits = z.strictObject({
  /** The heartbeat interval of a running attempt. */
  heartbeatMs: ms.default(1_000),
  /**
   * How long before its lease's end the worker kills an attempt whose heartbeats fail; at most a quarter of the lease.
   */
  fenceMarginMs: ms.default(3_000),
  /** How long a request to the ToolHost, other than one with content, may go without traffic. */
  callMs: ms.default(10_000),
  /** How long an unanswered claim is retried. */
  claimPatienceMs: ms.default(60_000),
  /** How long a container may run on after its output is complete. */
  lingerMs: ms.default(10_000),
  /** How long after a death by signal to wait for signs that the engine or this worker shuts down. */
  aftermathMs: ms.default(2_000),
  /** How long running attempts may continue after `stop`. */
  shutdownGraceMs: z.int().nonnegative().default(20_000),
  /** How often the directories of a running attempt are measured. */
  sizeCheckMs: ms.default(1_000),
  /** The longest time that a snapshot of a workspace may take, uploads included. */
  captureMs: ms.default(600_000),
  /** The longest time that fetching and cloning a repository may take. */
  cloneMs: ms.default(600_000),
  /** The longest time that comparing two commits may take. */
  compareMs: ms.max(compareMs).default(compareMs),
  maxOutputBytes: bytes.max(maxOutputBytes).default(maxOutputBytes),
  maxLogBytes: bytes.max(maxLogBytes).default(maxLogBytes),
  /** Free bytes of the worker's disk below which no attempt begins, and files; below half, running attempts are ended. */
  minFreeBytes: z
    .int()
    .nonnegative()
    .default(256 * 1024 * 1024),
  /** How often the cells are asked whether they still accept this worker. */
  cellCheckMs: ms.default(10_000),
  /** How often ended containers are checked for those past their retention. */
  sweepMs: ms.default(60_000),
  /** The first back-off between probes of an engine that is not ready; doubles up to 16 times this. */
  probeRetryMs: ms.default(1_000),
});
export type WorkerLimits = z.infer<typeof workerLimits>;

const port = z.int().min(1).max(65_535);

/** A range of ports, both ends included. */
export const portRange = z
  .strictObject({ first: port, last: port })
  .refine(({ first, last }) => first <= last, 'expected the lower port first');
export type PortRange = z.infer<typeof portRange>;

/** A user and a group, neither of them root's, or a range of users, of which each project has one. */
export const userIds = z
  .string()
  .regex(
    /^[1-9]\d{0,8}(?:-[1-9]\d{0,8})?:[1-9]\d{0,8}$/,
    'expected a uid:gid of numbers, or FIRST-LAST:gid, none of them 0',
  )
  .refine((users) => {
    const [first = '', last = first] = users.replace(/:.*/, '').split('-');
    return Number(first) <= Number(last);
  }, 'expected the lower user of a range first');

/** The listeners of relays, for containers on a network. */
export const relayConfig = z.strictObject({
  /** This worker's address, where it cannot detect one in the network. */
  host: z.exactOptional(z.ipv4()),
  /** One port for each concurrent attempt. @default any free port */
  ports: z.exactOptional(portRange),
});
export type RelayConfig = z.infer<typeof relayConfig>;

/** The configuration of one turn-worker. */
export const turnWorkerConfig = z.strictObject({
  /** Contains everything that this worker writes; mounted at the same path for the engine. */
  workerDir: z.string().refine(isAbsolute, 'an absolute path'),
  /** Whether workers of this host share the directory: each takes a subdirectory of its own. */
  shareWorkerDir: z.boolean().default(false),
  /** Concurrent attempts. */
  slots: z.int().min(1).max(1_000).default(4),
  /** The cells that this worker serves. */
  cells: z.record(z.string(), cellConfig).refine((cells) => Object.keys(cells).length > 0, 'at least one cell'),
  /**
   * `uid:gid` of containers, unless the project sets another. Only a worker that runs as root can give files to another
   * user.
   */
  turnUser: userIds.optional(),
  /** How containers reach the ToolHost: `auto` lets a probe container decide. */
  door: z.enum(['auto', 'socket', 'stdio']).default('auto'),
  /** How containers on a network reach this worker. */
  relay: relayConfig.prefault({}),
  /** This host's policy, which applies whatever the cell allows. */
  policy: policySchema.prefault({}),
  /** Paths that are never mounted, in addition to the engines' and this worker's own: data directories on this host. */
  protectedPaths: z.array(z.string().refine(isAbsolute, 'an absolute path')).default([]),
  /** The image that the probe uses: the default runner image. */
  runnerImage: z.string().min(1).default('suzumio-runner:dev'),
  /** The bundled runner, for the `process` backend. */
  runnerBundle: z.string().refine(isAbsolute, 'an absolute path'),
  /** The bundled shim, for images with a runner of their own. */
  shimFile: z.string().refine(isAbsolute, 'an absolute path'),
  /** The engine's socket. @default that of Docker's own command: see `engineAddress` */
  dockerSocket: z.string().optional(),
  limits: workerLimits.prefault({}),
});
export type TurnWorkerConfig = z.infer<typeof turnWorkerConfig>;
/** The input of {@link turnWorkerConfig}: defaults may be left out. */
export type TurnWorkerSettings = z.input<typeof turnWorkerConfig>;
