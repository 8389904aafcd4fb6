import type { HeartbeatAnswer } from '@suzumio/protocol/attempts';
import { HttpRefusal } from '@suzumio/protocol/http-failures';
import type { StopReason } from './stop-switch.js';

export interface LeaseOptions {
  /** Asks the ToolHost for more time. */
  heartbeat: (timeoutMs: number, signal: AbortSignal) => Promise<HeartbeatAnswer>;
  /** When the claim was first sent, by `now`, and how long the lease was then. */
  sentAtMs: number;
  leaseMs: number;
  heartbeatMs: number;
  marginMs: number;
  /** A monotonic clock. */
  now: () => number;
  /** Called for each heartbeat that fails. */
  onMissed: (error: unknown) => void;
  /** Called at most once: what runs must be killed. */
  onLost: (reason: Extract<StopReason, 'cancelled' | 'fenced'>) => void;
}

/** A refusal with one of these means that the attempt is over; with another one, only that the call was wrong. */
const over = new Set([401, 403, 404, 409, 410]);

/**
 * Keeps an attempt's lease by heartbeats. Time counts from when a heartbeat was sent, so that this side never believes
 * in more than the ToolHost granted; where none succeeds in time, the worker fences itself.
 */
export class Lease {
  readonly #stop = new AbortController();
  #fenceAt: number;
  #fence: NodeJS.Timeout | undefined;
  #beating: Promise<void> | undefined;
  #wake: (() => void) | undefined;

  constructor(private readonly options: LeaseOptions) {
    this.#fenceAt = this.#fenceFor(options.sentAtMs, options.leaseMs);
  }

  /**
   * Whether the lease is still ours by the clock, whatever the timers have had time for: this process may have stood still.
   */
  get held(): boolean {
    return this.options.now() < this.#fenceAt;
  }

  start(): void {
    // A claim that was repeated for long may have used the lease up: one heartbeat finds that out.
    this.#fenceAt = Math.max(this.#fenceAt, this.options.now() + this.options.heartbeatMs);
    this.#arm();
    this.#beating = this.#beat();
  }

  /** No heartbeat is under way when this resolves. */
  async stop(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#fence);
    this.#wake?.();
    await this.#beating;
  }

  async #beat(): Promise<void> {
    const { heartbeat, heartbeatMs, now } = this.options;
    let sentAt = this.options.sentAtMs;
    for (;;) {
      await this.#pause(sentAt + heartbeatMs - now());
      if (this.#stop.signal.aborted) return;
      sentAt = now();
      try {
        // A heartbeat that hangs must leave time for another one before the fence.
        const timeoutMs = Math.ceil(Math.max(heartbeatMs, (this.#fenceAt - sentAt) / 3));
        const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(timeoutMs)]);
        const answer = await heartbeat(timeoutMs, signal);
        if (answer.cancel) this.#lose('cancelled');
        this.#fenceAt = this.#fenceFor(sentAt, answer.leaseMs);
        this.#arm();
      } catch (error) {
        if (error instanceof HttpRefusal && over.has(error.status)) this.#lose('cancelled');
        else this.#missed(error);
      }
    }
  }

  #missed(error: unknown): void {
    if (!this.#stop.signal.aborted) this.options.onMissed(error);
  }

  #fenceFor(sentAtMs: number, leaseMs: number): number {
    return sentAtMs + leaseMs - this.options.marginMs;
  }

  #arm(): void {
    clearTimeout(this.#fence);
    if (this.#stop.signal.aborted) return;
    this.#fence = setTimeout(() => this.#lose('fenced'), Math.max(0, this.#fenceAt - this.options.now()));
  }

  #lose(reason: 'cancelled' | 'fenced'): void {
    if (this.#stop.signal.aborted) return;
    this.#stop.abort();
    clearTimeout(this.#fence);
    this.#wake?.();
    this.options.onLost(reason);
  }

  #pause(ms: number): Promise<void> {
    if (this.#stop.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.max(0, ms));
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
