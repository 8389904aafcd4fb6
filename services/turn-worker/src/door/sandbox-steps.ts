import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { HttpAnswer } from '@suzumio/protocol/http-client';
import { chatPath, stepHeader } from '@suzumio/protocol/model-chat';
import { pushPath } from '@suzumio/protocol/shared-repository';
import { supportPath } from '@suzumio/protocol/toolpacks/support';

/** Commits what a later attempt has to know of an attempt's steps in the sandbox. */
export interface StepJournal {
  /**
   * Captures the workspace. The capture covers these steps.
   *
   * @returns why it could not be captured, if that is for the agent to mend
   */
  capture(steps: readonly string[]): Promise<string | undefined>;
  /** Notes that these steps are about to reach outside. */
  mark(steps: readonly string[]): Promise<void>;
}

export interface Passing {
  /**
   * Whether a call or question names no step. While a step is open, a program in the sandbox makes it: it would wait for the end
   * of that very program. It is sent at once, and refused.
   */
  unnamed?: boolean;
  /** Aborted when the asking side goes away: it waits no more, and keeps no other from going on. */
  gone?: AbortSignal;
}

/** Sends a request to the ToolHost; with why the workspace could not be captured before it, if it could not. */
type Send = (uncaptured?: string) => Promise<HttpAnswer>;

/**
 * Keeps captures and steps in the sandbox apart. A call that leaves the sandbox waits until no step is open; if steps have
 * ended since the last capture, the workspace is captured before the call is sent. No step begins meanwhile: the steps of a
 * capture are exactly those that have ended, and a call waits for no step that was begun after it came.
 */
export class SandboxSteps {
  readonly #open = new Set<string>();
  /** Ended since the last capture. */
  readonly #ended = new Set<string>();
  /** When the mark of each step is on record. */
  readonly #marks = new Map<string, Promise<void>>();
  /** How many beginnings and ends are being sent. */
  #moving = 0;
  /** How many calls wait, or are sent once a capture is there. */
  #leaving = 0;
  #capturing: Promise<string | undefined> | undefined;
  #waiting: (() => void)[] = [];

  constructor(private readonly journal: StepJournal) {}

  /** Whether a step is open. */
  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  /**
   * Sends a request of a runner at the moment that its route allows.
   *
   * @throws what `send` and the journal throw; the reason of `gone`
   */
  async pass(route: string, send: Send, { unnamed = false, gone }: Passing = {}): Promise<HttpAnswer> {
    const wake = () => this.#changed();
    gone?.addEventListener('abort', wake);
    try {
      switch (route) {
        case '/tool/begin':
          return await this.#begin(send, gone);
        case '/tool/end':
          return await this.#end(send, gone);
        case '/tool':
        case chatPath:
          return await send(unnamed && this.isOpen ? undefined : await this.leave(gone));
        case pushPath:
        case supportPath:
          await this.reachOutside(gone);
          return await send();
        default:
          return await send();
      }
    } finally {
      gone?.removeEventListener('abort', wake);
    }
  }

  /**
   * Resolves when everything that has happened in the sandbox is captured, as before a call that leaves it.
   *
   * @returns why it could not be captured, if that is for the agent to mend
   * @throws what the journal throws; the reason of `gone`
   */
  async leave(gone?: AbortSignal): Promise<string | undefined> {
    this.#leaving += 1;
    try {
      while (this.#open.size > 0 || this.#moving > 0) await this.#change(gone);
      return this.#ended.size > 0 ? await (this.#capturing ??= this.#capture()) : undefined;
    } finally {
      this.#leaving -= 1;
      this.#changed();
    }
  }

  /**
   * Resolves when something in the sandbox may reach outside: the open steps are marked, and never repeated. Without an open
   * step it is a process that an earlier one has left running, which is captured then.
   *
   * @throws SuzumioError `workspace-too-large`; what the journal throws; the reason of `gone`
   */
  async reachOutside(gone?: AbortSignal): Promise<void> {
    if (this.#open.size === 0) {
      const uncaptured = await this.leave(gone);
      if (uncaptured !== undefined) throw new SuzumioError('workspace-too-large', uncaptured);
      return;
    }
    const open = [...this.#open];
    const steps = open.filter((step) => !this.#marks.has(step));
    if (steps.length > 0) this.#mark(steps);
    await Promise.all(open.flatMap((step) => this.#marks.get(step) ?? []));
  }

  /** A step may end before its mark is on record: from now on it counts as marked. */
  #mark(steps: readonly string[]): void {
    const marking = this.journal.mark(steps).catch((error: unknown) => {
      for (const step of steps) this.#marks.delete(step);
      throw error;
    });
    for (const step of steps) this.#marks.set(step, marking);
  }

  async #begin(send: Send, gone: AbortSignal | undefined): Promise<HttpAnswer> {
    while (this.#leaving > 0) await this.#change(gone);
    const { answer } = await this.#move(send, (step) => this.#open.add(step));
    return answer;
  }

  /** A step that has reached outside is captured before its result is told. */
  async #end(send: Send, gone: AbortSignal | undefined): Promise<HttpAnswer> {
    const { answer, step } = await this.#move(send, (ended) => {
      if (this.#open.delete(ended)) this.#ended.add(ended);
    });
    if (step !== undefined && this.#marks.has(step)) await this.leave(gone);
    return answer;
  }

  /** @param moved called with the step that has begun or ended by the answer */
  async #move(send: Send, moved: (step: string) => void): Promise<{ answer: HttpAnswer; step: string | undefined }> {
    this.#moving += 1;
    try {
      const answer = await send();
      const step = answer.status < 300 ? answer.header(stepHeader) : undefined;
      if (step !== undefined) moved(step);
      return { answer, step };
    } finally {
      this.#moving -= 1;
      this.#changed();
    }
  }

  async #capture(): Promise<string | undefined> {
    try {
      const uncaptured = await this.journal.capture([...this.#ended]);
      if (uncaptured === undefined) this.#ended.clear();
      return uncaptured;
    } finally {
      this.#capturing = undefined;
    }
  }

  async #change(gone: AbortSignal | undefined): Promise<void> {
    gone?.throwIfAborted();
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
    gone?.throwIfAborted();
  }

  #changed(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
