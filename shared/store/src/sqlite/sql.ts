import { statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { databaseMemory, scratchCacheKib } from './memory-limits.js';

/** A value that SQLite stores. */
export type SqlValue = string | number | bigint | Buffer | null;
export type SqlParams = Readonly<Record<string, SqlValue>>;

/** Reads from one database; each statement is prepared once. */
export interface SqlReader {
  /** The first row, typed by the caller: the column list in `sql` is the contract. */
  get<Row>(sql: string, params?: SqlParams): Row | undefined;
  all<Row>(sql: string, params?: SqlParams): Row[];
}

const openPatienceMs = 2_000;
const cacheKib = Math.floor(databaseMemory().cacheBytes / 1024);
const busyTimeoutMs = 50;

/** One open SQLite file. */
export class Sql implements SqlReader {
  readonly #statements = new Map<string, Database.Statement>();

  private constructor(
    readonly file: string,
    readonly handle: Database.Database,
  ) {}

  /**
   * Opens a database as the store needs it: write-ahead log, an answer or an error within 50 ms (waiting blocks the
   * whole process, so longer waits are asynchronous, in the writer), and a log that keeps its size, because growing it
   * is the largest single cost of a commit. Only the opening itself waits longer, for a process that is just making the
   * file or putting its log right after a crash.
   *
   * SQLite opens the database and its log by name, one after the other. If the file is replaced in between, it would
   * apply one database's log to another: opening fails instead.
   */
  static open(file: string, options: { readonly?: boolean; synchronous?: 'FULL' | 'NORMAL' } = {}): Sql {
    const before = fileIdentity(file);
    const handle = new Database(file, { readonly: options.readonly ?? false, timeout: openPatienceMs });
    try {
      if (!options.readonly) {
        patiently(() => handle.pragma('journal_mode = WAL'));
        handle.pragma(`synchronous = ${options.synchronous ?? 'FULL'}`);
        handle.pragma('journal_size_limit = -1');
      }
      handle.pragma(`cache_size = -${String(cacheKib)}`);
      handle.pragma('foreign_keys = ON');
      handle.pragma('user_version');
      handle.pragma(`busy_timeout = ${String(busyTimeoutMs)}`);
      if (before !== undefined && fileIdentity(file) !== before) throw new Error(`${file} was replaced meanwhile`);
    } catch (error) {
      handle.close();
      throw error;
    }
    return new Sql(file, handle);
  }

  /** Opens a database that is of no use after a crash, and may be given to one thread after the other. */
  static openScratch(file: string): Sql {
    const handle = new Database(file, { timeout: openPatienceMs });
    handle.pragma('journal_mode = OFF');
    handle.pragma('synchronous = OFF');
    handle.pragma(`cache_size = -${String(scratchCacheKib)}`);
    return new Sql(file, handle);
  }

  get userVersion(): number {
    return this.get<{ user_version: number }>('PRAGMA user_version')?.user_version ?? 0;
  }

  run(sql: string, params: SqlParams = {}): { changes: number; lastInsertRowid: number } {
    const result = this.#statement(sql).run(params);
    return { changes: result.changes, lastInsertRowid: Number(result.lastInsertRowid) };
  }

  get<Row>(sql: string, params: SqlParams = {}): Row | undefined {
    return this.#statement(sql).get(params) as Row | undefined;
  }

  all<Row>(sql: string, params: SqlParams = {}): Row[] {
    return this.#statement(sql).all(params) as Row[];
  }

  close(): void {
    this.#statements.clear();
    this.handle.close();
  }

  #statement(sql: string): Database.Statement {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.handle.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

/** Runs `body` in a transaction that waits for other writers: for the rare work of opening a file. */
export function immediately<Result>(sql: Sql, body: () => Result): Result {
  sql.handle.pragma('busy_timeout = 5000');
  try {
    return sql.handle.transaction(body).immediate();
  } finally {
    sql.handle.pragma(`busy_timeout = ${String(busyTimeoutMs)}`);
  }
}

/** The identity of the file at a path; undefined where there is none. */
export function fileIdentity(file: string): string | undefined {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat && `${stat.dev}:${stat.ino}`;
}

/** Whether SQLite refused because another connection is writing. */
export function isBusy(error: unknown): boolean {
  // By code, not by class: the class differs where the native library was loaded twice, as in test runners.
  return typeof error === 'object' && error !== null && 'code' in error && String(error.code).startsWith('SQLITE_BUSY');
}

/** Two processes may change a new file's journal mode at once: SQLite refuses one of them without waiting. */
function patiently(change: () => unknown): void {
  const deadline = performance.now() + openPatienceMs;
  for (;;) {
    try {
      change();
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}
