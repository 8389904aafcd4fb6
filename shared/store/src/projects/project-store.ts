import type { EventData, EventType } from '@suzumio/contract/model/event';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import { defaultStorageLimits, type StorageLimits } from '@suzumio/contract/model/storage';
import { ChargedContent } from '../content/charged-content.js';
import { Configs, type ConfigVersions } from '../sqlite/configs.js';
import type { StoreContext } from '../sqlite/context.js';
import { filePlace, placeOf, samePlace } from './file-place.js';
import { assertNotNewer, migrate, writeEmptyDatabase } from '../sqlite/migrate.js';
import { projectMigrations } from './migrations.js';
import { immediately, Sql, type SqlReader } from '../sqlite/sql.js';
import { empty, misplaced, unknownProject } from '../sqlite/store-fault.js';
import { Tx } from '../sqlite/tx.js';
import { deleteProject, isDeleted } from './delete-project.js';
import { beginEpoch, type EpochChange } from './begin-epoch.js';
import { type TransactionOutcome, Writer } from '../sqlite/writer.js';

/** A committed event. */
export type AppendedEvent = {
  [Type in EventType]: { seq: number; type: Type; agent: string | null; data: EventData[Type] };
}[EventType];

/** Callbacks into the process that has the store open. */
export interface ProjectStoreHooks {
  /** A project was made, with the events of its first transaction. */
  onCreated?: (project: string) => void;
  /** After a later commit, with the events that it appended, in order. */
  onEvents?: (project: string, events: readonly AppendedEvent[]) => void;
  /** After a transaction: its outcome and its duration in milliseconds, waiting included. */
  onTransaction?: (outcome: TransactionOutcome, durationMs: number) => void;
  /** Another callback threw after a transaction, whose outcome stands. @default the error ends the process */
  onHookFailed?: (project: string, error: unknown) => void;
  /** A database was written by a later version: this process cannot continue. */
  onOutdated?: (error: unknown) => void;
  /** A project restored from a copy has begun a new epoch. */
  onRestored?: (project: string, change: EpochChange) => void;
}

const newestSchema = projectMigrations.at(-1)?.version ?? 0;

/** One project's database: reads at any time, verbs through {@link write}. */
export class ProjectStore implements ConfigVersions {
  readonly storage: StorageLimits;
  /** Charges its files to their owners. */
  readonly content: ChargedContent;
  readonly #writer: Writer;
  readonly #sql: Sql;
  readonly #context: StoreContext;
  readonly #configs = new Configs();
  #tx: Tx | undefined;
  #beforeSeq = 0;
  #appended: readonly AppendedEvent[] = [];

  private constructor(
    readonly project: string,
    sql: Sql,
    context: StoreContext,
    hooks: ProjectStoreHooks,
  ) {
    const { onHookFailed } = hooks;
    this.#sql = sql;
    this.#context = context;
    this.storage = context.storage ?? defaultStorageLimits;
    this.content = new ChargedContent(sql, this.storage, context.disk, () => this.#run(() => undefined));
    this.#writer = new Writer(sql, {
      random: context.random,
      begin: () => {
        assertNotNewer(sql, newestSchema);
        this.#tx = new Tx(sql, context, this.#configs);
        this.content.write();
        this.#beforeSeq = hooks.onEvents ? this.#newestEvent() : 0;
      },
      // Before the commit, while no other process can append: each event is delivered once in the whole cell.
      finish: () => {
        this.#appended = hooks.onEvents ? this.#eventsAfter(this.#beforeSeq) : [];
      },
      committed: () => {
        this.#tx = undefined;
        this.content.written();
        if (this.#appended.length > 0) hooks.onEvents?.(project, this.#appended);
      },
      ...(hooks.onTransaction ? { observe: hooks.onTransaction } : {}),
      ...(onHookFailed ? { hookFailed: (error: unknown) => onHookFailed(project, error) } : {}),
    });
  }

  /**
   * Opens a project's database for reading and writing, and migrates its schema. A copy begins a new epoch before any
   * other request.
   *
   * @throws SuzumioError `schema-newer`; `store-corrupt` where no project is in it; `project-misplaced` where it is
   *   another project's
   */
  static open(project: string, file: string, context: StoreContext, hooks: ProjectStoreHooks = {}): ProjectStore {
    return opened(file, (sql) => {
      if (sql.userVersion === 0) throw empty(project, file);
      migrate(sql, projectMigrations);
      const store = new ProjectStore(project, sql, context, hooks);
      const change = store.#recognise();
      if (change) hooks.onRestored?.(project, change);
      return store;
    });
  }

