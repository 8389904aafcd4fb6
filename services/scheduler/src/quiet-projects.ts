import { statSync } from 'node:fs';

/** The coarsest resolution of a file system's timestamps. */
const coarsestMs = 2_000;

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

/**
 * The state of a database and its write-ahead log that changes with every commit: size and time; undefined while the
 * last commit is so recent that another could leave the same state. The log of a database that is opened and closed
 * comes and goes empty.
 */
function markOf(file: string): string | undefined {
  const parts: string[] = [];
  for (const path of [file, `${file}-wal`]) {
    const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
    if (!stat || stat.size === 0n) continue;
    if (Date.now() - Number(stat.mtimeMs) < coarsestMs) return undefined;
    parts.push(`${String(stat.ino)} ${String(stat.size)} ${String(stat.mtimeNs)}`);
  }
  return parts.join(' ');
}
