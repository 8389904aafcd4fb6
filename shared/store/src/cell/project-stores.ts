import { LRUCache } from 'lru-cache';
import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { projectId } from '@suzumio/protocol/ids';
import type { StoreContext } from '../sqlite/context.js';
import type { DataDirectory } from './data-directory.js';
import type { ProjectIndex } from './project-index.js';
import type { PendingDeletion } from './project-deletions.js';
import { LargeMigrations } from '../projects/large-migrations.js';
import { databaseMemory } from '../sqlite/memory-limits.js';
import { ProjectStore, type ProjectStoreHooks } from '../projects/project-store.js';
import { missingStore, storeFault, unknownProject } from '../sqlite/store-fault.js';
import { fileIdentity } from '../sqlite/sql.js';

interface Entry {
  store: ProjectStore;
  /** The identity of its file. */
  file: string | undefined;
  users: number;
  /** When it was last used, by a monotonic clock. */
  usedAtMs: number;
  evicted: boolean;
}

/** How often databases of deleted and idle projects are closed. */
const letGoMs = 60_000;

/** A database unused for this long is closed. */
const idleMs = 5 * 60_000;

/**
 * The open databases of one process. They stay open between uses, because the last connection to close deletes the
 * write-ahead log, and growing a new one is what makes a commit slow.
 *
 * Another process may delete a project and create another of its name. The deleted database records that before its
 * file is moved away, and an open connection still sees it; so each use checks there, and nothing is ever written to a
 * file that has lost its place.
 */
export class ProjectStores {
  readonly #entries: LRUCache<string, Entry>;
  readonly #closing = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;
  readonly #migrations = new LargeMigrations();

  constructor(
    readonly directory: DataDirectory,
    private readonly context: StoreContext,
    private readonly hooks: ProjectStoreHooks = {},
    maxOpen = databaseMemory().maxOpen,
    /** A directory without an entry is not open to anyone yet; an entry without a database is a fault. */
    private readonly catalog: Pick<ProjectIndex, 'knows' | 'lists'> = { knows: () => true, lists: () => false },
    /** Whether databases are only looked at. */
    private readonly readOnly = false,
  ) {
    this.#entries = new LRUCache<string, Entry>({
      max: maxOpen,
      dispose: (entry) => {
        entry.evicted = true;
        if (entry.users === 0) this.#close(entry);
      },
    });
    this.#timer = setInterval(() => {
      this.forgetDeleted();
      this.forgetIdle();
    }, letGoMs).unref();
  }

  /**
   * Runs `body` with a project's store, which stays open at least until `body` is done.
   *
   * @param wait whether to wait for a large database of an earlier version, until it has been migrated
   * @throws SuzumioError `project-unknown`; `store-corrupt`, `store-missing`, `store-unreadable`, `project-misplaced`, `schema-newer` where
   *   something is wrong with its file; `store-busy` where it is not waited for
   */
  async use<Result>(
    project: string,
    body: (store: ProjectStore) => Promise<Result> | Result,
    { wait = true }: { wait?: boolean } = {},
  ): Promise<Result> {
    try {
      await this.#migrated(project, wait);
      const entry = this.#current(project);
      if (!entry) throw unknownProject(project);
      return await this.#used(entry, body);
    } catch (error) {
      throw this.#told(project, error);
    }
  }

  /** Ends a project for good, if that was not done yet; without a file there is nothing to end. */
  async delete({ project, epoch }: PendingDeletion, actor: string): Promise<void> {
    try {
      await this.#migrated(project, true);
      const entry = this.#current(project);
      if (entry) await this.#used(entry, (store) => store.delete(epoch, actor));
    } catch (error) {
      throw this.#told(project, error);
    }
  }

  /** Closes a project's database in this process, for instance before its directory is removed. */
  forget(project: string): void {
    this.#entries.delete(project);
  }

  /** Closes the databases of deleted projects, so that their files free their space. */
  forgetDeleted(): void {
    for (const [project, { store }] of [...this.#entries.entries()]) {
      if (isGone(store)) this.forget(project);
    }
  }

  /** Closes the databases unused for `unusedMs`. The next use opens them again. */
  forgetIdle(unusedMs = idleMs): void {
    const nowMs = performance.now();
    for (const [project, { users, usedAtMs }] of [...this.#entries.entries()]) {
      if (users === 0 && nowMs - usedAtMs >= unusedMs) this.forget(project);
    }
  }

  /** How many databases are open. */
  get open(): number {
    return this.#entries.size;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#migrations.close();
    this.#entries.clear();
    await Promise.all(this.#closing);
  }

  async #used<Result>(entry: Entry, body: (store: ProjectStore) => Promise<Result> | Result): Promise<Result> {
    entry.users += 1;
    try {
      return await body(entry.store);
    } catch (error) {
      // Its files were removed during the use: the error follows from that.
      if (isSuzumioError(error) || !isGone(entry.store)) throw error;
      throw unknownProject(entry.store.project);
    } finally {
      entry.users -= 1;
      entry.usedAtMs = performance.now();
      if (entry.users === 0 && entry.evicted) this.#close(entry);
    }
  }

  /** Waits until the database has this version's schema; an open one has. */
  async #migrated(project: string, wait: boolean): Promise<void> {
    if (this.readOnly || this.#entries.has(project) || !projectId.safeParse(project).success) return;
    const file = this.directory.projectFile(project);
    if (wait) await this.#migrations.done(file);
    else this.#migrations.requireDone(file);
  }

  /** The live project of this name. */
  #current(project: string): Entry | undefined {
    const known = this.#entries.get(project);
    if (known && !known.store.deleted && fileIdentity(this.directory.projectFile(project)) === known.file) return known;
    this.forget(project);
    const store = projectId.safeParse(project).success ? this.#open(project) : undefined;
    if (!store) return undefined;
    const entry = {
      store,
      file: fileIdentity(this.directory.projectFile(project)),
      users: 0,
      usedAtMs: performance.now(),
      evicted: false,
    };
    this.#entries.set(project, entry);
    if (!store.deleted) return entry;
    this.forget(project);
    return undefined;
  }

  #open(project: string): ProjectStore | undefined {
    const file = this.directory.projectFile(project);
    for (;;) {
      const there = fileIdentity(file);
      if (there === undefined && this.catalog.lists(project) && fileIdentity(file) === undefined)
        throw missingStore(project, file);
      if (there === undefined || !this.catalog.knows(project)) return undefined;
      try {
        if (this.readOnly) return ProjectStore.openForReading(project, file, this.context);
        return ProjectStore.open(project, file, this.context, this.hooks);
      } catch (error) {
        // The file was moved away meanwhile, and another may have its name.
        if (fileIdentity(file) === there) throw error;
      }
    }
  }

  #told(project: string, error: unknown): unknown {
    const fault = storeFault(project, this.directory.projectFile(project), error);
    if (isSuzumioError(fault, 'schema-newer')) this.hooks.onOutdated?.(fault);
    return fault;
  }

  #close(entry: Entry): void {
    const closing = entry.store.close().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}

/** A database that cannot be read counts as present: its next user gets the error. */
function isGone(store: ProjectStore): boolean {
  try {
    return store.deleted;
  } catch {
    return false;
  }
}
