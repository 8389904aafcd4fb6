import { existsSync } from 'node:fs';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { Labels } from '@suzumio/contract/model/labels';
import type { ProjectStatus } from '@suzumio/contract/model/project-status';
import { projectId } from '@suzumio/protocol/ids';
import { openCatalogFile } from './catalog.js';
import { DataDirectory } from './data-directory.js';
import { assertNotNewer, type Migration } from '../sqlite/migrate.js';
import { catalogMigrations } from './migrations.js';
import { projectMigrations } from '../projects/migrations.js';
import { Sql, type SqlReader } from '../sqlite/sql.js';
import { empty, misplaced, storeFault } from '../sqlite/store-fault.js';
import { isDeleted } from '../projects/delete-project.js';

/**
 * A read-only view of a data directory that no process serves: nothing is created, written or migrated.
 *
 * Each read opens its database and closes it again.
 */
export class ReadOnlyCell {
  readonly directory: DataDirectory;

  constructor(root: string) {
    this.directory = new DataDirectory(root);
  }

  /** Every project's id, oldest first; none where the directory does not exist. */
  projects(): string[] {
    return this.catalogued()
      .map(({ id }) => id)
      .filter((id) => existsSync(this.directory.projectFile(id)));
  }

  /** The catalog's entries, which may lag behind; none where the directory does not exist. */
  catalogued(): { id: string; status: ProjectStatus; labels: Labels }[] {
    const projects = this.readCatalog((reader) =>
      reader.all<{ id: string; status: ProjectStatus; labels_json: string }>(
        'SELECT id, status, labels_json FROM projects WHERE deleting_epoch IS NULL ORDER BY created_at_ms, id',
      ),
    );
    return (projects ?? []).map(({ id, status, labels_json }) => ({
      id,
      status,
      labels: JSON.parse(labels_json) as Labels,
    }));
  }

  /** Reads the catalog; undefined where the directory does not exist. */
  readCatalog<Result>(read: (reader: SqlReader) => Result): Result | undefined {
    if (!this.directory.exists()) return undefined;
    return reading(openCatalogFile(this.directory, { readonly: true }), catalogMigrations, read);
  }

  /**
   * Several reads of one snapshot.
   *
   * @throws SuzumioError `project-unknown`, `schema-newer`; `store-corrupt`, `store-unreadable`, `project-misplaced`
   */
  read<Result>(project: string, read: (reader: SqlReader) => Result): Result {
    const file = this.directory.projectFile(project);
    const unknown = () =>
      new SuzumioError('project-unknown', `There is no project "${project}" in ${this.directory.root}.`, { project });
    if (!projectId.safeParse(project).success || !existsSync(file)) throw unknown();
    try {
      return reading(Sql.open(file, { readonly: true }), projectMigrations, (sql) => {
        const row = sql.userVersion === 0 ? undefined : sql.get<{ id: string }>('SELECT id FROM projects');
        if (!row) throw empty(project, file);
        if (row.id !== project) throw misplaced(project, row.id, file);
        if (isDeleted(sql)) throw unknown();
        return read(sql);
      });
    } catch (error) {
      throw storeFault(project, file, error);
    }
  }
}

function reading<Result>(sql: Sql, migrations: readonly Migration[], read: (sql: Sql) => Result): Result {
  try {
    assertNotNewer(sql, migrations.at(-1)?.version ?? 0);
    return sql.handle.transaction(() => read(sql)).deferred();
  } finally {
    sql.close();
  }
}
