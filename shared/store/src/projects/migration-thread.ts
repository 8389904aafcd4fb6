import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '@suzumio/contract/errors/suzumio-error';
import { migrate } from '../sqlite/migrate.js';
import { projectMigrations } from './migrations.js';
import { isBusy, Sql } from '../sqlite/sql.js';

// The entry of the thread that LargeMigrations starts for a database.

/** Why a migration failed: the error, as far as it can be sent between threads. */
export interface MigrationFailure {
  message: string;
  code?: string;
}

parentPort?.postMessage(failureOf(String(workerData)) ?? null);

function failureOf(file: string): MigrationFailure | undefined {
  try {
    migrateWhenFree(file);
    return undefined;
  } catch (error) {
    const { code } = error as { code?: unknown };
    return { message: messageOf(error), ...(typeof code === 'string' ? { code } : {}) };
  }
}

/** Another process may be migrating it, for minutes: then this one waits and checks the result. */
function migrateWhenFree(file: string): void {
  const sql = Sql.open(file);
  try {
    for (;;) {
      try {
        migrate(sql, projectMigrations);
        return;
      } catch (error) {
        if (!isBusy(error)) throw error;
      }
    }
  } finally {
    sql.close();
  }
}
