import { existsSync } from 'node:fs';
import { SuzumioError } from '../errors/suzumio-error.js';
import { busyTimeoutMs, type Sql } from './sql.js';

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
  if (sql.userVersion > 0) copyBefore(sql);
  sql.handle.pragma('busy_timeout = 5000');
  sql.handle
    .transaction(() => {
      for (const migration of migrations) {
        if (migration.version <= sql.userVersion) continue;
        sql.handle.exec(migration.sql);
        sql.handle.pragma(`user_version = ${String(migration.version)}`);
      }
    })
    .immediate();
  sql.handle.pragma(`busy_timeout = ${String(busyTimeoutMs)}`);
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

function copyBefore(sql: Sql): void {
  const copy = `${sql.file}.schema-${String(sql.userVersion)}.bak`;
  if (!existsSync(copy)) sql.handle.prepare('VACUUM INTO ?').run(copy);
}
