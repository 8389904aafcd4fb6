/** Measures an attempt stage by stage. */
export class Stopwatch {
  readonly #stages: Record<string, number> = {};
  #since: number;

  constructor(private readonly now: () => number) {
    this.#since = now();
  }

  /** A stage has ended, and the next one begins. Returns how long it took. */
  lap(stage: string): number {
    const at = this.now();
    const tookMs = Math.round((at - this.#since) * 10) / 10;
    this.#stages[stage] = tookMs;
    this.#since = at;
    return tookMs;
  }

  get stagesMs(): Record<string, number> {
    return { ...this.#stages };
  }
}