  /**
   * Opens a project's database for reading. Nothing is written or migrated: it may have an earlier schema, and it may be a
   * copy. Verbs fail.
   *
   * @throws SuzumioError as {@link open}
   */
  static openForReading(project: string, file: string, context: StoreContext): ProjectStore {
    return opened(
      file,
      (sql) => {
        assertNotNewer(sql, newestSchema);
        const row = sql.userVersion === 0 ? undefined : sql.get<{ id: string }>('SELECT id FROM projects');
        if (!row) throw empty(project, file);
        if (row.id !== project) throw misplaced(project, row.id, file);
        return new ProjectStore(project, sql, context, {});
      },
      { readonly: true },
    );
  }

  /** Creates the database of a new project. */
  static create(project: string, file: string, context: StoreContext): ProjectStore {
    writeEmptyDatabase(file, projectMigrations);
    return opened(file, (sql) => new ProjectStore(project, sql, context, {}));
  }

  /** The newest version of the project's resolved file. */
  get config(): ProjectConfig {
    return this.#configs.newest(this.#sql);
  }

  configAt(version: number): ProjectConfig {
    return this.#configs.at(this.#sql, version);
  }

  /** Reads outside transactions see the last commit. */
  get reader(): SqlReader {
    return this.#sql;
  }

  /** Whether the project is deleted; its file may remain, and another project may have its name. */
  get deleted(): boolean {
    return isDeleted(this.#sql);
  }

  /** Several reads of one snapshot. */
  snapshot<Result>(read: (reader: SqlReader) => Result): Result {
    return this.#sql.handle.transaction(() => read(this.#sql)).deferred();
  }

  /**
   * Runs a verb: one transaction, answered after its commit.
   *
   * @throws what the verb throws; SuzumioError `project-unknown` once it was deleted; `store-busy`, `schema-newer`.
   */
  write<Result>(verb: (tx: Tx) => Result): Promise<Result> {
    return this.#run((tx) => {
      if (isDeleted(tx)) throw unknownProject(this.project);
      return verb(tx);
    });
  }

  /** Ends the project for good, if it has this epoch; a second call does nothing. */
  delete(epoch: number, actor: string): Promise<void> {
    return this.#run((tx) => deleteProject(tx, epoch, actor));
  }

  /** Waits for verbs that run, then closes the file. */
  async close(): Promise<void> {
    // Charges that are not written now are found by the next content collection.
    if (this.content.waits) await this.#run(() => undefined).catch(() => undefined);
    await this.#writer.idle();
    this.#sql.close();
  }

  /** Begins a new epoch where the file is not the one that the project was last opened in. */
  #recognise(): EpochChange | undefined {
    const row = this.#sql.get<{ id: string; place_json: string | null }>('SELECT id, place_json FROM projects');
    if (!row) throw empty(this.project, this.#sql.file);
    if (this.deleted) return undefined;
    if (row.id !== this.project) throw misplaced(this.project, row.id, this.#sql.file);
    const place = placeOf(this.#sql.file);
    const remembered = (json: string | null | undefined) => (json ? filePlace.parse(JSON.parse(json)) : undefined);
    const stored = remembered(row.place_json);
    if (stored && samePlace(stored, place)) return undefined;
    return immediately(this.#sql, () => {
      // Another process may have been first.
      const { place_json } = this.#sql.get<typeof row>('SELECT id, place_json FROM projects') ?? row;
      const last = remembered(place_json);
      const tx = new Tx(this.#sql, this.#context, this.#configs);
      if (last) return samePlace(last, place) ? undefined : beginEpoch(tx, { place });
      tx.run('UPDATE projects SET place_json = :place', { place: JSON.stringify(place) });
      return undefined;
    });
  }

  #run<Result>(verb: (tx: Tx) => Result): Promise<Result> {
    return this.#writer.write(() => {
      if (!this.#tx) throw new Error('a verb ran outside its transaction');
      return verb(this.#tx);
    });
  }

  #eventsAfter(seq: number): AppendedEvent[] {
    const rows = this.#sql.all<Omit<AppendedEvent, 'data'> & { data_json: string }>(
      'SELECT seq, type, agent_id AS agent, data_json FROM events WHERE seq > :seq ORDER BY seq',
      { seq },
    );
    return rows.map(
      ({ data_json, ...event }) => ({ ...event, data: JSON.parse(data_json) as unknown }) as AppendedEvent,
    );
  }

  #newestEvent(): number {
    return this.#sql.get<{ seq: number }>('SELECT coalesce(max(seq), 0) AS seq FROM events')?.seq ?? 0;
  }
}

/** Opens a database and closes it again if `use` fails. */
function opened<Result>(file: string, use: (sql: Sql) => Result, options: { readonly?: boolean } = {}): Result {
  const sql = Sql.open(file, options);
  try {
    return use(sql);
  } catch (error) {
    sql.close();
    throw error;
  }
}
