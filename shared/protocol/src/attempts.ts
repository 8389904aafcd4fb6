import * as z from 'zod';
import { failure } from './failure-codes.js';
import { agentId, projectId, sha256, turnId } from './ids.js';
import { runnerTurnInput, turnOutput } from './runner.js';

/**
 * The ToolHost's routes for workers:
 *
 * | route | authorised by |
 * |---|---|
 * | `POST /projects/:project/turns/:turn/claim` | the worker's credential |
 * | `POST /projects/:project/turns/:turn/attempts/:attempt/heartbeat` | the lease token |
 * | `POST …/attempts/:attempt/complete`, `POST …/fail`, `PUT …/log` | the lease token |
 * | `GET`, `HEAD`, `PUT …/attempts/:attempt/content/:sha256` | the lease token |
 * | `POST /projects/gone` | the worker's credential |
 */
export const attemptsProtocol = 1;

/** A worker asks for a turn. The same `claimId` always gets the same answer. */
export const claimRequest = z.object({
  claimId: z.string().regex(/^[0-9a-f]{32}$/),
  worker: z.string().min(1).max(100),
  engine: z.string().min(1).max(100),
  protocol: z.int(),
});
export type ClaimRequest = z.infer<typeof claimRequest>;

/**
 * What a turn's container is made of and bounded by. What it asks of the host was allowed by the cell's policy; the
 * worker checks it against its own. `user` is `uid:gid`; without it the worker chooses an unprivileged one.
 */
export const sandboxLimits = z.object({
  image: z.string(),
  /** `none`, or the engine's network that the container joins: `bridge`, `host` or a name. */
  network: z.string(),
  /** Where a runner on a network finds its door, where it is not where the worker would say. */
  controllerUrl: z.string().optional(),
  /** Directories of the worker's host. */
  mounts: z.array(z.object({ source: z.string(), target: z.string(), readonly: z.boolean() })),
  /** Variables that the project file sets in the container. */
  env: z.record(z.string(), z.string()),
  /** The engine's runtime; without it the engine's own. */
  runtime: z.string().optional(),
  memoryBytes: z.int().positive(),
  cpus: z.number().positive(),
  pids: z.int().positive(),
  user: z.string().optional(),
  readOnlyRoot: z.boolean(),
  /** Paths and sizes of the container's writable memory file systems. */
  tmpfs: z.record(z.string(), z.int().positive()),
  keep: z.enum(['never', 'failed', 'always']),
  keepForMs: z.int().nonnegative(),
});
export type SandboxLimits = z.infer<typeof sandboxLimits>;

/** Everything that a worker needs to run one attempt. */
export const claimAnswer = z.object({
  attempt: z.int().positive(),
  /** Of the project: a later one of its name has a later epoch, and nothing of this one's. */
  epoch: z.int().positive(),
  /** For the worker: heartbeat, complete, fail, content, log. */
  leaseToken: z.string(),
  /** For the runner: tools. */
  toolToken: z.string(),
  leaseMs: z.int().positive(),
  timeoutMs: z.int().positive(),
  backend: z.enum(['docker', 'process']),
  sandbox: sandboxLimits,
  /** The manifest of the agent's workspace, or null where it is empty. */
  snapshot: sha256.nullable(),
  /** The frozen input, without what only the worker knows. */
  input: runnerTurnInput.omit({ workspace: true, controllerUrl: true, token: true }),
});
export type ClaimAnswer = z.infer<typeof claimAnswer>;

export const heartbeatAnswer = z.object({
  /** Time from now to the deadline. */
  leaseMs: z.int(),
  /** The attempt is over: kill what runs, report nothing. */
  cancel: z.boolean(),
});
export type HeartbeatAnswer = z.infer<typeof heartbeatAnswer>;

/** What the machine saw of an attempt: durations by stage, for metrics and `turns show`. */
export const attemptStats = z.object({
  container: z.string().max(100).optional(),
  exitCode: z.int().optional(),
  stagesMs: z.record(z.string().max(40), z.number().nonnegative()).optional(),
});
export type AttemptStats = z.infer<typeof attemptStats>;

export const completeRequest = z.object({
  output: turnOutput,
  /** The workspace after the turn; null where it is empty; absent where the backend keeps none. */
  snapshot: sha256.nullable().optional(),
  /** Why there is no snapshot of a workspace that has one: what was asked to store it said so. */
  unsaved: z.object({ code: z.string().max(100), message: z.string().max(2000) }).optional(),
  stats: attemptStats.optional(),
});
export type CompleteRequest = z.infer<typeof completeRequest>;

export const failRequest = z.object({ failure, stats: attemptStats.optional() });
export type FailRequest = z.infer<typeof failRequest>;

/** What a report of an attempt's end led to. */
export const attemptEnded = z.object({ turn: z.enum(['completed', 'failed', 'queued', 'cancelled']) });
export type AttemptEnded = z.infer<typeof attemptEnded>;

/** The largest log of one attempt that is kept; older output is dropped first. */
export const maxLogBytes = 1024 * 1024;

/** What names one attempt everywhere. */
export const attemptRef = z.object({
  cell: z.string(),
  project: projectId,
  epoch: z.int().positive(),
  agent: agentId,
  turn: turnId,
  attempt: z.int().positive(),
});
export type AttemptRef = z.infer<typeof attemptRef>;

/** One project, and no other one of its name. */
export type ProjectRef = Pick<AttemptRef, 'cell' | 'project' | 'epoch'>;

/** The most projects in one request. */
export const maxGoneProjects = 500;

/** A worker asks which of the projects that it keeps something of were deleted. The answer names those. */
export const goneProjects = z.object({
  projects: z.array(attemptRef.pick({ project: true, epoch: true })).max(maxGoneProjects),
});
export type GoneProjects = z.infer<typeof goneProjects>;
