import { setImmediate as turnOfOthers } from 'node:timers/promises';
import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { markOf } from '@suzumio/store/projects/file-mark';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { isBrokenProject } from '@suzumio/store/sqlite/store-fault';
import type { Call } from './call.js';
import type { OperationShape } from '@suzumio/contract/operations/operation';
import { withProject } from './project-access.js';

/** How many projects that have not changed are passed before others have their turn. */
const passedAtOnce = 50;

/**
 * What was read of each project, with the state of its files: while they are unchanged nothing was committed, and its
 * database is not asked. So a question about all projects that is asked again and again costs what has changed.
 */
export class UnchangedProjects<Read> {
  readonly #known = new Map<string, { mark: string; read: Read }>();

  /** @param look reads a project; what it returns depends on its database alone */
  constructor(private readonly look: (store: ProjectStore) => Read) {}

  /**
   * What was read of each project that a call may read.
   *
   * @returns `unreadable`: those whose databases cannot be read
   * @throws SuzumioError `project-unknown`, or what makes it unreadable, where the call is for one project alone
   */
  async read({
    context,
    response,
    identity,
  }: Pick<Call<OperationShape>, 'context' | 'response' | 'identity'>): Promise<{
    projects: { project: string; read: Read }[];
    unreadable: string[];
  }> {
    const { catalog, directory } = context.cell;
    const only = identity.project;
    const all = only === null ? catalog.projects.all().map(({ id }) => id) : [only];
    const projects: { project: string; read: Read }[] = [];
    const unreadable: string[] = [];
    for (const [at, project] of all.entries()) {
      // The client has disconnected.
      if (response.closed) break;
      if (at % passedAtOnce === passedAtOnce - 1) await turnOfOthers();
      try {
        // The state is read first: a commit in between causes another look.
        const mark = markOf(directory.projectFile(project));
        const known = this.#known.get(project);
        if (known && known.mark === mark) {
          projects.push({ project, read: known.read });
          continue;
        }
        this.#known.delete(project);
        const read = await withProject(context, response, project, this.look);
        if (mark !== undefined && mark !== '') this.#known.set(project, { mark, read });
        projects.push({ project, read });
        await turnOfOthers();
      } catch (error) {
        if (only !== null) throw error;
        if (isBrokenProject(error)) unreadable.push(project);
        // It was deleted since it was listed.
        else if (!isSuzumioError(error, 'project-unknown')) throw error;
      }
    }
    if (only === null) this.#keep(all);
    return { projects, unreadable };
  }

  /** Forgets projects that are gone. */
  #keep(projects: readonly string[]): void {
    const kept = new Set(projects);
    for (const project of this.#known.keys()) if (!kept.has(project)) this.#known.delete(project);
  }
}
