const rememberedMs = 60_000;
const mostOfToken = 64;

/** The claims that were cancelled lately: a claim may arrive after its cancellation, on another connection. */
export class CancelledClaims {
  /** The oldest first. */
  readonly #cancelled = new Map<string, { token: string; atMs: number }>();

  constructor(private readonly nowMs: () => number) {}

  add(key: string, token: string): void {
    this.#forget();
    this.#cancelled.delete(key);
    const [oldest, ...others] = [...this.#cancelled].filter(([, cancelled]) => cancelled.token === token);
    if (oldest && others.length + 1 >= mostOfToken) this.#cancelled.delete(oldest[0]);
    this.#cancelled.set(key, { token, atMs: this.nowMs() });
  }

  has(key: string): boolean {
    this.#forget();
    return this.#cancelled.has(key);
  }

  #forget(): void {
    for (const [key, { atMs }] of this.#cancelled) {
      if (this.nowMs() - atMs < rememberedMs) return;
      this.#cancelled.delete(key);
    }
  }
}
