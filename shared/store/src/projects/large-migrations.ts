import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { type ErrorCode, errorCodes } from '@suzumio/contract/errors/codes';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { MigrationFailure } from './migration-thread.js';
import { projectMigrations } from './migrations.js';

/** Migrating a database up to this size takes less time than anybody notices. */
const smallBytes = 4 * 1024 * 1024;

/** The thread's compiled entry: beside this file, but where this one runs from its source. */
const threadEntry = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/projects/migration-thread.js' : './migration-thread.js',
  import.meta.url,
);

/** In the header of a database: where its `user_version` is. */
const versionAt = 60;

/**
 * Migrates large databases of an earlier version in a thread, one after the other, so that meanwhile everything else of the
 * process goes on: a gigabyte takes about half a minute.
 */
export class LargeMigrations {
  readonly #running = new Map<string, { end: Promise<void> }>();
  readonly #failed = new Map<string, unknown>();
  #last: Promise<unknown> = Promise.resolve();
  #thread: Worker | undefined;
  #closed = false;

  constructor(private readonly largerThan = smallBytes) {}

  /**
   * Sees to it that a database can be opened without delay: resolves when it was migrated, where it has to be.
   *
   * @throws what kept it from being migrated; the next call tries again
   */
  async done(file: string): Promise<void> {
    await this.#begun(file)?.end;
    this.#failed.delete(file);
  }

  /**
   * The same without waiting.
   *
   * @throws SuzumioError `store-busy` while it is being migrated; then, once, what kept it from being migrated
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

  /** What is resolved when a database was migrated; undefined where that is not needed. */
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

/** Whether a project cannot be used just now because it is being migrated. */
export function isMigrating(error: unknown): boolean {
  return error instanceof SuzumioError && error.code === 'store-busy' && error.details['migrating'] === true;
}

/**
 * Size and schema of a database, without opening it. A newer schema may be in its write-ahead log alone: then there is
 * nothing to migrate, which is found out soon.
 */
function headerOf(file: string): { bytes: number; version: number } | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, 'r');
    const version = Buffer.alloc(4);
    readSync(descriptor, version, 0, 4, versionAt);
    return { bytes: fstatSync(descriptor).size, version: version.readUInt32BE() };
  } catch {
    // Whoever opens it says what is wrong with it.
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
