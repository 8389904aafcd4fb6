import { cp, mkdir, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Sql } from '@suzumio/store/sqlite/sql';
import { postMessage } from '@suzumio/store/mail/post-message';
import { type TestCell, testCell } from '../../../../test/support/cell.js';
import { eventually } from '../../../../test/support/poll.js';

let testing: TestCell;
const outdated: unknown[] = [];
beforeEach(async () => {
  outdated.length = 0;
  testing = await testCell({ hooks: { onOutdated: (error) => outdated.push(error) } });
});
afterEach(() => testing.close());

const other = `name: other\ntask: Go on.\nbackend: { runner: { mode: mock } }\nagents: { ann: { role: r, prompt: p, tools: [] } }`;
const fileOf = (project: string) => testing.cell.directory.projectFile(project);
const mailTo = (project: string, recipient: string) =>
  testing.write(project, (tx) =>
    postMessage(tx, { sender: 'user', recipient, priority: 'P1', body: 'Go.', actor: 'test' }),
  );

/** What may have become of a database. */
const damages: [what: string, code: string, damage: (file: string) => Promise<void>][] = [
  [
    'that is no database',
    'store-corrupt',
    (file) => writeFile(file, 'not a database at all, and longer than a header '.repeat(20)),
  ],
  ['that is cut off', 'store-corrupt', (file) => truncate(file, 5_000)],
  ['that is empty', 'store-corrupt', (file) => truncate(file, 0)],
  ['that is a directory', 'store-unreadable', (file) => rm(file, { force: true }).then(() => mkdir(file))],
];

describe('a database', () => {
  test.each(damages)('%s is told as %s, and other projects go on', async (_what, code, damage) => {
    await testing.create();
    await testing.create(other);
    await testing.cell.close();
    await damage(fileOf('team'));
    await testing.restart();
    expect(await testing.cell.recover()).toEqual([]);
    const refused = mailTo('team', 'ada');
    await expect(refused).rejects.toMatchObject({ code, details: { project: 'team', file: fileOf('team') } });
    await expect(refused).rejects.toThrow(/backup|chown|move its directory/);
    expect(await mailTo('other', 'ann')).toMatchObject({ seq: 1 });
  });

  test.each(damages)(
    '%s and is in no catalog is told when the cell is put right, as %s',
    async (_what, code, damage) => {
      await testing.create(other);
      const file = fileOf('stray');
      await mkdir(join(file, '..'), { recursive: true });
      await cp(fileOf('other'), file);
      await damage(file);
      await testing.cell.catalog.projects.remove('other');
      const broken = await testing.cell.recover();
      expect(broken).toMatchObject([{ project: 'stray', error: { code } }]);
      // The one beside it that the catalog lacks, too, is added all the same.
      expect(testing.cell.catalog.projects.all().map(({ id }) => id)).toEqual(['other']);
    },
  );

  test('that is gone while it is open, or before a start, is told as store-missing until its project is deleted', async () => {
    await testing.create();
    await testing.create(other);
    await mailTo('team', 'ada');
    await rm(join(fileOf('team'), '..'), { recursive: true });
    const missing = { code: 'store-missing', details: { project: 'team', file: fileOf('team') } };
    await expect(mailTo('team', 'ada')).rejects.toMatchObject(missing);
    await testing.restart();
    expect(await testing.cell.recover()).toMatchObject([{ project: 'team', error: missing }]);
    await expect(mailTo('team', 'ada')).rejects.toThrow(/restore its directory from a backup, or delete the project/);
    expect(await mailTo('other', 'ann')).toMatchObject({ seq: 1 });
    await testing.cell.deleteProject('team', { actor: 'test' });
    expect(testing.cell.catalog.projects.all().map(({ id }) => id)).toEqual(['other']);
    await expect(mailTo('team', 'ada')).rejects.toMatchObject({ code: 'project-unknown' });
  });

  test('whose project is being deleted keeps no other deletion from its end', async () => {
    await testing.create();
    await testing.create(other);
    for (const project of ['team', 'other']) await testing.cell.catalog.deletions.announce(project, 1);
    await testing.cell.close();
    await writeFile(fileOf('team'), 'no database '.repeat(100));
    await testing.restart();
    expect(await testing.cell.recover()).toMatchObject([{ project: 'team', error: { code: 'store-corrupt' } }]);
    expect(testing.cell.catalog.deletions.pending().map(({ project }) => project)).toEqual(['team']);
  });
});

describe('a schema that only a later version knows', () => {
  const newer = (file: string) => {
    const sql = Sql.open(file);
    sql.handle.pragma('user_version = 4711');
    sql.close();
  };
  const told = expect.objectContaining({ code: 'schema-newer' }) as unknown;

  test('of a project ends the process that opens it', async () => {
    await testing.create();
    await testing.restart();
    newer(fileOf('team'));
    await expect(mailTo('team', 'ada')).rejects.toMatchObject({ code: 'schema-newer' });
    expect(outdated).toEqual([told]);
  });

  test('of a project that is open ends the process that writes to it', async () => {
    await testing.create();
    newer(fileOf('team'));
    await expect(mailTo('team', 'ada')).rejects.toMatchObject({ code: 'schema-newer' });
    expect(outdated).toEqual([told]);
  });

  test('of the catalog ends every process within a moment, whatever it does', async () => {
    const leave = await testing.cell.catalog.processes.enlist({ service: 'toolhost', cell: 'c', transport: 't' });
    newer(testing.cell.directory.catalogFile);
    await eventually('the process is told', () => outdated.length > 0);
    expect(outdated[0]).toEqual(told);
    await expect(leave()).rejects.toMatchObject({ code: 'schema-newer' });
  });
});
