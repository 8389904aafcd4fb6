/** What passes by itself: too many requests, overloaded. */
const busyStatuses = [429, 503, 529];

/**
 * How far a question to a provider has come: what ends half way may be paid for, unlike what never began.
 */
export class AskProgress {
  /** Whether the whole question has been sent. */
  sent = false;
  /** Whether it took longer than it may. */
  timedOut = false;
  /** What the provider answered with, once it has. */
  status: number | undefined;
  #chars = 0;
  #begun = false;

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

  /** Whether what went wrong may be the question's fault: the provider has it, and does not say that it is busy. */
  get mayBeItsFault(): boolean {
    return this.sent && !busyStatuses.includes(this.status ?? 0);
  }

  /** An answer has come so far. */
  reached(chars: number): void {
    this.#chars = chars;
    if (this.#begun) return;
    this.#begun = true;
    this.onBegun();
  }
}
