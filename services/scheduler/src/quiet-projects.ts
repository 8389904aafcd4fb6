import { statSync } from 'node:fs';

/** A file system tells moments apart that lie further from each other than this. */
const coarsestMs = 2_000;

/**
 * Projects that had nothing to do when they were last looked at, by what their files looked like then. While those are as
 * they were nothing was committed, and there is still nothing to do: such a project is not opened.
 */
export class QuietProjects {
  readonly #known = new Map<string, string>();

  /**
   * Looks at a project unless it is quiet. What `look` finds is of a later moment than the files are: a commit that comes
   * between is looked at again.
   *
   * @param file the project's database
   * @param look returns whether the project has nothing to do until something is committed
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
 * What changes with every commit: size and time of a database and its write-ahead log; undefined while the last commit is so
 * young that another one could leave the same. The log of a database that is opened and closed comes and goes empty.
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
