import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { isPushed, sharedPacks } from '@suzumio/store/content/shared-repository';
import { projectMigrations } from '@suzumio/store/projects/migrations';
import { migrate } from '@suzumio/store/sqlite/migrate';
import { Sql } from '@suzumio/store/sqlite/sql';

let directory: string;
let sql: Sql;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'suzumio-packs-'));
  sql = Sql.open(join(directory, 'project.db'));
});
afterEach(() => {
  sql.close();
  rmSync(directory, { recursive: true, force: true });
});

test('the packs of a project of an earlier version are listed as before, each with the push that has brought it', () => {
  const before = projectMigrations.findIndex((migration) => migration.sql.includes('CREATE TABLE git_packs'));
  sql.handle.pragma('foreign_keys = OFF');
  migrate(sql, projectMigrations.slice(0, before));
  for (const [index, pack] of ['a', null, 'b', 'a', 'c', 'b'].entries()) {
    sql.run(
      `INSERT INTO git_pushes (agent_id, turn_id, attempt, key, pack, pack_bytes, pack_objects, updates_json, created_at_ms)
       VALUES ('ada', 'turn_1', 1, :key, :pack, 100, 3, '[]', 0)`,
      { key: `push-${String(index)}`, pack },
    );
  }
  migrate(sql, projectMigrations);
  const pack = (push: number, sha256: string) => ({ push, sha256, sizeBytes: 100, objects: 3 });
  expect(sharedPacks(sql, 0, 10)).toEqual([pack(1, 'a'), pack(3, 'b'), pack(5, 'c')]);
  expect(sharedPacks(sql, 1, 1)).toEqual([pack(3, 'b')]);
  expect(sharedPacks(sql, 5, 10)).toEqual([]);
  expect(sql.all('SELECT DISTINCT actor, agent_id FROM git_pushes')).toEqual([{ actor: 'ada', agent_id: 'ada' }]);
  expect(['a', 'b', 'c', 'd'].map((pack) => isPushed(sql, pack))).toEqual([true, true, true, false]);
});
