/**
 * Does a few pieces of work at a time. Projects take turns: the next piece is one of the project that has the fewest under way, so
 * that one with much of it keeps another waiting for one piece.
 */
export class ProjectTurns {
  /** What waits, by project: of those with as much under way, the first is the next one's. */
  readonly #waiting = new Map<string, (() => Promise<unknown>)[]>();
  /** The project of each piece that is under way. */
  readonly #working = new Map<Promise<void>, string>();
  #last: string | undefined;

  /** @param atOnce how many pieces are done at a time */
  constructor(private readonly atOnce = 1) {}

  /** @throws what `work` throws */
  take<Result>(project: string, work: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const job = () => work().then(resolve, reject);
      const waiting = this.#waiting.get(project);
      if (waiting) waiting.push(job);
      else this.#waiting.set(project, [job]);
      this.#fill();
    });
  }

  /** Resolves once nothing is done and nothing waits. */
  async idle(): Promise<void> {
    while (this.#working.size > 0) await Promise.all(this.#working.keys());
  }

  #fill(): void {
    while (this.#working.size < this.atOnce && this.#waiting.size > 0) {
      const project = this.#next();
      const [job, ...others] = this.#waiting.get(project) ?? [];
      this.#waiting.delete(project);
      // Behind the others.
      if (others.length > 0) this.#waiting.set(project, others);
      this.#last = project;
      const working = Promise.resolve(job?.()).then(() => {
        this.#working.delete(working);
        this.#fill();
      });
      this.#working.set(working, project);
    }
  }

  #next(): string {
    const underWay = new Map<string, number>();
    for (const project of this.#working.values()) underWay.set(project, (underWay.get(project) ?? 0) + 1);
    const fewest = Math.min(...Array.from(this.#waiting.keys(), (project) => underWay.get(project) ?? 0));
    const next = [...this.#waiting.keys()].filter((project) => (underWay.get(project) ?? 0) === fewest);
    return next.find((project) => project !== this.#last) ?? next[0] ?? '';
  }
}
