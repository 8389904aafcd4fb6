import { readdir } from 'node:fs/promises';
import { isSuzumioError } from '../errors/suzumio-error.js';
import { Catalog } from './catalog.js';
import { type StoreContext, systemContext } from './context.js';
import { constructionMs, createProject, type NewProject, removeUnfinishedProjects } from './create-project.js';
import { DataDirectory } from './data-directory.js';
import { deleteProject, type DeletionRequest, discardDeleted, finishDeletions } from './delete-project.js';
import type { ProjectStoreHooks } from './project-store.js';
import { ProjectStores } from './project-stores.js';
import { readLabels, readStatus } from './queries/projects.js';
import { projectRow } from './rows.js';

/** A control plane's data: one directory, its catalog and its projects, as one process holds them. */
export class Cell {
  private constructor(
    /** The cell's id, in every queue name, job, token and container label. */
    readonly id: string,
    readonly directory: DataDirectory,
    readonly catalog: Catalog,
    readonly stores: ProjectStores,
    readonly context: StoreContext,
  ) {}

  /**
   * Opens a data directory, making it where it is missing.
   *
   * @throws SuzumioError `data-dir-invalid`, `schema-newer`
   */
  static open(
    root: string,
    options: { id?: string; context?: StoreContext; hooks?: ProjectStoreHooks; maxOpen?: number } = {},
  ): Cell {
    const directory = new DataDirectory(root);
    directory.prepare();
    const context = options.context ?? systemContext();
    const catalog = Catalog.open(directory, context);
    const stores = new ProjectStores(directory, context, options.hooks, options.maxOpen);
    return new Cell(options.id ?? directory.cellId(), directory, catalog, stores, context);
  }

  /** @throws SuzumioError `project-exists`, `invalid-config` */
  createProject(project: NewProject): Promise<void> {
    return createProject(this.directory, this.catalog, this.context, project);
  }

  /**
   * Deletes a project with everything that is stored of it.
   *
   * @throws SuzumioError `project-unknown`, `idempotency-mismatch`, `store-busy`
   */
  deleteProject(project: string, request: DeletionRequest): Promise<void> {
    return deleteProject(this, project, request);
  }

  /**
   * Puts right what a crash left: unfinished projects are removed, finished ones that the catalog lacks are added, and
   * deletions are taken to their end.
   */
  async recover(): Promise<void> {
    const nowMs = this.context.now();
    await removeUnfinishedProjects(this.directory, nowMs);
    await finishDeletions(this);
    const known = new Map(this.catalog.projects().map(({ id, status }) => [id, status]));
    const onDisk = (await readdir(this.directory.projectsDir)).filter((name) => !name.startsWith('.'));
    for (const project of onDisk) {
      if (known.delete(project)) continue;
      await this.#addMissing(project);
    }
    for (const project of known.keys()) {
      await this.catalog.removeProject(project, { addedBeforeMs: nowMs - constructionMs });
    }
  }

  /** Brings the catalog up to what a project's own database says. */
  async noteStatus(project: string): Promise<void> {
    await this.stores.use(project, (store) => this.catalog.noteStatus(project, () => readStatus(store.reader)));
  }

  /** The catalog lacks what it lost, and what was put in its place when the process was killed. */
  async #addMissing(project: string): Promise<void> {
    try {
      const entry = await this.stores.use(project, ({ reader }) => {
        const { epoch, standing_team } = projectRow(reader);
        return {
          status: readStatus(reader).status,
          labels: readLabels(reader),
          epoch,
          ...(standing_team === null ? {} : { standing: { team: standing_team, instead: false } }),
        };
      });
      await this.catalog.addProject(project, entry);
      await this.noteStatus(project);
    } catch (error) {
      // Another process is deleting it.
      if (isSuzumioError(error, 'project-exists')) return;
      if (!isSuzumioError(error, 'project-unknown')) throw error;
      await discardDeleted(this, project);
    }
  }

  async close(): Promise<void> {
    await this.stores.close();
    await this.catalog.close();
  }
}
