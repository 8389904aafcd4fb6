import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '@suzumio/contract/errors/suzumio-error';
import type { Logger } from '@suzumio/runtime/observability/logger';
import { AttemptFailure } from './engine/attempt-failure.js';
import { WorkerRefused } from './toolhost/cells.js';

export interface ReadinessOptions {
  /** Resolves when turns can be had, and run on this host. */
  probe: () => Promise<void>;
  /** Waiting time after a probe that failed; doubles up to 16 times this. */
  retryMs: number;
  onChange: (ready: boolean) => Promise<void>;
  logger: Logger;
}

/** Whether this worker can run turns. While it cannot, or it is not known, no job is taken. */
export class Readiness {
  readonly #stop = new AbortController();
  #ready = false;
  #told = false;
  #problem: string | undefined;
  #probing: Promise<void> | undefined;

  constructor(private readonly options: ReadinessOptions) {}

  get ready(): boolean {
    return this.#ready;
  }

  /** The code of what the last probe found missing. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Probes for the first time; resolves after one probe, whatever it found. */
  async start(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#probing = this.#untilReady(resolve);
    });
  }

  /** Something failed that a working host would have done: no more jobs until a probe passes. */
  suspect(): void {
    if (this.#stop.signal.aborted || this.#probing !== undefined) return;
    this.#probing = this.#untilReady(() => undefined);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#probing;
  }

  async #untilReady(afterFirst: () => void): Promise<void> {
    const { probe, retryMs, logger } = this.options;
    try {
      await this.#change(false);
      for (let pauseMs = retryMs; !this.#stop.signal.aborted; pauseMs = Math.min(pauseMs * 2, retryMs * 16)) {
        try {
          await probe();
          if (this.#told) logger.info('the worker takes jobs again');
          this.#told = false;
          this.#problem = undefined;
          await this.#change(!this.#stopped());
          return;
        } catch (error) {
          const isTold = error instanceof AttemptFailure || error instanceof WorkerRefused;
          const code = isTold ? error.code : undefined;
          this.#problem = code ?? 'internal';
          if (!this.#told) logger.error({ code, err: error }, `the worker takes no jobs: ${messageOf(error)}`);
          this.#told = true;
        }
        afterFirst();
        await sleep(pauseMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
      }
    } catch (error) {
      logger.error({ err: error }, 'pausing or resuming failed');
    } finally {
      this.#probing = undefined;
      afterFirst();
    }
  }

  #stopped(): boolean {
    return this.#stop.signal.aborted;
  }

  async #change(ready: boolean): Promise<void> {
    this.#ready = ready;
    await this.options.onChange(ready);
  }
}
