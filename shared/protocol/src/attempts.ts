import * as z from 'zod';
import { artifactsSeen } from './artifacts-directory.js';
import { failure } from './failure-codes.js';
import { ignoredRoots, trackedPaths } from './ignored-roots.js';
import { agentId, projectId, sha256, toolStep, turnId } from './ids.js';
import { cloneRequest, lookRequest } from './repository.js';
import { runnerTurnInput, turnOutput } from './runner.js';
import { toolpackId, toolpackPath } from './toolpacks/manifest.js';
import { workspaceLimits } from './workspace-manifest.js';

/**
 * The ToolHost's routes for workers:
 *
 * | route | authorised by |
 * |---|---|
 * | `POST /projects/:project/turns/:turn/claim` | the worker's credential |
 * | `POST /projects/:project/turns/:turn/attempts/:attempt/heartbeat` | the lease token |
 * | `POST …/attempts/:attempt/capture`, `POST …/mark` | the lease token |
 * | `POST …/attempts/:attempt/complete`, `POST …/fail`, `PUT …/log` | the lease token |
 * | `GET`, `HEAD`, `PUT …/attempts/:attempt/content/:sha256` | the lease token |
 * | `PUT …/attempts/:attempt/base`, `PUT …/upstream` | the lease token |
 * | `POST …/attempts/:attempt/live` | the lease token |
 * | `POST /projects/gone` | the worker's credential |
 */
export const attemptsProtocol = 2;

/** How many mounts are measured, and the longest target of one. */
export const maxMeasuredMounts = 32;
export const maxMeasuredTargetLength = 200;

/** What a worker found in a mount, by its target; `more` where it did not count all of it. */
export const measuredMount = z.object({
  target: z.string().max(maxMeasuredTargetLength),
  files: z.int().nonnegative(),
  bytes: z.int().nonnegative(),
  more: z.boolean(),
});
export type MeasuredMount = z.infer<typeof measuredMount>;

/** A worker's claim of a turn. The same `claimId` always gets the same answer, once it is granted. */
export const claimRequest = z.object({
  claimId: z.string().regex(/^[0-9a-f]{32}$/),
  worker: z.string().min(1).max(100),
  engine: z.string().min(1).max(100),
  protocol: z.int(),
  /**
   * What is in the turn's mounts, which only the worker's host knows, for the prompt. `unmeasured` where the worker does not know
   * yet what they are: the answer may ask for it. Absent from workers that do not measure.
   */
  mounts: z.union([z.literal('unmeasured'), z.array(measuredMount).max(maxMeasuredMounts)]).optional(),
});
export type ClaimRequest = z.infer<typeof claimRequest>;

/**
 * The settings and limits of a turn's container. The cell's policy has allowed what it requests of the host; the worker
 * checks it against its own. `user` is `uid:gid`; without it the worker chooses an unprivileged one.
 */
