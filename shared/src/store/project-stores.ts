import { existsSync } from 'node:fs';
import { LRUCache } from 'lru-cache';
import { SuzumioError } from '../errors/suzumio-error.js';
import { projectId } from '../protocol/ids.js';
import type { StoreContext } from './context.js';
import type { DataDirectory } from './data-directory.js';
import { ProjectStore, type ProjectStoreHooks } from './project-store.js';

interface Entry {
  store: ProjectStore;
  users: number;
  evicted: boolean;
}

/**
 * The open databases of one process. They stay open while they are used now and then, because the last connection that
 * closes deletes the write-ahead log, and growing a new one is what makes a commit slow.
 */
export class ProjectStores {
  readonly #entries: LRUCache<string, Entry>;
  readonly #closing = new Set<Promise<void>>();

  constructor(
    readonly directory: DataDirectory,
    private readonly context: StoreContext,
    private readonly hooks: ProjectStoreHooks = {},
    /** Above what one host's cell runs: the sweep goes round all of them, and would close each before it comes again. */
    maxOpen = 2_048,
  ) {
    this.#entries = new LRUCache<string, Entry>({
      max: maxOpen,
      dispose: (entry) => {
        entry.evicted = true;
        if (entry.users === 0) this.#close(entry);
      },
    });
  }

  /**
   * Runs `body` with a project's store, which stays open at least until `body` is done.
   *
   * @throws SuzumioError `project-unknown`
   */
  async use<Result>(project: string, body: (store: ProjectStore) => Promise<Result> | Result): Promise<Result> {
    const entry = this.#entry(project);
    entry.users += 1;
    try {
      return await body(entry.store);
    } finally {
      entry.users -= 1;
      if (entry.users === 0 && entry.evicted) this.#close(entry);
    }
  }

  /** Closes a project's database here, for instance before its directory is removed. */
  forget(project: string): void {
    this.#entries.delete(project);
  }

  async close(): Promise<void> {
    this.#entries.clear();
    await Promise.all(this.#closing);
  }

  #entry(project: string): Entry {
    const open = this.#entries.get(project);
    if (open) return open;
    const file = this.directory.projectFile(project);
    if (!projectId.safeParse(project).success || !existsSync(file)) {
      throw new SuzumioError('project-unknown', `There is no project "${project}" in this data directory.`, {
        project,
      });
    }
    const entry = {
      store: ProjectStore.open(project, file, this.context, this.hooks),
      users: 0,
      evicted: false,
    };
    this.#entries.set(project, entry);
    return entry;
  }

  #close(entry: Entry): void {
    const closing = entry.store.close().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}
