/** Measures the stages of an attempt. */
export class Stopwatch {
  readonly #stages: Record<string, number> = {};
  #since: number;

  constructor(private readonly now: () => number) {
    this.#since = now();
  }

  /** Ends a stage and begins the next. Returns its duration. */
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
