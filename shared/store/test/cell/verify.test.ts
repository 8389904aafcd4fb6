import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ContentStore } from '@suzumio/store/content/content-store';
import { ReadOnlyCell } from '@suzumio/store/cell/read-only-cell';
import { verifyCatalogue, verifyProject } from '@suzumio/store/cell/verify';
import { publishArtifact } from '@suzumio/store/content/publish-artifact';
import { type TestCell, testCell } from '../../../../test/support/cell.js';

let testing: TestCell;
let cell: ReadOnlyCell;
let content: ContentStore;
let hash: string;
beforeEach(async () => {
  testing = await testCell();
  await testing.create();
  cell = new ReadOnlyCell(testing.root);
  content = new ContentStore(cell.directory.projectDir('team'));
  hash = await content.putBytes(Buffer.from('a,b\n1,2\n'));
  const artifact = { name: 'levels.csv', path: content.pathOf(hash), sha256: hash, sizeBytes: 8 };
  await testing.write('team', (tx) => publishArtifact(tx, { creator: 'user', ...artifact }));
});
afterEach(() => testing.close());

const flaws = async () => (await verifyProject(cell, 'team')).flaws.map(({ what, detail }) => `${what}: ${detail}`);
const fileOf = (sha256: string) => join(cell.directory.projectDir('team'), content.pathOf(sha256));

/** A workspace of ada's with one file. */
async function snapshot(): Promise<{ manifest: string; file: string }> {
  const file = await content.putBytes(Buffer.from('notes'));
  const entry = { kind: 'file', path: 'notes.md', sha256: file, sizeBytes: 5, executable: false };
  const manifest = await content.putBytes(Buffer.from(JSON.stringify({ version: 1, entries: [entry] })));
  await testing.write('team', (tx) =>
    tx.run('UPDATE agents SET snapshot = :manifest WHERE id = :id', { manifest, id: 'ada' }),
  );
  return { manifest, file };
}

