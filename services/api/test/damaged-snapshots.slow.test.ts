import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { artifactView } from '@suzumio/contract/model/artifact';
import { restoreWorkspaceAnswer, workspaceChangeListAnswer } from '@suzumio/contract/operations/workspaces';
import { ContentStore } from '@suzumio/store/content/content-store';
import { agentRow } from '@suzumio/store/rows';
import { snapshotAfter } from '@suzumio/store/workspaces/workspace-changes';
import { type TestApi, testApi } from './support/api.js';
import { leaveFiles } from './support/play.js';
import { refusal } from './support/refusal.js';

// A manifest of a workspace that is not on the disk as it was stored.

const path = '/api/projects/team';
const ben = `${path}/agents/ben/workspace`;

let api: TestApi;
beforeEach(async () => {
  api = await testApi();
  await api.create();
  for (const text of ['One.\n', 'Two.\n', 'Three.\n']) {
    await leaveFiles(api, 'team', 'ben', { 'notes.md': text, 'src/main.py': `# ${text}` });
  }
});
afterEach(() => api.close());

/** Where the manifest of ben's files is stored, as they are now or were after a turn; of all, or of a directory. */
async function manifestFile(turn: number | undefined, directory?: string): Promise<string> {
  const root = await api.store('team', ({ reader }) =>
    turn === undefined ? agentRow(reader, 'ben').snapshot : snapshotAfter(reader, 'ben', turn),
  );
  const projectDir = api.cell.directory.projectDir('team');
  const fileOf = (sha256: string) => join(projectDir, new ContentStore(projectDir).pathOf(sha256));
  const file = fileOf(root ?? '');
  if (directory === undefined) return file;
  const { entries } = JSON.parse(readFileSync(file, 'utf8')) as { entries: { name: string; sha256: string }[] };
  return fileOf(entries.find(({ name }) => name === directory)?.sha256 ?? '');
}

const damages: [string, (file: string) => void][] = [
  ['is missing', (file) => rmSync(file)],
  ['is empty', (file) => truncateSync(file, 0)],
  ['is cut off', (file) => truncateSync(file, Math.floor(readFileSync(file).length / 2))],
  ['is garbage', (file) => writeFileSync(file, Buffer.alloc(100, 0xfe))],
  ['is another thing', (file) => writeFileSync(file, '{"version":2,"entries":[{"kind":"door"}]}')],
  ['is too long', (file) => truncateSync(file, 1024 ** 3)],
];

const readers: [string, () => ReturnType<TestApi['get']>][] = [
  ['listWorkspaceEntries', () => api.get(`${ben}/entries?path=src&turn=2`)],
  ['getWorkspaceFile', () => api.get(`${ben}/content?path=src/main.py&turn=2`)],
  ['getTurnChanges', () => api.get(`${path}/turns/ben:2/changes`)],
  ['getTurnDiff', () => api.get(`${path}/turns/ben:2/diff`)],
  ['restoreWorkspace', () => api.post(`${ben}/restore`, { turn: 2 })],
];

describe.each(damages)('a manifest that %s', (_what, damage) => {
  test.each(readers)('is told by %s', async (_name, read) => {
    damage(await manifestFile(2));
    expect(refusal(await read())).toMatchObject({
      code: 'store-corrupt',
      detail: expect.stringMatching(/^The manifest of a workspace .*suzumio verify/) as unknown,
    });
  });

  test.each(readers)('and is that of a directory is told by %s', async (_name, read) => {
    damage(await manifestFile(2, 'src'));
    expect(refusal(await read())).toMatchObject({ code: 'store-corrupt' });
  });

  test('leaves what does not need it', async () => {
    damage(await manifestFile(2));
    expect((await api.get(`${ben}/content?path=notes.md`)).status).toBe(200);
    const { items } = workspaceChangeListAnswer.parse((await api.get(`${ben}?path=notes.md`)).json);
    expect(items.map(({ files }) => files?.changed ?? files?.added ?? null)).toEqual([0, null, null]);
  });

  test('and is the present one keeps no earlier files from being restored', async () => {
    damage(await manifestFile(undefined));
    expect(refusal(await api.get(`${ben}/entries`))).toMatchObject({ code: 'store-corrupt' });
    const { files } = restoreWorkspaceAnswer.parse((await api.post(`${ben}/restore`, { turn: 1 })).json);
    expect(files).toEqual({ added: 2, changed: 0, removed: 0 });
    expect((await api.get(`${ben}/content?path=notes.md`)).text).toBe('One.\n');
  });

  test('and is the present one is told where content is to be removed', async () => {
    const headers = { 'content-type': 'application/octet-stream' };
    const answer = await api.call('POST', `${path}/artifacts?name=keys.txt`, { body: Buffer.from('Key.'), headers });
    const { id } = artifactView.parse(answer.json);
    damage(await manifestFile(undefined));
    expect(refusal(await api.post(`${path}/artifacts/${id}/redact`, {}))).toMatchObject({ code: 'store-corrupt' });
  });
});
