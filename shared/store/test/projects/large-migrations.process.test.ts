import { readdir, truncate } from 'node:fs/promises';
import { dirname } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { projectMigrations } from '@suzumio/store/projects/migrations';
import { type TestCell, teamYaml, testCell } from '../../../../test/support/cell.js';
import { holdDatabase, makeOld, manyMessages } from '../../../../test/support/old-project.js';

let testing: TestCell;
let file: string;
beforeEach(async () => {
  testing = await testCell();
  await testing.create(teamYaml.replace('name: team', 'name: other'));
  file = await makeOld(testing, await testing.create());
});
afterEach(() => testing.close());

const facts = `SELECT (SELECT user_version FROM pragma_user_version) AS version, (SELECT count(*) FROM messages) AS messages,
  (SELECT bytes >= 300 * ${String(manyMessages)} FROM stored_bytes WHERE owner = 'ada' AND kind = 'rows') AS charged`;
const newest = { version: projectMigrations.at(-1)?.version, messages: manyMessages, charged: 1 };
const rows = (wait: boolean) => testing.cell.stores.use('team', ({ reader }) => reader.all(facts), { wait });

describe('a large database of an earlier version', () => {
  test('is migrated while others are served; who asks for it waits, or is told to come again', async () => {
    const release = holdDatabase(file);
    const waiting = [rows(true), rows(true)];
    await expect(rows(false)).rejects.toMatchObject({ code: 'store-busy', retryable: true });
    expect(await testing.rows('other', 'SELECT id FROM projects')).toEqual([{ id: 'other' }]);
    await expect(rows(false)).rejects.toMatchObject({ code: 'store-busy', details: { file, migrating: true } });
    release();
    expect(await Promise.all(waiting)).toEqual([[newest], [newest]]);
    expect(await rows(false)).toEqual([newest]);
    const names = await readdir(dirname(file));
    expect(names.filter((name) => name.includes('.bak'))).toEqual(['project.db.schema-1.bak']);
  });

  test('that cannot be migrated is in nobody’s way, and says why to each who asks', async () => {
    await truncate(file, 5 * 1024 * 1024);
    await expect(rows(true)).rejects.toMatchObject({ code: 'store-corrupt' });
    await expect(rows(true)).rejects.toMatchObject({ code: 'store-corrupt' });
    expect(await testing.rows('other', 'SELECT id FROM projects')).toEqual([{ id: 'other' }]);
  });
});
