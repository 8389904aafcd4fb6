import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { maxLogBytes } from '@suzumio/protocol/attempts';
import { policySchema } from '@suzumio/core/policy/policy';
import { maxOutputBytes } from '@suzumio/protocol/runner';
import { maxWorkspaceBytes, maxWorkspaceFiles } from '@suzumio/protocol/workspace-manifest';

/** Where a cell's ToolHosts are, and what this worker shows them. A job only names the cell. */
export const cellConfig = z.strictObject({
  /** The ToolHost's listener for workers. */
  toolhostUrl: z.url({ protocol: /^https?$/ }),
  /** The ToolHost's listener for runners: the only place that a door leads to. */
  runnerUrl: z.url({ protocol: /^https?$/ }),
  /** This worker's credential in that cell. */
  credential: z.string().min(1),
});
export type CellConfig = z.infer<typeof cellConfig>;

const ms = z.int().positive();
const bytes = z.int().positive();

/** Bounds and intervals of a worker. The defaults are meant to be kept; tests shorten them. */
export const workerLimits = z.strictObject({
  /** How often a running attempt says that it lives. */
  heartbeatMs: ms.default(1_000),
  /** How long before the lease's end the worker kills what it could not report on; at most a quarter of the lease. */
  fenceMarginMs: ms.default(3_000),
  /** How long a claim that gets no answer is repeated. */
  claimPatienceMs: ms.default(60_000),
  /** How long a container may go on after it has left its output. */
  lingerMs: ms.default(10_000),
  /** How long after a death by signal the engine, or this worker, may still show that it goes down as well. */
  aftermathMs: ms.default(2_000),
  /** How long running attempts may go on after `stop`. */
  shutdownGraceMs: z.int().nonnegative().default(20_000),
  /** How often the size of a running attempt's directories is looked at. */
  sizeCheckMs: ms.default(1_000),
  /** The largest workspace, and the most entries in it. */
  maxWorkspaceBytes: bytes.max(maxWorkspaceBytes).default(maxWorkspaceBytes),
  maxWorkspaceFiles: z.int().positive().max(maxWorkspaceFiles).default(maxWorkspaceFiles),
  maxOutputBytes: bytes.max(maxOutputBytes).default(maxOutputBytes),
  maxLogBytes: bytes.max(maxLogBytes).default(maxLogBytes),
  /** Free space on the worker's disk below which no attempt begins; below half of it, those that run are ended. */
  minFreeBytes: z
    .int()
    .nonnegative()
    .default(256 * 1024 * 1024),
  /** How often ended containers are looked through for those that were kept long enough. */
  sweepMs: ms.default(60_000),
  /** Waiting time between two probes of an engine that is not ready; doubles up to 16 times this. */
  probeRetryMs: ms.default(1_000),
});
export type WorkerLimits = z.infer<typeof workerLimits>;

const port = z.int().min(1).max(65_535);

/** Ports to choose from, both ends included. */
export const portRange = z
  .strictObject({ first: port, last: port })
  .refine(({ first, last }) => first <= last, 'expected the lower port first');
export type PortRange = z.infer<typeof portRange>;

/** A user and a group, neither of them root's. */
export const userIds = z
  .string()
  .regex(/^[1-9]\d{0,8}:[1-9]\d{0,8}$/, 'expected a uid:gid of numbers, neither of them 0');

/** Where the relays of containers on a network listen. */
export const relayConfig = z.strictObject({
  /** An address of this worker, where it cannot find one of its own in the network. */
  host: z.exactOptional(z.ipv4()),
  /** One for each attempt that runs at a time; any that is free unless named. */
  ports: z.exactOptional(portRange),
});
export type RelayConfig = z.infer<typeof relayConfig>;

/** The configuration of one turn-worker. */
export const turnWorkerConfig = z.strictObject({
  /** Everything that this worker writes is below it; mounted at this path wherever the engine runs. */
  workerDir: z.string().refine(isAbsolute, 'an absolute path'),
  /** Whether workers of this host share the directory: each then takes a subdirectory of it that no other has. */
  shareWorkerDir: z.boolean().default(false),
  /** Attempts at a time. */
  slots: z.int().min(1).max(1_000).default(4),
  /** The cells that this worker serves. */
  cells: z.record(z.string(), cellConfig).refine((cells) => Object.keys(cells).length > 0, 'at least one cell'),
  /**
   * `uid:gid` that containers run as unless the project asks for another one. Only a worker that is root can give files to
   * another user than its own.
   */
  turnUser: userIds.optional(),
  /** How containers reach the ToolHost: `auto` lets a probe container decide. */
  door: z.enum(['auto', 'socket', 'stdio']).default('auto'),
  /** How containers on a network reach this worker. */
  relay: relayConfig.prefault({}),
  /** What turns may ask of this host, whatever their cell allows. */
  policy: policySchema.prefault({}),
  /** What is never mounted besides what the engines and this worker have: data directories that are on this host. */
  protectedPaths: z.array(z.string().refine(isAbsolute, 'an absolute path')).default([]),
  /** The image that the probe uses: the default runner image. */
  runnerImage: z.string().min(1).default('suzumio-runner:dev'),
  /** The bundled runner, for the `process` backend. */
  runnerBundle: z.string().refine(isAbsolute, 'an absolute path'),
  /** The bundled shim, for images with a runner of their own. */
  shimFile: z.string().refine(isAbsolute, 'an absolute path'),
  /** The engine's socket, where it is not where Docker's own tools look for it. */
  dockerSocket: z.string().optional(),
  limits: workerLimits.prefault({}),
});
export type TurnWorkerConfig = z.infer<typeof turnWorkerConfig>;
/** What {@link turnWorkerConfig} is parsed from: the defaults may be left out. */
export type TurnWorkerSettings = z.input<typeof turnWorkerConfig>;