describe('what is stored of a project', () => {
  test('is whole when nothing was done to it', async () => {
    await snapshot();
    expect(await verifyProject(cell, 'team')).toEqual({
      project: 'team',
      contents: 3,
      contentBytes: expect.any(Number),
      flaws: [],
    });
    expect(await verifyCatalogue(cell)).toEqual([]);
  });

  test('is not whole without a file, or with another in its place', async () => {
    await writeFile(fileOf(hash), 'a,b\n9,9\n');
    const changed = createHash('sha256').update('a,b\n9,9\n').digest('hex');
    expect(await flaws()).toEqual([
      expect.stringMatching(new RegExp(`^artifact levels\\.csv .*: .* was changed: its SHA-256 is now ${changed}\\.$`)),
    ]);
    await rm(fileOf(hash));
    expect(await flaws()).toEqual([expect.stringMatching(/^artifact levels\.csv .* is missing\.$/)]);
  });

  test('is not whole without a file of a workspace, or the list of them', async () => {
    const { manifest, file } = await snapshot();
    await rm(fileOf(file));
    expect(await flaws()).toEqual([expect.stringMatching(/^workspace of ada, notes\.md: .* is missing\.$/)]);
    await rm(fileOf(manifest));
    expect(await flaws()).toEqual([expect.stringMatching(/^workspace of ada: .* is missing\.$/)]);
  });

  test('is not whole without a file or a directory of a workspace that has a manifest for each', async () => {
    const file = await content.putBytes(Buffer.from('notes'));
    const entry = { kind: 'file', name: 'notes.md', sha256: file, sizeBytes: 5, executable: false };
    const inner = await content.putBytes(Buffer.from(JSON.stringify({ version: 2, entries: [entry] })));
    const directory = { kind: 'directory', name: 'docs', sha256: inner };
    const root = await content.putBytes(Buffer.from(JSON.stringify({ version: 2, entries: [directory] })));
    await testing.write('team', (tx) => tx.run(`UPDATE agents SET snapshot = :root WHERE id = 'ada'`, { root }));
    expect(await verifyProject(cell, 'team')).toMatchObject({ contents: 4, flaws: [] });
    await rm(fileOf(file));
    expect(await flaws()).toEqual([expect.stringMatching(/^workspace of ada, docs\/notes\.md: .* is missing\.$/)]);
    await writeFile(fileOf(inner), '{"version":2,"entries":[]}');
    expect(await flaws()).toEqual([expect.stringMatching(/^workspace of ada: .* was changed/)]);
    await rm(fileOf(inner));
    expect(await flaws()).toEqual([expect.stringMatching(/^workspace of ada: .* is missing\.$/)]);
    await writeFile(fileOf(root), 'not a list');
    const lost = await content.putBytes(Buffer.from('not a list either'));
    await testing.write('team', (tx) => tx.run(`UPDATE agents SET snapshot = :lost WHERE id = 'ada'`, { lost }));
    expect(await flaws()).toEqual(['workspace of ada: Its list of files cannot be read.']);
  });

  test('is not whole without a file of a published directory', async () => {
    const { manifest, file } = await snapshot();
    const directory = { name: 'site', path: content.pathOf(manifest), sha256: manifest, sizeBytes: 5 };
    await testing.write('team', (tx) => {
      tx.run('UPDATE agents SET snapshot = NULL');
      publishArtifact(tx, { creator: 'user', ...directory, directory: { files: 1, contents: [file] } });
    });
    expect(await flaws()).toEqual([]);
    await rm(fileOf(file));
    expect(await flaws()).toEqual([expect.stringMatching(/^artifact site \(art_\w+\), notes\.md: .* is missing\.$/)]);
  });

  test('is not whole where the database contradicts itself', async () => {
    await testing.write('team', (tx) => tx.run(`UPDATE agents SET failure_json = '{}' WHERE id = 'ben'`));
    expect(await flaws()).toEqual([
      'project.db: It breaks the rule that a failed agent says why, and no other does: 1 row, ben.',
    ]);
  });

  test('is not whole where the database is none', async () => {
    await testing.cell.stores.use('team', () => undefined);
    testing.cell.stores.forget('team');
    const file = cell.directory.projectFile('team');
    for (const end of ['-wal', '-shm']) await rm(`${file}${end}`, { force: true });
    await writeFile(file, 'not a database, however one looks at it');
    expect(await flaws()).toEqual([expect.stringMatching(/^project\.db: store-corrupt: .*not a database/)]);
  });

  test('is not whole where the catalog says something else, other than that it runs', async () => {
    await testing.cell.catalog.projects.noteStatus('team', () => ({ status: 'stopped', settled: true }));
    expect(await flaws()).toEqual([
      'catalog.db: It says that team is stopped, and team is running; the next start of a server mends it.',
    ]);
    await mkdir(cell.directory.projectDir('stray'));
    await cp(cell.directory.projectDir('team'), cell.directory.projectDir('copy'), { recursive: true });
    await mkdir(cell.directory.projectDir('torn'));
    await writeFile(cell.directory.projectFile('torn'), 'no database '.repeat(100));
    await testing.cell.catalog.projects.remove('team');
    expect((await verifyCatalogue(cell)).map(({ what, detail }) => `${what}: ${detail}`).sort()).toEqual([
      'catalog.db: It lacks team; the next start of a server adds it.',
      expect.stringContaining('projects/copy: project-misplaced: '),
      'projects/stray: No database is in it: remove it.',
      expect.stringContaining('projects/torn: store-corrupt: '),
    ]);
  });

  test('is only read', async () => {
    const before = await everyFile(testing.root);
    await verifyProject(cell, 'team');
    await verifyCatalogue(cell);
    expect(await everyFile(testing.root)).toEqual(before);
  });

  test('is nothing of a project that there is not', async () => {
    await expect(verifyProject(cell, 'nobody')).rejects.toMatchObject({ code: 'project-unknown' });
    expect(await verifyCatalogue(new ReadOnlyCell(join(testing.root, 'nowhere')))).toEqual([]);
  });
});

/** Every file with the hash of what is in it. */
async function everyFile(directory: string): Promise<Record<string, string>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const hashed = files
    // The index of the log is memory that processes share.
    .filter((file) => !file.endsWith('-shm'))
    .map(
      async (file) =>
        [
          file,
          createHash('sha256')
            .update(await readFile(file))
            .digest('hex'),
        ] as const,
    );
  return Object.fromEntries((await Promise.all(hashed)).sort());
}