export const sandboxLimits = z.object({
  image: z.string(),
  /** `none`, or the engine's network that the container joins: `bridge`, `host` or a name. */
  network: z.string(),
  /** The door's address for a runner on a network, where the worker's own does not work. */
  controllerUrl: z.string().optional(),
  /** Directories of the worker's host. */
  mounts: z.array(z.object({ source: z.string(), target: z.string(), readonly: z.boolean() })),
  /** Variables that the project file sets in the container. */
  env: z.record(z.string(), z.string()),
  /** The engine's runtime. @default the engine's own */
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

/** A local toolpack: its content, the runner module in it, and the tools that the agent may use. */
export const claimedToolpack = z.object({
  id: toolpackId,
  sha256,
  runner: toolpackPath,
  tools: z.array(z.string()),
});
export type ClaimedToolpack = z.infer<typeof claimedToolpack>;

/** What a worker needs to run one attempt. */
export const claimAnswer = z.object({
  attempt: z.int().positive(),
  /** The project's epoch: a later project of its name has a later epoch, and shares nothing with this one. */
  epoch: z.int().positive(),
  /** The worker's token: heartbeat, complete, fail, content, log. */
  leaseToken: z.string(),
  /** The runner's token: tools. */
  toolToken: z.string(),
  leaseMs: z.int().positive(),
  timeoutMs: z.int().positive(),
  backend: z.enum(['docker', 'process']),
  sandbox: sandboxLimits,
  /** What the workspace may have; the usual without it. */
  workspaceLimits: workspaceLimits.optional(),
  /** Directories of the workspace that are not captured, and stay on this host; without it, none. */
  ignored: ignoredRoots.optional(),
  /** What of them is captured all the same; without it, nothing. */
  tracked: trackedPaths.optional(),
  /** What the workspace is restored to: the turn's newest capture, or the agent's snapshot. Null where it is empty. */
  snapshot: sha256.nullable(),
  /** What it finds of others in its directory of artifacts; without it, it has none. */
  artifacts: artifactsSeen.optional(),
  /** The repository that the workspace, which is empty, becomes a clone of before the turn starts. */
  clone: cloneRequest.optional(),
  /** What the worker finds out and reports before the turn starts, where it is a clone already. */
  look: lookRequest.optional(),
  /** The local toolpacks of the agent's tools, whose files are content. */
  toolpacks: z.array(claimedToolpack).max(100).optional(),
  /** The frozen input, without the fields that the worker adds. */
  input: runnerTurnInput.omit({ workspace: true, controllerUrl: true, token: true }),
});
export type ClaimAnswer = z.infer<typeof claimAnswer>;

/** Nothing is granted yet: the worker is to claim the turn again, with the sizes of these mounts. */
export const measureAnswer = z.object({
  measure: claimAnswer.pick({ backend: true, sandbox: true, timeoutMs: true }),
});
export type MeasureAnswer = z.infer<typeof measureAnswer>;

export const heartbeatAnswer = z.object({
  /** The time to the lease's deadline. */
  leaseMs: z.int(),
  /** Whether the attempt is over: then the worker kills it and reports nothing. */
  cancel: z.boolean(),
  /** Whether anybody follows the turn at this ToolHost, and is to see what its commands print. */
  followed: z.boolean().optional(),
});
export type HeartbeatAnswer = z.infer<typeof heartbeatAnswer>;

/** The most steps that one request names. */
export const maxNamedSteps = 1_000;

/**
 * Commits a capture of the workspace, whose content is stored already. It covers these steps of the attempt, and all that were
 * covered before; a later attempt begins with it.
 */
export const captureRequest = z.object({
  /** Of the attempt's captures, from 1. A number that was taken before changes nothing. */
  number: z.int().positive(),
  /** Null where the workspace is empty. */
  snapshot: sha256.nullable(),
  steps: z.array(toolStep).min(1).max(maxNamedSteps),
});
export type CaptureRequest = z.infer<typeof captureRequest>;

/** Notes that steps of the attempt are about to reach outside of the sandbox. */
export const markRequest = z.object({ steps: z.array(toolStep).min(1).max(maxNamedSteps) });
export type MarkRequest = z.infer<typeof markRequest>;

/** How much is named of what a capture left out. */
export const maxLeftOutNames = 10;
export const maxLeftOutNameLength = 200;

/** What the worker measured and found in an attempt: durations by stage, for metrics and `turns show`. */
export const attemptStats = z.object({
  container: z.string().max(100).optional(),
  exitCode: z.int().optional(),
  stagesMs: z.record(z.string().max(40), z.number().nonnegative()).optional(),
  /** How many files its workspace has in directories that are not captured, at most 500,000; absent where nobody looked. */
  ignoredFiles: z.int().nonnegative().optional(),
  /** What its workspace had that no snapshot can hold, the first of it by path: pipes, sockets, and names that are no text. */
  leftOut: z
    .object({
      count: z.int().positive(),
      names: z.array(z.string().max(maxLeftOutNameLength)).max(maxLeftOutNames),
    })
    .optional(),
});
export type AttemptStats = z.infer<typeof attemptStats>;

/** Why a workspace could not be stored: the ToolHost's refusal. */
export const unsavedWorkspace = z.object({ code: z.string().max(100), message: z.string().max(2000) });

/** How much is named of what was not published of an agent's own artifacts. */
export const maxUnpublishedNames = 10;

/** What was not published of an agent's own artifacts when its turn ended. */
export const unpublishedArtifacts = z.object({
  count: z.int().positive(),
  items: z
    .array(z.object({ name: z.string().max(maxLeftOutNameLength), why: z.string().max(500) }))
    .max(maxUnpublishedNames),
});
export type UnpublishedArtifacts = z.infer<typeof unpublishedArtifacts>;

export const completeRequest = z.object({
  output: turnOutput,
  /** The workspace's snapshot after the turn; null where it is empty; absent where the backend has none. */
  snapshot: sha256.nullable().optional(),
  unsaved: unsavedWorkspace.optional(),
  stats: attemptStats.optional(),
});
export type CompleteRequest = z.infer<typeof completeRequest>;

export const failRequest = z.object({ failure, stats: attemptStats.optional() });
export type FailRequest = z.infer<typeof failRequest>;

/** The turn's status after an attempt's report. */
export const attemptEnded = z.object({ turn: z.enum(['completed', 'failed', 'queued', 'cancelled']) });
export type AttemptEnded = z.infer<typeof attemptEnded>;

/** The largest stored log of one attempt; older output is dropped first. */
export const maxLogBytes = 1024 * 1024;

/** The key of one attempt. */
export const attemptRef = z.object({
  cell: z.string(),
  project: projectId,
  epoch: z.int().positive(),
  agent: agentId,
  turn: turnId,
  attempt: z.int().positive(),
});
export type AttemptRef = z.infer<typeof attemptRef>;

/** The key of one project: another of its name has another epoch. */
export type ProjectRef = Pick<AttemptRef, 'cell' | 'project' | 'epoch'>;

/** The most projects in one request. */
export const maxGoneProjects = 500;

/** Asks which of these projects were deleted; a worker asks about those that it stores something of. */
export const goneProjects = z.object({
  projects: z.array(attemptRef.pick({ project: true, epoch: true })).max(maxGoneProjects),
});
export type GoneProjects = z.infer<typeof goneProjects>;
