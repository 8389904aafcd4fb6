import type { AttemptRef, ClaimAnswer, CompleteRequest, SandboxLimits } from '@suzumio/protocol/attempts';
import type { Failure } from '@suzumio/protocol/failure-codes';
import { HttpRefusal } from '@suzumio/protocol/http-failures';
import { retry } from '@suzumio/protocol/retry';
import { type RunnerTurnInput, runnerProtocol, type TurnOutput } from '@suzumio/protocol/runner';
import type { HostPaths } from '@suzumio/core/policy/host-paths';
import type { Logger } from '@suzumio/runtime/observability/logger';
import { createRedactor } from '@suzumio/runtime/observability/redactor';
import type { PortRange, WorkerLimits } from '../config.js';
import type { DoorOptions } from '../door/door.js';
import type { Disturbance, OpenDoor, PreparedSandbox, Sandbox, TurnEngine } from '../engine/turn-engine.js';
import { errnoOf } from '../files/errno.js';
import { type AttemptClient, whileUnavailable } from '../toolhost/toolhost-client.js';
import { uploadSnapshot } from '../workspace/upload.js';
import type { Workspace, Workspaces } from '../workspace/workspaces.js';
import { anyOf } from './any-of.js';
import { AttemptFailure, failureOf } from '../engine/attempt-failure.js';
import { openDoor } from './open-door.js';
import { requireAllowed } from './require-allowed.js';
import { isSignalDeath, judgeEnding } from './judge-ending.js';
import type { StopSwitch } from './stop-switch.js';
import type { Stopwatch } from './stopwatch.js';
import { TurnDirectory, type WorkerPaths } from './turn-directory.js';
import { type Watched, watchSandbox } from './watch-sandbox.js';
import type { WorkerDisk } from './worker-disk.js';
import type { PolicyOf } from './worker-parts.js';

export interface AttemptParts {
  paths: WorkerPaths;
  limits: WorkerLimits;
  ref: AttemptRef;
  claim: ClaimAnswer;
  engine: TurnEngine;
  workspaces: Workspaces;
  disk: WorkerDisk;
  client: AttemptClient;
  door: Pick<DoorOptions, 'runnerUrl' | 'exchange' | 'onRefused'>;
  policyOf: PolicyOf;
  /** The disk that mounts come from, as it is now. */
  host: () => HostPaths;
  /** Ports for relays. */
  relayPorts: PortRange | undefined;
  stop: StopSwitch;
  /** Aborted when this worker is told to stop. */
  stopping: AbortSignal;
  stopwatch: Stopwatch;
  logger: Logger;
  /** Throws unless the attempt is this worker's still. */
  requireLease: () => void;
  /** A monotonic clock. */
  now: () => number;
  onStarted: (sandbox: Sandbox) => Promise<void>;
}

/** What became of the workspace: without a snapshot, why it could not be stored. */
type Kept = { snapshot: string | null } | { unsaved: NonNullable<CompleteRequest['unsaved']> };

export type Outcome =
  ({ kind: 'completed'; output: TurnOutput } & Kept) | { kind: 'failed'; failure: Failure } | { kind: 'abandoned' };

/** How a ToolHost says that it stores no more. */
const noRoom = ['quota-exceeded', 'disk-reserve', 'disk-full'];

/** How long content is asked for, or sent again, while the ToolHost does not answer. */
const contentPatienceMs = 30_000;

/**
 * One attempt, from a granted claim to its outcome: workspace, input, door, sandbox, end, output, snapshot. When `run`
 * resolves nothing of it runs any more, unless the engine could not be made to kill it.
 */
export class Attempt {
  #directory: TurnDirectory | undefined;
  #workspace: Workspace | undefined;
  #sandbox: Sandbox | undefined;
  #watched: Watched | undefined;
  #snapshot: string | null | undefined;

  constructor(private readonly parts: AttemptParts) {}

  get sandbox(): Sandbox | undefined {
    return this.#sandbox;
  }

  get exitCode(): number | undefined {
    return this.#watched?.end.vanished ? undefined : this.#watched?.end.exitCode;
  }

