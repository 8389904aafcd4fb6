import { delay } from './retry.js';

/** What the ToolHost answers to a heartbeat. */
interface HeartbeatAnswer {
  readonly leaseMs: number;
  /** Whether the attempt is over. */
  readonly cancel: boolean;
}

/**
 * Why a lease was lost.
 *
 * - `cancelled`: the ToolHost says that the attempt is over
 * - `fenced`: no heartbeat was answered for nearly a lease
 */
export type LeaseLoss = 'cancelled' | 'fenced';

export interface LeaseOptions {
  /** Asks the ToolHost for more time. */
  heartbeat: (timeoutMs: number, signal: AbortSignal) => Promise<HeartbeatAnswer>;
  /** When the claim was sent first, by `now`, and how long the lease was then. */
  sentAtMs: number;
  leaseMs: number;
  /** The heartbeat interval. */
  heartbeatMs: number;
  /** Whether the first heartbeat is sent at the start, and not an interval after the claim. @default false */
  beatsAtOnce?: boolean;
  /** How long before the lease ends it counts as lost. */
  marginMs: number;
  /** A monotonic clock. */
  now: () => number;
  /** Whether a heartbeat's failure says that the attempt is over. */
  isOver: (error: unknown) => boolean;
  /** Called for each heartbeat that fails otherwise. */
  onMissed: (error: unknown) => void;
  /** Called at most once: what runs must be killed. */
  onLost: (reason: LeaseLoss, error?: unknown) => void;
}

/**
 * Keeps an attempt's lease by heartbeats. Time counts from when a heartbeat was sent, so that this side never believes
 * in more than the ToolHost granted; where none succeeds in time, the holder fences itself.
 */
export class Lease {
  readonly #stop = new AbortController();
  #fenceAt: number;
  #fence: ReturnType<typeof setTimeout> | undefined;
  #beating: Promise<void> | undefined;

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
    await this.#beating;
  }

  async #beat(): Promise<void> {
    const { heartbeat, sentAtMs, heartbeatMs, beatsAtOnce = false, now } = this.options;
    let nextAt = beatsAtOnce ? now() : sentAtMs + heartbeatMs;
    for (;;) {
      await delay(Math.max(0, nextAt - now()), this.#stop.signal);
      if (this.#stop.signal.aborted) return;
      const sentAt = now();
      nextAt = sentAt + heartbeatMs;
      try {
        // A heartbeat that hangs must leave time for another one before the fence.
        const timeoutMs = Math.ceil(Math.max(heartbeatMs, (this.#fenceAt - sentAt) / 3));
        const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(timeoutMs)]);
        const answer = await heartbeat(timeoutMs, signal);
        if (answer.cancel) this.#lose('cancelled');
        this.#fenceAt = this.#fenceFor(sentAt, answer.leaseMs);
        this.#arm();
      } catch (error) {
        if (this.options.isOver(error)) this.#lose('cancelled', error);
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

  #lose(reason: LeaseLoss, error?: unknown): void {
    if (this.#stop.signal.aborted) return;
    this.#stop.abort();
    clearTimeout(this.#fence);
    this.options.onLost(reason, error);
  }
}
