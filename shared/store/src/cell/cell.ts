import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { defaultStorageLimits, type StorageLimits } from '@suzumio/contract/model/storage';
import { projectId } from '@suzumio/protocol/ids';
import { Catalog } from './catalog.js';
import { type StoreContext, systemContext } from '../sqlite/context.js';
import type { NewProject } from './create-project.js';
import { DataDirectory } from './data-directory.js';
import {
  type BrokenProject,
  deleteProject,
  type DeletionRequest,
  discardDeleted,
  finishDeletions,
} from './delete-project.js';
import type { FreeSpace } from '@suzumio/protocol/disk-blocks';
import { DiskSpace } from '../sqlite/disk-space.js';
import { placeOf } from '../projects/file-place.js';
import { ProjectStore, type ProjectStoreHooks } from '../projects/project-store.js';
import type { NewEntry } from './project-index.js';
import { ProjectStores } from './project-stores.js';
import { readEntry, readLabels, readStatus } from '../projects/read-project.js';
import { projectRow } from '../rows.js';
import { missingStore, storeFault } from '../sqlite/store-fault.js';
import { beginEpoch } from '../projects/begin-epoch.js';

/** A control plane's data: one directory with its catalog and projects, as one process has it open. */
export class Cell {
  private constructor(
    /** The cell's id, in every queue name, job, token and container label. */
    readonly id: string,
    readonly directory: DataDirectory,
    readonly catalog: Catalog,
    readonly stores: ProjectStores,
    readonly disk: DiskSpace,
    readonly context: StoreContext,
    private readonly hooks: ProjectStoreHooks,
  ) {}

  /**
   * Opens a data directory, making it where it is missing.
   *
   * @throws SuzumioError `data-dir-invalid`, `schema-newer`
   */
  static open(
    root: string,
    options: {
      id?: string;
      context?: StoreContext;
      hooks?: ProjectStoreHooks;
      maxOpen?: number;
      storage?: StorageLimits;
      /** How much of the disk is free. */
      free?: (path: string) => FreeSpace;
    } = {},
  ): Cell {
    const directory = new DataDirectory(root);
    directory.prepare();
    const { storage = defaultStorageLimits } = options;
    const disk = new DiskSpace(directory.root, storage, options.free);
    const context = { ...(options.context ?? systemContext()), storage, disk };
    const catalog = Catalog.open(directory, context, options.hooks);
    const hooks: ProjectStoreHooks = {
      ...options.hooks,
      onRestored(project, change) {
        options.hooks?.onRestored?.(project, change);
        // If this fails, workers keep unused workspaces for longer, nothing else. The catalog waits for it when it
        // closes.
        void catalog.projects.noteEpoch(project, change).catch(() => undefined);
      },
    };
    const stores = new ProjectStores(directory, context, hooks, options.maxOpen, catalog.projects);
    return new Cell(options.id ?? directory.cellId(), directory, catalog, stores, disk, context, hooks);
  }

  /**
   * Opens a data directory to look at it: nothing is made, written or migrated. Where it is missing, it has no projects.
   * The cell has no name, since nothing is queued or labelled for it.
   *
   * @param options.keeping opens the catalogue for writing, as {@link open} does: its owner keeps tokens, profiles and teams
   * @throws SuzumioError `data-dir-invalid`, `schema-newer`
   */
  static openForReading(
    root: string,
    options: {
      context: StoreContext;
      storage: StorageLimits;
      free: (path: string) => FreeSpace;
      keeping?: boolean;
    },
  ): Cell {
    const directory = new DataDirectory(root);
    const disk = new DiskSpace(directory.root, options.storage, options.free);
    const context = { ...options.context, storage: options.storage, disk };
    if (options.keeping) directory.prepare();
    const catalog = options.keeping ? Catalog.open(directory, context) : Catalog.openForReading(directory, context);
    const stores = new ProjectStores(directory, context, {}, undefined, catalog.projects, true);
    return new Cell('', directory, catalog, stores, disk, context, {});
  }