  async run(): Promise<Outcome> {
    const { stop } = this.parts;
    try {
      const outcome = await this.#carryOut();
      return stop.abandoned.aborted ? { kind: 'abandoned' } : outcome;
    } catch (error) {
      if (stop.abandoned.aborted) return { kind: 'abandoned' };
      if (stop.reason === 'shutdown') return { kind: 'failed', failure: shutDown };
      return { kind: 'failed', failure: failureOf(error, this.#sandbox !== undefined) };
    }
  }

  /** Removes what is no longer needed once the outcome was reported. */
  async cleanUp(): Promise<void> {
    // What could not be killed may still write there; the next start of the worker sees to it.
    if (this.#sandbox === undefined || this.#watched !== undefined) await this.#directory?.remove();
  }

  /** The ToolHost has taken the snapshot: the workspace is where the agent's next attempt expects it. */
  async settle(): Promise<void> {
    if (this.#snapshot !== undefined) await this.#workspace?.settle(this.#snapshot);
  }

  async #carryOut(): Promise<Outcome> {
    const {
      engine,
      claim,
      client,
      ref,
      workspaces,
      disk,
      paths,
      limits,
      relayPorts,
      stop,
      stopwatch,
      logger,
      now,
      requireLease,
    } = this.parts;
    this.#requireAllowed();
    await disk.requireRoom();
    const place = { ...ref, turnNumber: claim.input.turn.number ?? Infinity };
    // Whoever stood still until here may have a successor already, whose sandbox must not be touched.
    requireLease();
    const [prepared, isFree] = await Promise.all([engine.prepare(claim.sandbox), engine.evict(place)]);
    if (!isFree) stop.stop('superseded');
    stop.stopped.throwIfAborted();
    this.#workspace = await workspaces.open(ref, prepared.owner);
    const workspace = this.#workspace;
    await this.#bringToSnapshot(workspace);
    this.#directory = await TurnDirectory.create(paths, ref, prepared.owner);
    const directory = this.#directory;
    const { door, at } = await openDoor(prepared, {
      ...this.parts.door,
      token: claim.toolToken,
      logger,
      socket: directory.socket,
      relayPorts,
      workspace: workspace.directory,
      client,
    });
    try {
      const input = this.#input(prepared, workspace, at);
      await directory.writeInput(input);
      stopwatch.lap('prepared');
      requireLease();
      // Once more, because what stands at a path may have changed while everything else was made ready.
      const mounts = this.#requireAllowed();
      this.#sandbox = await prepared.start({
        ref: place,
        turnDirectory: directory.path,
        doorDirectory: directory.doorDirectory,
        workspace: workspace.directory,
        input,
        mounts,
        recheckMounts: () => this.#requireUnmoved(mounts),
        onConnection: (connection) => door.serve(connection),
        // More than may be kept, so that who writes as much is found beyond the bounds.
        maxFileBytes: limits.maxWorkspaceBytes + 2 * limits.maxOutputBytes + 1,
        maxLogBytes: limits.maxLogBytes,
      });
      stopwatch.lap('started');
      await this.parts.onStarted(this.#sandbox).catch((error: unknown) => {
        // It runs all the same; what is not written down only goes unnoticed if this process dies.
        this.parts.logger.warn({ err: error }, 'a sandbox could not be written down');
      });
      const { timeoutMs } = claim;
      this.#watched = await watchSandbox({
        sandbox: this.#sandbox,
        directory,
        workspace: workspace.directory,
        disk,
        stop,
        timeoutMs,
        limits,
        now,
      });
      stopwatch.lap('ran');
    } finally {
      await door.close();
    }
    if (stop.abandoned.aborted) return { kind: 'abandoned' };
    return this.#conclude(this.#sandbox, directory, workspace, this.#watched);
  }

  async #conclude(
    sandbox: Sandbox,
    directory: TurnDirectory,
    workspace: Workspace,
    watched: Watched,
  ): Promise<Outcome> {
    const { claim, limits, stop, stopwatch, logger } = this.parts;
    const said = await sandbox.log().catch((error: unknown) => {
      // A turn is worth more than its log.
      logger.warn({ err: error }, 'the log of a turn could not be read');
      return Buffer.alloc(0);
    });
    await this.#waitForAftermath(sandbox, watched);
    const log = createRedactor([claim.toolToken, claim.leaseToken]).redact(said.toString('utf8'));
    const verdict = judgeEnding({
      ...watched,
      disturbed: sandbox.disturbed.aborted ? (sandbox.disturbed.reason as Disturbance) : undefined,
      stopping: this.parts.stopping.aborted,
      output: await directory.readOutput(limits.maxOutputBytes),
      stopped: stop.reason,
      log,
      timeoutMs: claim.timeoutMs,
      memoryBytes: claim.sandbox.memoryBytes,
    });
    const logSent = this.#sendLog(log).catch((error: unknown) =>
      logger.warn({ err: error }, 'the log of a turn could not be sent'),
    );
    try {
      if (verdict.kind === 'failed') return verdict;
      const kept = await this.#capture(workspace);
      if ('snapshot' in kept) this.#snapshot = kept.snapshot;
      return { ...verdict, ...kept };
    } finally {
      await logSent;
      stopwatch.lap('captured');
    }
  }

  /** Whoever ends a host or its engine ends some turns first: what that looks like is clear only a moment later. */
  async #waitForAftermath({ disturbed }: Sandbox, { end }: Watched): Promise<void> {
    const { stop, stopping, limits, logger } = this.parts;
    if (stop.reason !== undefined || !isSignalDeath(end)) return;
    logger.debug({ exitCode: end.exitCode }, 'a turn was ended by a signal');
    await anyOf([disturbed, stopping, stop.stopped], limits.aftermathMs);
  }

  async #bringToSnapshot(workspace: Workspace): Promise<void> {
    const { claim, client, stop } = this.parts;
    try {
      await this.#patiently(() =>
        workspace.bringTo(claim.snapshot, async (sha256) => {
          stop.stopped.throwIfAborted();
          return client.getContent(sha256);
        }),
      );
    } catch (error) {
      // A full disk is this host's, whatever was being written.
      if (error instanceof AttemptFailure || errnoOf(error) === 'ENOSPC') throw error;
      throw new AttemptFailure('workspace-unavailable', 'The workspace could not be brought to its snapshot.', {
        cause: error,
      });
    }
  }

  async #capture(workspace: Workspace): Promise<Kept> {
    const { client, logger } = this.parts;
    const captured = await workspace.capture();
    if (captured.dropped > 0)
      logger.warn(
        { dropped: captured.dropped },
        'a workspace had entries that no snapshot holds: pipes, sockets, or names that are no text',
      );
    const { id } = captured;
    if (id === null || id === this.parts.claim.snapshot) return { snapshot: id };
    try {
      await this.#patiently(() => uploadSnapshot(workspace.directory, { ...captured, id }, workspace.stored, client));
    } catch (error) {
      // What the agent has answered is worth more than its files.
      if (!(error instanceof HttpRefusal) || !noRoom.includes(error.code)) throw error;
      logger.warn({ code: error.code }, 'the workspace of a finished turn could not be stored');
      return { unsaved: { code: error.code, message: error.message.slice(0, 2000) } };
    }
    return { snapshot: id };
  }

  async #sendLog(log: string): Promise<void> {
    if (log !== '')
      await this.#patiently(() => this.parts.client.putLog(Buffer.from(log).subarray(-this.parts.limits.maxLogBytes)));
  }

  #patiently<T>(operation: () => Promise<T>): Promise<T> {
    const signal = this.parts.stop.abandoned;
    return retry(operation, { ...whileUnavailable, patienceMs: contentPatienceMs, signal });
  }

  #requireAllowed(): SandboxLimits['mounts'] {
    const { policyOf, ref, claim, host } = this.parts;
    return requireAllowed(policyOf(ref), claim, host());
  }

  #requireUnmoved(checked: SandboxLimits['mounts']): void {
    const now = this.#requireAllowed();
    const moved = checked.find(({ source }, i) => source !== now[i]?.source);
    if (moved === undefined) return;
    throw new AttemptFailure('container-start-failed', `${moved.source} was moved while it was about to be mounted.`);
  }

  #input(prepared: PreparedSandbox, workspace: Workspace, door: OpenDoor): RunnerTurnInput {
    const { input, toolToken } = this.parts.claim;
    return {
      ...input,
      workspace: prepared.workspaceSeen(workspace.directory),
      controllerUrl: prepared.controllerUrl(door),
      token: toolToken,
      protocol: runnerProtocol,
    };
  }
}

const shutDown: Failure = { code: 'worker-shutdown', message: 'The worker was shut down before the turn had ended.' };
