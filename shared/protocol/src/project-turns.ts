/** Does one piece of work at a time. Projects take turns, so that one with much of it keeps another waiting for one piece. */
export class ProjectTurns {
  /** What waits, by project: the first is the next one's. */
  readonly #waiting = new Map<string, (() => Promise<unknown>)[]>();
  #working: Promise<void> | undefined;

  /** @throws what `work` throws */
  take<Result>(project: string, work: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const job = () => work().then(resolve, reject);
      const waiting = this.#waiting.get(project);
      if (waiting) waiting.push(job);
      else this.#waiting.set(project, [job]);
      this.#working ??= this.#work();
    });
  }

  /** Resolves once nothing is done and nothing waits. */
  async idle(): Promise<void> {
    await this.#working;
  }

  async #work(): Promise<void> {
    for (let last: string | undefined; this.#waiting.size > 0;) {
      const projects = [...this.#waiting.keys()];
      const project = projects.find((one) => one !== last) ?? projects[0] ?? '';
      const [job, ...others] = this.#waiting.get(project) ?? [];
      this.#waiting.delete(project);
      // Behind the others.
      if (others.length > 0) this.#waiting.set(project, others);
      await job?.();
      last = project;
    }
    this.#working = undefined;
  }
}
