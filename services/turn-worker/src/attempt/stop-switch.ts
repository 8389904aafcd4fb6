/**
 * Why an attempt is stopped before its own end. After the first three another attempt, or none, stands in its place,
 * and nothing is reported.
 *
 * - `cancelled`: the ToolHost says that it is over
 * - `fenced`: nothing was heard of the ToolHost for nearly a lease
 * - `superseded`: a later attempt of the same agent came to this worker, or runs beside it
 * - `disk-full`: the worker's disk is, and it takes most of it
 * - `lingering`: its output is there, and its sandbox does not end
 */
export type StopReason = Abandonment | 'time-limit' | 'workspace-too-large' | 'disk-full' | 'shutdown' | 'lingering';
export type Abandonment = (typeof abandonments)[number];

const abandonments = ['cancelled', 'fenced', 'superseded'] as const;

/** Stops one attempt. The first reason stays; an attempt that was stopped can still be abandoned. */
export class StopSwitch {
  readonly #stopped = new AbortController();
  readonly #abandoned = new AbortController();
  #reason: StopReason | undefined;

  /** What runs is to be killed. */
  get stopped(): AbortSignal {
    return this.#stopped.signal;
  }

  /** Nothing is to be reported. */
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
