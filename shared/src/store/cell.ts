import { readdir } from 'node:fs/promises';
import { Catalog } from './catalog.js';
import { type StoreContext, systemContext } from './context.js';
import { constructionMs, createProject, type NewProject, removeUnfinishedProjects } from './create-project.js';
import { DataDirectory } from './data-directory.js';
import type { ProjectStoreHooks } from './project-store.js';
import { ProjectStores } from './project-stores.js';
import { readStatus } from './queries/projects.js';

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

  /** Puts right what a crash left: unfinished projects are removed, finished ones that the catalog lacks are added. */
  async recover(): Promise<void> {
    const nowMs = this.context.now();
    await removeUnfinishedProjects(this.directory, nowMs);
    const known = new Map(this.catalog.projects().map(({ id, status }) => [id, status]));
    const onDisk = (await readdir(this.directory.projectsDir)).filter((name) => !name.startsWith('.'));
    for (const project of onDisk) {
      if (known.delete(project)) continue;
      await this.catalog.addProject(project, 'initialized');
      await this.noteStatus(project);
    }
    for (const project of known.keys()) {
      await this.catalog.removeProject(project, { addedBeforeMs: nowMs - constructionMs });
    }
  }

  /** Brings the catalog up to what a project's own database says. */
  async noteStatus(project: string): Promise<void> {
    await this.stores.use(project, (store) => this.catalog.noteStatus(project, () => readStatus(store.reader)));
  }

  async close(): Promise<void> {
    await this.stores.close();
    await this.catalog.close();
  }
}
