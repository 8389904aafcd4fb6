import { messageOf } from '@suzumio/contract/errors/suzumio-error';
import { retry } from '@suzumio/protocol/retry';
import type { Logger } from '@suzumio/runtime/observability/logger';
import { AttemptFailure } from './engine/attempt-failure.js';
import { WorkerRefused } from './toolhost/cells.js';

export interface ReadinessOptions {
  /** Resolves when turns can be claimed, and run on this host. */
  probe: () => Promise<void>;
  /** The first back-off after a failed probe; doubles up to 16 times this. */
  retryMs: number;
  onChange: (ready: boolean) => Promise<void>;
  logger: Logger;
}

/** Whether this worker can run turns. While it cannot, or that is unknown, no job is taken. */
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

  /** The code of the last probe's failure. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Probes for the first time; resolves after one probe, successful or not. */
  async start(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#probing = this.#untilReady(resolve);
    });
  }

  /** Reports a failure that a working host would not have: no more jobs until a probe passes. */
  suspect(): void {
    if (this.#stop.signal.aborted || this.#probing !== undefined) return;
    this.#probing = this.#untilReady(() => undefined);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#probing;
  }

  async #untilReady(afterFirst: () => void): Promise<void> {
    const { retryMs, logger } = this.options;
    const { signal } = this.#stop;
    const onFailure = (error: unknown) => {
      this.#failed(error);
      afterFirst();
    };
    try {
      await this.#change(false);
      await retry(() => this.#probe(), { firstDelayMs: retryMs, longestDelayMs: 16 * retryMs, signal, onFailure });
    } catch (error) {
      if (!signal.aborted) logger.error({ err: error }, 'pausing or resuming failed');
    } finally {
      this.#probing = undefined;
      afterFirst();
    }
  }

  async #probe(): Promise<void> {
    const { probe, logger } = this.options;
    await probe();
    if (this.#told) logger.info('the worker accepts jobs again');
    this.#told = false;
    this.#problem = undefined;
    await this.#change(!this.#stop.signal.aborted);
  }

  #failed(error: unknown): void {
    const isTold = error instanceof AttemptFailure || error instanceof WorkerRefused;
    const code = isTold ? error.code : undefined;
    this.#problem = code ?? 'internal';
    if (!this.#told) this.options.logger.error({ code, err: error }, `the worker accepts no jobs: ${messageOf(error)}`);
    this.#told = true;
  }

  async #change(ready: boolean): Promise<void> {
    this.#ready = ready;
    await this.options.onChange(ready);
  }
}
