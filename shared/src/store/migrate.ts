import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { SuzumioError } from '../errors/suzumio-error.js';
import { immediately, type Sql } from './sql.js';

/** One step of a schema. Steps are numbered from 1 and never change once released. */
export interface Migration {
  version: number;
  sql: string;
}

/**
 * Brings a database to the newest schema, one process at a time, after copying a file that holds something.
 *
 * @throws SuzumioError `schema-newer` when the file was written by a later version.
 */
export function migrate(sql: Sql, migrations: readonly Migration[]): void {
  const newest = migrations.at(-1)?.version ?? 0;
  if (sql.userVersion === newest) return;
  assertNotNewer(sql, newest);
  const made = sql.userVersion > 0;
  if (made) copyBefore(sql);
  immediately(sql, () => {
    for (const migration of migrations) {
      if (migration.version <= sql.userVersion) continue;
      sql.handle.exec(migration.sql);
      sql.handle.pragma(`user_version = ${String(migration.version)}`);
    }
  });
  if (made) removeUnfinished(sql);
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
 * Keeps the database as it was, under the number of its schema: whole, on the disk and under its name before anything of
 * it is changed. What an earlier try left under that name, whole or not, is of another moment, and is replaced.
 */
function copyBefore(sql: Sql): void {
  const version = sql.userVersion;
  const copy = `${sql.file}.schema-${String(version)}.bak`;
  const temporary = `${copy}.${randomBytes(6).toString('hex')}`;
  try {
    sql.handle.prepare('VACUUM INTO ?').run(temporary);
    syncPath(temporary);
    // Of what another process has made of it meanwhile it would be no copy.
    if (sql.userVersion !== version) return;
    renameSync(temporary, copy);
    syncPath(dirname(copy));
  } catch (error) {
    // That process removes what is unfinished, this copy as well.
    if (sql.userVersion === version) throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Removes unfinished copies: those of processes that were killed, and those that are of no use any more. */
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