  /** What may be stored here. */
  get storage(): StorageLimits {
    return this.context.storage ?? defaultStorageLimits;
  }

  /** @throws SuzumioError `project-exists`, `invalid-config` */
  async createProject(project: NewProject): Promise<void> {
    const { createProject } = await creation();
    await createProject(this.directory, this.catalog, this.context, project);
    this.hooks.onCreated?.(project.config.name);
  }

  /**
   * Deletes a project and everything that is stored of it.
   *
   * @throws SuzumioError `project-unknown`, `idempotency-mismatch`, `store-busy`
   */
  deleteProject(project: string, request: DeletionRequest): Promise<void> {
    return deleteProject(this, project, request);
  }

  /**
   * Repairs what a crash left: removes unfinished projects, adds finished ones that the catalog lacks (also those
   * restored from a copy), and finishes deletions.
   *
   * @returns the projects that cannot be opened or are missing; each stays as it is, and the others are recovered all the same
   * @throws SuzumioError `schema-newer`
   */
  async recover(): Promise<BrokenProject[]> {
    const { removeUnfinishedProjects } = await creation();
    await removeUnfinishedProjects(this.directory, this.context.now());
    const broken = await finishDeletions(this);
    const known = new Map(this.catalog.projects.all().map(({ id, status }) => [id, status]));
    const onDisk = (await readdir(this.directory.projectsDir)).filter((name) => !name.startsWith('.'));
    for (const project of onDisk) {
      if (known.delete(project) || this.catalog.projects.knows(project)) continue;
      try {
        await this.#addMissing(project);
      } catch (error) {
        if (isSuzumioError(error, 'schema-newer')) throw error;
        broken.push({ project, error: storeFault(project, this.directory.projectFile(project), error) });
      }
    }
    for (const project of known.keys())
      broken.push({ project, error: missingStore(project, this.directory.projectFile(project)) });
    return broken;
  }

  /** Whether the catalog says of a project what its own database does. */
  isNoted({ project, reader }: ProjectStore): boolean {
    return this.catalog.projects.says(project, readEntry(reader));
  }

  /** Updates a project's status and labels in the catalog from its own database. */
  async noteStatus(project: string): Promise<void> {
    await this.stores.use(project, (store) => this.catalog.projects.noteStatus(project, () => readEntry(store.reader)));
  }

  /**
   * Adds a project whose entry was lost, never written because the process was killed, or that was restored from a
   * copy.
   */
  async #addMissing(project: string): Promise<void> {
    const file = this.directory.projectFile(project);
    if (!projectId.safeParse(project).success || !existsSync(file)) return;
    const entry = await this.#entryOf(project, file);
    if (!entry) return discardDeleted(this, project);
    try {
      await this.catalog.projects.add(project, entry);
    } catch (error) {
      // Another process is deleting it.
      if (isSuzumioError(error, 'project-exists')) return;
      throw error;
    }
    await this.noteStatus(project);
  }

  /** A project's catalog entry, from its own database; undefined where it was deleted. */
  async #entryOf(project: string, file: string): Promise<NewEntry | undefined> {
    const store = ProjectStore.open(project, file, this.context, this.hooks);
    try {
      if (store.deleted) return undefined;
      const former = this.catalog.deletions.formerEpoch(project);
      const { epoch: found, standing_team } = projectRow(store.reader);
      // The name was given up, perhaps more than once: the project begins a new epoch under it.
      const epoch =
        found > former
          ? found
          : await store.write((tx) => beginEpoch(tx, { place: placeOf(file), after: former }).epoch);
      return {
        status: readStatus(store.reader).status,
        labels: readLabels(store.reader),
        epoch,
        ...(standing_team === null ? {} : { standing: { team: standing_team, instead: false } }),
      };
    } finally {
      await store.close();
    }
  }

  async close(): Promise<void> {
    await this.stores.close();
    await this.catalog.close();
  }
}

/** It parses and renders files, which takes long to load: a cell that is only read does without. */
const creation = () => import('./create-project.js');
