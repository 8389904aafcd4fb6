import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { immediately, Sql } from './sql.js';

/** One step of a schema. Steps are numbered from 1 and never change once released. */
export interface Migration {
  version: number;
  sql: string;
}

/**
 * Brings a database to the newest schema, one process at a time, after copying a file that has content. Readers see the
 * old state meanwhile.
 *
 * @throws SuzumioError `schema-newer` when the file was written by a later version.
 */
export function migrate(sql: Sql, migrations: readonly Migration[]): void {
  const newest = migrations.at(-1)?.version ?? 0;
  if (sql.userVersion === newest) return;
  assertNotNewer(sql, newest);
  const made = sql.userVersion > 0;
  immediately(sql, () => {
    // Another process may have been first.
    const found = sql.userVersion;
    assertNotNewer(sql, newest);
    if (found > 0 && found < newest) copyBefore(sql.file, found);
    for (const migration of migrations) {
      if (migration.version <= found) continue;
      sql.handle.exec(migration.sql);
      sql.handle.pragma(`user_version = ${String(migration.version)}`);
    }
  });
  if (made) removeUnfinished(sql);
}

const empty = new WeakMap<readonly Migration[], Buffer>();

/**
 * Writes a new database of the newest schema, without rows, to the disk. The steps take a while, in which nothing else
 * runs, and are made once in a process: every file is a copy of what they made.
 */
export function writeEmptyDatabase(file: string, migrations: readonly Migration[]): void {
  let image = empty.get(migrations);
  if (!image) {
    image = migrated(migrations);
    empty.set(migrations, image);
  }
  writeFileSync(file, image, { flag: 'wx', flush: true });
}

function migrated(migrations: readonly Migration[]): Buffer {
  const sql = Sql.open(':memory:');
  try {
    migrate(sql, migrations);
    return sql.handle.serialize();
  } finally {
    sql.close();
  }
}

/** @throws SuzumioError `schema-newer` */
export function assertNotNewer(sql: Sql, newest: number): void {
  const found = sql.userVersion;
  if (found <= newest) return;
  throw new SuzumioError(
    'schema-newer',
    `${sql.file} has schema ${String(found)}, and this version knows schemas up to ${String(newest)}. ` +
      'Run the version that wrote it, or a later one.',
    { file: sql.file, found, newest },
  );
}

/**
 * Copies the database to a file named for its schema version: complete, on the disk and under its name before anything
 * changes. A copy from an earlier try is replaced, as it is of another moment. The caller holds the write lock, so
 * nothing is written meanwhile.
 */
function copyBefore(file: string, version: number): void {
  const copy = `${file}.schema-${String(version)}.bak`;
  const temporary = `${copy}.${randomBytes(6).toString('hex')}`;
  // The connection with the lock is in a transaction, which cannot copy.
  const reader = Sql.open(file, { readonly: true });
  try {
    reader.handle.prepare('VACUUM INTO ?').run(temporary);
    syncPath(temporary);
    renameSync(temporary, copy);
    syncPath(dirname(copy));
  } finally {
    reader.close();
    rmSync(temporary, { force: true });
  }
}

/** Removes the unfinished copies of processes that were killed. */
function removeUnfinished(sql: Sql): void {
  const directory = dirname(sql.file);
  const prefix = `${basename(sql.file)}.schema-`;
  for (const name of readdirSync(directory)) {
    if (name.startsWith(prefix) && /^\d+\.bak\.[0-9a-f]{12}$/.test(name.slice(prefix.length))) {
      rmSync(join(directory, name), { force: true });
    }
  }
}

function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
