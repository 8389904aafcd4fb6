import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { apiInProcess } from '@suzumio/api/in-process';
import { type Client, createClient } from '@suzumio/contract/client/client';
import { defaultStorageLimits } from '@suzumio/contract/model/storage';
import { systemContext } from '@suzumio/store/sqlite/context';
import { Sql } from '@suzumio/store/sqlite/sql';
import { ContentStore } from '@suzumio/store/content/content-store';
import { publishArtifact } from '@suzumio/store/content/publish-artifact';
import { postMessage } from '@suzumio/store/mail/post-message';
import { type TestCell, testCell } from '../../../test/support/cell.js';

let testing: TestCell;
const closing: (() => Promise<void>)[] = [];
beforeEach(async () => {
  testing = await testCell();
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  await testing.close();
});

/** Asks the API of a directory in this process. */
function ask(root = testing.root, freeBytes = 1e12): Client {
  const api = apiInProcess({
    root,
    context: systemContext(),
    storage: defaultStorageLimits,
    free: () => ({ bytes: freeBytes, files: Infinity }),
    budgetUsdPerDay: undefined,
  });
  closing.push(() => api.close());
  return createClient(api);
}

/** Everything that is stored, by file; what SQLite keeps beside a database while it is read holds nothing. */
async function stored(): Promise<Record<string, string>> {
  const names = await readdir(testing.root, { recursive: true, withFileTypes: true });
  const files = names
    .filter((entry) => entry.isFile() && !entry.name.endsWith('-shm'))
    .map(({ parentPath, name }) => join(parentPath, name));
  const contents = await Promise.all(files.map(async (file) => [file, await readFile(file, 'base64')] as const));
  return Object.fromEntries(contents.filter(([file, content]) => !(file.endsWith('-wal') && content === '')));
}

function schemaOf(file: string, version?: number): number {
  const sql = Sql.open(file);
  if (version !== undefined) sql.handle.pragma(`user_version = ${version}`);
  const { userVersion } = sql;
  sql.close();
  return userVersion;
}

test('everything is read, and nothing is written or migrated', async () => {
  const project = await testing.create();
  await testing.write(project, (tx) =>
    postMessage(tx, { sender: 'user', actor: 'user', recipient: 'ada', priority: 'P1', body: 'Hello.' }),
  );
  await testing.cell.close();
  const [catalog, database] = [join(testing.root, 'catalog.db'), join(testing.root, 'projects', project, 'project.db')];
  const earlier = [schemaOf(catalog) - 1, schemaOf(database) - 1] as const;
  schemaOf(catalog, earlier[0]);
  schemaOf(database, earlier[1]);
  const before = await stored();

  const api = ask();
  const { items } = await api.listProjects({ query: { include: 'detail' } });
  expect(items).toMatchObject([{ id: project, detail: { project: { status: 'running' }, cellPaused: null } }]);
  expect((await api.listMessages({ project })).items).toMatchObject([{ body: 'Hello.' }]);
  expect((await api.whyAgent({ project, agent: 'ada' })).reasons).toMatchObject([
    { code: 'scheduler-missing' },
    { code: 'toolhost-missing' },
  ]);
  expect((await api.getUsage()).total.calls).toBe(0);
  expect((await api.listTokens()).items).toEqual([]);

  for (const close of closing.splice(0)) await close();
  expect(await stored()).toEqual(before);
  expect([schemaOf(catalog), schemaOf(database)]).toEqual(earlier);
});

test('what services do is refused, and what the owner keeps is written to the catalogue alone', async () => {
  const project = await testing.create();
  const database = () => readFile(testing.cell.directory.projectFile(project));
  await testing.cell.close();
  const before = await database();
  const api = ask();
  const refused = { code: 'server-unreachable', message: `No Suzumio server is running for ${testing.root}.` };
  await expect(api.startProject({ project })).rejects.toMatchObject(refused);
  await expect(api.deleteProject({ project })).rejects.toMatchObject(refused);
  await expect(api.uploadArtifact({ project, query: { name: 'a' }, body: new Blob(['a']) })).rejects.toMatchObject(
    refused,
  );
  await expect(api.pauseCell({ body: {} })).rejects.toMatchObject(refused);
  await expect(api.listWorkers()).rejects.toMatchObject(refused);
  await expect(api.getPolicy()).rejects.toMatchObject({ code: 'server-unreachable' });

  const { token } = await api.createToken({ body: { name: 'ci', scope: 'read' } });
  expect(token).toMatchObject({ name: 'ci', createdBy: 'user' });
  await api.createTeam({ body: { name: 'desk', description: '' } });
  expect((await api.listTokens()).items).toEqual([token]);
  expect((await api.listTeams()).items).toMatchObject([{ name: 'desk' }]);
  expect(await database()).toEqual(before);
});

test('a directory that is not there has nothing, until its owner keeps something in it', async () => {
  const root = join(testing.root, 'none');
  const api = ask(root);
  expect(await api.listProjects()).toEqual({ items: [] });
  expect((await api.getUsage()).today?.spentUsd).toBe(0);
  await expect(api.getTeam({ team: 'desk' })).rejects.toMatchObject({ code: 'team-unknown' });
  expect(existsSync(root)).toBe(false);
  await api.createTeam({ body: { name: 'desk', description: '' } });
  expect(existsSync(join(root, 'catalog.db'))).toBe(true);
});

test('nothing listens, and neither the disk nor its reserve keeps the owner from the catalogue', async () => {
  const listening = () => process.getActiveResourcesInfo().filter((name) => /TCP|Pipe/.test(name));
  const before = listening();
  const api = ask(testing.root, 0);
  const [, during] = await Promise.all([api.listProjects(), Promise.resolve().then(listening)]);
  await api.createTeam({ body: { name: 'desk', description: '' } });
  expect([during, listening()]).toEqual([before, before]);
});

test('an error is the very one that was thrown', async () => {
  const api = ask();
  await expect(api.getProject({ project: 'tame' })).rejects.toMatchObject({
    code: 'project-unknown',
    message: `There is no project "tame" in ${testing.root}.`,
    details: { project: 'tame' },
  });
  const damaged = join(testing.root, 'damaged');
  await mkdir(damaged);
  await writeFile(join(damaged, 'catalog.db'), randomBytes(8192));
  await expect(ask(damaged).listProjects()).rejects.toMatchObject({ code: 'SQLITE_NOTADB' });
});

test('bytes come as streams, many at a time, and a missing file is told', async () => {
  const project = await testing.create();
  const directory = testing.cell.directory.projectDir(project);
  const bytes = randomBytes(3 * 1024 * 1024);
  const content = new ContentStore(directory);
  const stored = await content.putStream(Readable.from([bytes]));
  const { id: artifact } = await testing.write(project, (tx) =>
    publishArtifact(tx, {
      ...{ creator: 'ada', actor: 'ada', name: 'a.bin', path: content.pathOf(stored.sha256), description: undefined },
      ...stored,
    }),
  );
  const api = ask();
  const read = async () => buffer(await api.getArtifactContent({ project, artifact }));
  for (const one of await Promise.all([read(), read(), read(), read()])) expect(one.equals(bytes)).toBe(true);
  await rm(join(directory, content.pathOf(stored.sha256)));
  await expect(read()).rejects.toMatchObject({ code: 'store-corrupt' });
});
