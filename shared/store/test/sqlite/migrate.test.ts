import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { migrate, type Migration, writeEmptyDatabase } from '@suzumio/store/sqlite/migrate';
import { catalogMigrations } from '@suzumio/store/cell/migrations';
import { projectMigrations } from '@suzumio/store/projects/migrations';
import { Sql } from '@suzumio/store/sqlite/sql';

const first: Migration = { version: 1, sql: 'CREATE TABLE notes (text TEXT) STRICT;' };
const second: Migration = { version: 2, sql: `ALTER TABLE notes ADD COLUMN tag TEXT; UPDATE notes SET tag = 'old';` };

let directory: string;
let file: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'suzumio-migrate-'));
  file = join(directory, 'test.db');
});
afterEach(() => rm(directory, { recursive: true, force: true }));

function withSql<Result>(body: (sql: Sql) => Result, name = file): Result {
  const sql = Sql.open(name);
  try {
    return body(sql);
  } finally {
    sql.close();
  }
}
const copies = async () => (await readdir(directory)).filter((name) => name.endsWith('.bak'));

describe('a schema', () => {
  test('is brought to its newest version from nothing, without a copy of nothing', async () => {
    withSql((sql) => {
      migrate(sql, [first, second]);
      expect(sql.userVersion).toBe(2);
      expect(sql.all('SELECT text, tag FROM notes')).toEqual([]);
    });
    expect(await copies()).toEqual([]);
  });

  test('is the same in a new file, which is written as a whole', () => {
    const schema = (sql: Sql) => [sql.userVersion, sql.all('SELECT type, name, sql FROM sqlite_schema ORDER BY name')];
    const migrated = withSql((sql) => (migrate(sql, projectMigrations), schema(sql)));
    for (const name of ['once.db', 'twice.db'].map((name) => join(directory, name))) {
      writeEmptyDatabase(name, projectMigrations);
      expect(withSql((sql) => schema(sql), name)).toEqual(migrated);
      expect(() => writeEmptyDatabase(name, projectMigrations)).toThrow(expect.objectContaining({ code: 'EEXIST' }));
    }
  });

  test('is migrated step by step, after a copy of what was there', async () => {
    withSql((sql) => {
      migrate(sql, [first]);
      sql.run(`INSERT INTO notes VALUES ('kept')`);
    });
    withSql((sql) => {
      migrate(sql, [first, second]);
      expect(sql.all('SELECT text, tag FROM notes')).toEqual([{ text: 'kept', tag: 'old' }]);
      migrate(sql, [first, second]);
    });
    expect(await copies()).toEqual(['test.db.schema-1.bak']);
    withSql(
      (sql) => {
        expect(sql.userVersion).toBe(1);
        expect(sql.all('SELECT * FROM notes')).toEqual([{ text: 'kept' }]);
      },
      join(directory, 'test.db.schema-1.bak'),
    );
  });

  test('has its copy whole, whatever a process that was killed left under its name', async () => {
    withSql((sql) => {
      migrate(sql, [first]);
      sql.run(`INSERT INTO notes VALUES ('kept')`);
    });
    const copy = `${file}.schema-1.bak`;
    await writeFile(copy, 'SQLite format 3\0');
    await writeFile(`${copy}.0123456789ab`, 'SQLite format 3\0');
    await writeFile(`${file}.schema-1.bak.of-mine`, 'kept');
    withSql((sql) => migrate(sql, [first, second]));
    withSql((sql) => expect(sql.all('SELECT * FROM notes')).toEqual([{ text: 'kept' }]), copy);
    expect((await readdir(directory)).filter((name) => name.includes('.bak')).sort()).toEqual([
      'test.db.schema-1.bak',
      'test.db.schema-1.bak.of-mine',
    ]);
  });

  test('whose copy cannot be written is not migrated, and leaves none behind', async () => {
    withSql((sql) => {
      migrate(sql, [first]);
    });
    // A directory in the copy's place: what is copied cannot be given its name.
    await mkdir(`${file}.schema-1.bak`);
    withSql((sql) => {
      expect(() => migrate(sql, [first, second])).toThrow(expect.objectContaining({ code: 'EISDIR' }));
      expect(sql.userVersion).toBe(1);
    });
    expect((await readdir(directory)).filter((name) => name.includes('.bak.'))).toEqual([]);
  });

  test('a step that fails leaves the version before it', () => {
    withSql((sql) => {
      migrate(sql, [first]);
      const broken: Migration = { version: 2, sql: 'CREATE TABLE more (n INTEGER) STRICT; SELECT nonsense;' };
      expect(() => migrate(sql, [first, broken])).toThrow('nonsense');
      expect(sql.userVersion).toBe(1);
      expect(sql.all(`SELECT name FROM sqlite_master WHERE name = 'more'`)).toEqual([]);
      migrate(sql, [first, second]);
      expect(sql.userVersion).toBe(2);
    });
  });

  test('of a later version is left alone', () => {
    withSql((sql) => {
      migrate(sql, [first, second]);
      expect(() => migrate(sql, [first])).toThrow(
        expect.objectContaining({ code: 'schema-newer', details: { file, found: 2, newest: 1 } }),
      );
      expect(sql.userVersion).toBe(2);
    });
  });

  test('that another process has just migrated is not migrated again', () => {
    withSql((mine) => {
      migrate(mine, [first]);
      withSql((theirs) => migrate(theirs, [first, second]));
      migrate(mine, [first, second]);
      expect(mine.userVersion).toBe(2);
    });
  });

  test.each([
    ['catalog', catalogMigrations],
    ['project', projectMigrations],
  ])('the steps of the %s are numbered from 1 without a gap', (_name, migrations) => {
    expect(migrations.map(({ version }) => version)).toEqual(migrations.map((_, index) => index + 1));
  });
});
