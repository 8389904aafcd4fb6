import { delay } from './retry.js';

/** The ToolHost's answer to a heartbeat. */
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
  /** Sends a heartbeat. */
  heartbeat: (timeoutMs: number, signal: AbortSignal) => Promise<HeartbeatAnswer>;
  /** When the claim was first sent, by `now`, and the length of its lease. */
  sentAtMs: number;
  leaseMs: number;
  /** The heartbeat interval. */
  heartbeatMs: number;
  /** Whether the first heartbeat is sent at once, rather than one interval after the claim. @default false */
  beatsAtOnce?: boolean;
  /** How long before its end the lease counts as lost. */
  marginMs: number;
  /** A monotonic clock. */
  now: () => number;
  /** Whether a heartbeat's error means that the attempt is over. */
  isOver: (error: unknown) => boolean;
  /** Called for each other failed heartbeat. */
  onMissed: (error: unknown) => void;
  /** Called at most once: the attempt must be killed. */
  onLost: (reason: LeaseLoss, error?: unknown) => void;
}

/**
 * Keeps an attempt's lease by heartbeats. Time counts from when a heartbeat was sent, so that this side never assumes
 * more than the ToolHost granted; without a successful heartbeat in time, the holder fences itself.
 */
export class Lease {
  readonly #stop = new AbortController();
  #fenceAt: number;
  #fence: ReturnType<typeof setTimeout> | undefined;
  #beating: Promise<void> | undefined;

  constructor(private readonly options: LeaseOptions) {
    this.#fenceAt = this.#fenceFor(options.sentAtMs, options.leaseMs);
  }

  /** Whether the lease is held by the clock, even if the process was paused and its timers are late. */
  get held(): boolean {
    return this.options.now() < this.#fenceAt;
  }

  start(): void {
    // A claim that was retried for long may have used up the lease: allow one heartbeat to find out.
    this.#fenceAt = Math.max(this.#fenceAt, this.options.now() + this.options.heartbeatMs);
    this.#arm();
    this.#beating = this.#beat();
  }

  /** Resolves once no heartbeat is in flight. */
  async stop(): Promise<void> {
    // Without a reason, an error is made for nobody, with its stack.
    this.#stop.abort('stopped');
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
        // A hanging heartbeat must leave time for another before the fence.
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
