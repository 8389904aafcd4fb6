/** Statuses of temporary failures: too many requests, overloaded. */
const busyStatuses = [429, 503, 529];

/**
 * How far a request to a provider has come. A request that was sent may be billed even if it fails, and what was heard
 * of the provider decides what a failure says about it.
 */
export class AskProgress {
  /** Whether a connection was made, TLS included. */
  connected = false;
  /** Whether the whole request was sent. */
  sent = false;
  /** Whether it exceeded its deadline. */
  timedOut = false;
  /** Whether it ended because the stream fell silent. */
  fellSilent = false;
  /** The status of the provider's response, once it has one. */
  status: number | undefined;
  #chars = 0;
  #begun = false;
  #heardAt = performance.now();

  /** @param onBegun called on the first chunk of an answer */
  constructor(private readonly onBegun: () => void = () => undefined) {}

  /** The length of the answer so far. */
  get chars(): number {
    return this.#chars;
  }

  /** Whether the provider may have done billable work. */
  get paidFor(): boolean {
    return this.#begun || (this.sent && this.timedOut);
  }

  /** Whether the request may be the cause of its failure: the provider was reached, and does not report overload. */
  get mayBeItsFault(): boolean {
    return this.connected && !busyStatuses.includes(this.status ?? 0);
  }

  /**
   * Whether a failure is the provider's, and would meet any project: it is unreachable, reports overload, or was silent
   * for `silenceMs`. A shorter deadline that passed says nothing about the provider.
   */
  tellsOfProvider(silenceMs: number): boolean {
    if (!this.timedOut && !this.fellSilent) return !this.mayBeItsFault;
    return performance.now() - this.#heardAt >= silenceMs;
  }

  /** Records a sign of life from the provider. */
  heard(): void {
    this.#heardAt = performance.now();
  }

  /** Records the length of the answer so far. */
  reached(chars: number): void {
    this.#chars = chars;
    if (this.#begun) return;
    this.#begun = true;
    this.onBegun();
  }
}
