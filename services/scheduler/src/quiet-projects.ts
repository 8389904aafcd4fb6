import { markOf } from '@suzumio/store/projects/file-mark';

/**
 * Projects that had nothing to do at their last visit, with the state of their files. While the files are unchanged
 * nothing was committed, and such a project is not opened.
 */
export class QuietProjects {
  readonly #known = new Map<string, string>();

  /**
   * Visits a project unless it is quiet. The files' state is read first: a commit in between causes another visit.
   *
   * @param file the project's database
   * @param look returns whether the project has nothing to do until the next commit
   */
  async visit(project: string, file: string, look: () => Promise<boolean>): Promise<void> {
    const mark = markOf(file);
    if (mark !== undefined && this.#known.get(project) === mark) return;
    this.#known.delete(project);
    if ((await look()) && mark !== undefined) this.#known.set(project, mark);
  }

  /** Forgets projects that are not among these. */
  keep(projects: readonly string[]): void {
    const kept = new Set(projects);
    for (const project of this.#known.keys()) if (!kept.has(project)) this.#known.delete(project);
  }
}
