/**
 * Why an attempt is stopped early. For the first three, nothing is reported: another attempt has replaced it, or none
 * is wanted.
 *
 * - `cancelled`: the ToolHost has ended it
 * - `fenced`: no ToolHost was heard for nearly a lease
 * - `superseded`: a later attempt of the same agent was given to this worker, or runs on its engine
 * - `disk-full`: the worker's disk is full, and this attempt uses most of it
 * - `capture-failed`: its workspace could not be captured, so that nothing may leave its sandbox
 * - `lingering`: its output is complete, but its sandbox does not exit
 */
export type StopReason =
  | Abandonment
  | 'time-limit'
  | 'workspace-too-large'
  | 'disk-full'
  | 'shutdown'
  | 'capture-failed'
  | 'lingering';
export type Abandonment = (typeof abandonments)[number];

const abandonments = ['cancelled', 'fenced', 'superseded'] as const;

/** Stops one attempt. The first reason is kept; a stopped attempt can still be abandoned. */
export class StopSwitch {
  readonly #stopped = new AbortController();
  readonly #abandoned = new AbortController();
  #reason: StopReason | undefined;

  /** Aborted when the sandbox is to be killed. */
  get stopped(): AbortSignal {
    return this.#stopped.signal;
  }

  /** Aborted when nothing is to be reported. */
  get abandoned(): AbortSignal {
    return this.#abandoned.signal;
  }

  get reason(): StopReason | undefined {
    return this.#reason;
  }

  stop(reason: StopReason): void {
    this.#reason ??= reason;
    const error = new Error(`the attempt was stopped: ${reason}`);
    if ((abandonments as readonly string[]).includes(reason)) this.#abandoned.abort(error);
    this.#stopped.abort(error);
  }
}
