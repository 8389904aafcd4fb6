import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { type ErrorCode, errorCodes } from '@suzumio/contract/errors/codes';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { MigrationFailure } from './migration-thread.js';
import { projectMigrations } from './migrations.js';

/** Databases up to this size migrate in a negligible time. */
const smallBytes = 4 * 1024 * 1024;

/** The compiled entry of the thread: beside this file, unless this one runs from source. */
const threadEntry = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/projects/migration-thread.js' : './migration-thread.js',
  import.meta.url,
);

/** Offset of `user_version` in a database's header. */
const versionAt = 60;

/**
 * Migrates large databases of an earlier version in a thread, one at a time, so that the process keeps serving: a
 * gigabyte takes about half a minute.
 */
export class LargeMigrations {
  readonly #running = new Map<string, { end: Promise<void> }>();
  readonly #failed = new Map<string, unknown>();
  #last: Promise<unknown> = Promise.resolve();
  #thread: Worker | undefined;
  #closed = false;

  constructor(private readonly largerThan = smallBytes) {}

  /**
   * Resolves once a database can be opened without delay: after its migration, if it needs one.
   *
   * @throws the error that stopped the migration; the next call tries again
   */
  async done(file: string): Promise<void> {
    await this.#begun(file)?.end;
    this.#failed.delete(file);
  }

  /**
   * The same without waiting.
   *
   * @throws SuzumioError `store-busy` during the migration; then, once, the error that stopped it
   */
  requireDone(file: string): void {
    if (this.#failed.has(file)) {
      const error = this.#failed.get(file);
      this.#failed.delete(file);
      throw error;
    }
    if (!this.#begun(file)) return;
    throw new SuzumioError(
      'store-busy',
      `${file} is being brought to the schema of this version, which takes a while for so large a database; try again.`,
      { file, migrating: true },
    );
  }

  close(): void {
    this.#closed = true;
    this.#thread?.terminate().catch(() => undefined);
  }

  /** The migration of a database; undefined where it needs none. */
  #begun(file: string): { end: Promise<void> } | undefined {
    const running = this.#running.get(file);
    if (running || !this.#isDue(file)) return running;
    const end = this.#last.then(() => this.#migrate(file)).finally(() => this.#running.delete(file));
    this.#last = end.catch((error: unknown) => this.#failed.set(file, error));
    const begun = { end };
    this.#running.set(file, begun);
    return begun;
  }

  #isDue(file: string): boolean {
    const facts = headerOf(file);
    if (!facts || facts.bytes <= this.largerThan) return false;
    return facts.version > 0 && facts.version < (projectMigrations.at(-1)?.version ?? 0);
  }

  #migrate(file: string): Promise<void> {
    if (this.#closed) return Promise.reject(stopping(file));
    return new Promise((resolve, reject) => {
      const thread = new Worker(threadEntry, { workerData: file });
      this.#thread = thread;
      thread.unref();
      thread.on('message', (failure: MigrationFailure | null) => {
        if (failure) reject(errorOf(failure));
        else resolve();
      });
      thread.on('error', reject);
      thread.on('exit', () => reject(stopping(file)));
    });
  }
}

/** Whether an error says that a project is being migrated. */
export function isMigrating(error: unknown): boolean {
  return error instanceof SuzumioError && error.code === 'store-busy' && error.details['migrating'] === true;
}

/**
 * Size and schema version of a database, without opening it. A newer version may be in its write-ahead log alone: then
 * the migration finds nothing to do.
 */
function headerOf(file: string): { bytes: number; version: number } | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, 'r');
    const version = Buffer.alloc(4);
    readSync(descriptor, version, 0, 4, versionAt);
    return { bytes: fstatSync(descriptor).size, version: version.readUInt32BE() };
  } catch {
    // Opening it reports what is wrong.
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function errorOf({ message, code }: MigrationFailure): Error {
  if (code !== undefined && code in errorCodes) return new SuzumioError(code as ErrorCode, message);
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}

function stopping(file: string): SuzumioError {
  return new SuzumioError('store-busy', `${file} was not migrated to its end; try again.`, { file, migrating: true });
}
