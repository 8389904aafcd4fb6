import { type AttemptStats, maxNamedSteps } from '@suzumio/protocol/attempts';
import { beginningOf } from '@suzumio/protocol/cut-text';
import { type Failure, maxFailureChars } from '@suzumio/protocol/failure-codes';
import { HttpRefusal } from '@suzumio/protocol/http-failures';
import { maxUncapturedChars } from '@suzumio/protocol/model-chat';
import { retry } from '@suzumio/protocol/retry';
import type { Logger } from '@suzumio/runtime/observability/logger';
import type { StepJournal } from '../door/sandbox-steps.js';
import { failureOf } from '../engine/attempt-failure.js';
import type { Sandbox } from '../engine/turn-engine.js';
import type { AttemptClient } from '../toolhost/toolhost-client.js';
import { upload } from '../workspace/content-exchange.js';
import type { Content } from '../workspace/read-file.js';
import { WorkspaceTooLarge, WorkspaceUnreadable } from '../workspace/workspace-errors.js';
import type { Workspace } from '../workspace/workspaces.js';
import { contentRetry, isOfRoom } from './agent-workspace.js';
import type { StopSwitch } from './stop-switch.js';
import type { AttemptMetrics } from './worker-context.js';

export interface LiveCapturesOptions {
  workspace: Pick<Workspace, 'capture'>;
  /** Does what reads the workspace. */
  whileReadable: Sandbox['whileReadable'];
  client: Pick<AttemptClient, 'capture' | 'mark' | 'hasContent' | 'putContent'>;
  stop: StopSwitch;
  /** The longest time that a capture may take. */
  captureMs: number;
  logger: Logger;
  metrics: AttemptMetrics | undefined;
  now: () => number;
}

/** What the model is told besides why there is no capture. */
const untilThen = (mending: string) =>
  ` So it cannot be captured, and until it can be, nothing leaves your sandbox: no message, no artifact, no submission, nor the end of your turn. ${mending} with the tools of your sandbox; then make the calls again that were refused.`;
const untilSmaller = untilThen('Remove or shrink what you do not need');
const untilReadable = untilThen('Make it readable, or remove it,');

/** Refusals that mean that the attempt is over. */
const over: readonly string[] = ['attempt-over', 'token-rejected'];

/**
 * Captures of an attempt's workspace while its sandbox runs. One that fails stops the attempt, unless the workspace is too
 * large, or cannot be read: its agent can mend that.
 */
export class LiveCaptures implements StepJournal {
  #number = 0;
  #running: Promise<void> = Promise.resolve();
  #failure: Failure | undefined;
  #leftOut: AttemptStats['leftOut'];
  #isClosed = false;

  constructor(private readonly options: LiveCapturesOptions) {}

  /** Why the attempt was stopped, if a capture failed. */
  get failure(): Failure | undefined {
    return this.#failure;
  }

  /** What the newest capture lacks. */
  get leftOut(): AttemptStats['leftOut'] {
    return this.#leftOut;
  }

  capture(steps: readonly string[]): Promise<string | undefined> {
    // A call that waited at the door may be the last to learn that the sandbox has ended.
    if (this.#isClosed) return Promise.reject(new Error('The sandbox has ended.'));
    const capturing = this.#capture(steps);
    this.#running = capturing.then(
      () => undefined,
      () => undefined,
    );
    return capturing;
  }

  async mark(steps: readonly string[]): Promise<void> {
    const { client, stop } = this.options;
    await retry(() => client.mark({ steps: [...steps] }), contentRetry(stop));
  }

  /** Resolves when no capture runs; none begins any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running;
  }

  async #capture(steps: readonly string[]): Promise<string | undefined> {
    const { stop, metrics, now, logger } = this.options;
    const startedMs = now();
    try {
      const uploadedBytes = await this.#take(steps);
      const tookMs = now() - startedMs;
      metrics?.captures.inc({ outcome: 'taken' });
      metrics?.capturedBytes.inc({}, uploadedBytes);
      metrics?.captureDuration.observeMs({}, tookMs);
      logger.debug({ steps: steps.length, uploadedBytes, tookMs }, 'captured a workspace');
      return undefined;
    } catch (error) {
      if (stop.stopped.aborted) throw error;
      metrics?.captures.inc({ outcome: 'failed' });
      if (error instanceof WorkspaceTooLarge || error instanceof WorkspaceUnreadable) {
        logger.debug({ err: error }, 'a workspace cannot be captured before its agent mends it');
        const then = error instanceof WorkspaceTooLarge ? untilSmaller : untilReadable;
        return `${beginningOf(error.message, maxUncapturedChars - then.length)}${then}`;
      }
      if (error instanceof HttpRefusal && over.includes(error.code)) {
        stop.stop('cancelled');
        throw error;
      }
      logger.warn({ err: error }, 'a workspace could not be captured; the attempt is stopped');
      this.#failure = failureOfCapture(error);
      stop.stop('capture-failed');
      throw error;
    }
  }

  /** @returns how many bytes were uploaded */
  async #take(steps: readonly string[]): Promise<number> {
    const { workspace, whileReadable, client, stop, captureMs } = this.options;
    let uploadedBytes = 0;
    const store = async (content: Content) => {
      await retry(() => upload(content, client), contentRetry(stop));
      uploadedBytes += content.sizeBytes;
    };
    const signal = AbortSignal.any([stop.stopped, AbortSignal.timeout(captureMs)]);
    const { id: snapshot, leftOut } = await whileReadable(() => workspace.capture({ store, live: true, signal }));
    for (let first = 0; first < steps.length; first += maxNamedSteps) {
      const number = ++this.#number;
      const some = steps.slice(first, first + maxNamedSteps);
      await retry(() => client.capture({ number, snapshot, steps: some }), contentRetry(stop));
    }
    this.#leftOut = leftOut;
    return uploadedBytes;
  }
}

/** A lack of room is a quota's, or the cell's disk's: then the attempt is not counted, and goes on when there is room. */
function failureOfCapture(error: unknown): Failure {
  if (!(error instanceof HttpRefusal) || !isOfRoom(error.code)) return failureOf(error, true);
  const code = error.code === 'quota-exceeded' ? error.code : 'disk-full';
  return { code, message: `The workspace could not be captured: ${error.message}`.slice(0, maxFailureChars) };
}
