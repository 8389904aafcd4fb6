/** What passes by itself: too many requests, overloaded. */
const busyStatuses = [429, 503, 529];

/**
 * How far a question to a provider has come: what ends half way may be paid for, unlike what never began; and what has
 * been heard of the provider decides what its failure says, and of whom.
 */
export class AskProgress {
  /** Whether there was a connection, with TLS where the address has it. */
  connected = false;
  /** Whether the whole question has been sent. */
  sent = false;
  /** Whether it took longer than it may. */
  timedOut = false;
  /** Whether it ended because nothing came any more. */
  fellSilent = false;
  /** What the provider answered with, once it has. */
  status: number | undefined;
  #chars = 0;
  #begun = false;
  #heardAt = performance.now();

  /** @param onBegun told of the first piece of an answer */
  constructor(private readonly onBegun: () => void = () => undefined) {}

  /** What has been said and called so far. */
  get chars(): number {
    return this.#chars;
  }

  /** Whether a provider has done work for it, as far as can be told from here. */
  get paidFor(): boolean {
    return this.#begun || (this.sent && this.timedOut);
  }

  /** Whether what went wrong may be the question's fault: the provider was reached, and does not say that it is busy. */
  get mayBeItsFault(): boolean {
    return this.connected && !busyStatuses.includes(this.status ?? 0);
  }

  /**
   * Whether a failure says something of the provider, whichever project asks: it cannot be reached, says that it is busy, or was
   * silent for so long. A deadline that passed sooner says something of the deadline only.
   */
  tellsOfProvider(silenceMs: number): boolean {
    if (!this.timedOut && !this.fellSilent) return !this.mayBeItsFault;
    return performance.now() - this.#heardAt >= silenceMs;
  }

  /** The provider has given a sign of life. */
  heard(): void {
    this.#heardAt = performance.now();
  }

  /** An answer has come so far. */
  reached(chars: number): void {
    this.#chars = chars;
    if (this.#begun) return;
    this.#begun = true;
    this.onBegun();
  }
}
