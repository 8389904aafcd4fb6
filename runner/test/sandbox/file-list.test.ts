import { once } from 'node:events';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createSandbox, type TestSandbox } from '../support/sandbox.js';

let box: TestSandbox;
beforeEach(async () => (box = await createSandbox()));
afterEach(() => box.remove());

const list = async (input: object = {}): Promise<string[]> => (await box.run('file.list', input)).output.split('\n');

async function put(...paths: string[]): Promise<void> {
  for (const path of paths) {
    await mkdir(join(box.workspace, path, '..'), { recursive: true });
    await writeFile(join(box.workspace, path), 'content');
  }
}

test('one level, with kinds and sizes', async () => {
  await put('b.txt', 'a/inner', 'two\nlines');
  await symlink('../outside', join(box.workspace, 'link'));
  const server = createServer().listen(join(box.workspace, 'socket'));
  await once(server, 'listening');
  expect(await list()).toEqual([
    'a/',
    'b.txt\t7 bytes',
    'link -> ../outside',
    'socket\t[a socket]',
    '"two\\nlines"\t7 bytes',
  ]);
  server.close();
});

test('all that is below, but for what belongs to Git and to us; links are not followed', async () => {
  await put('src/a/deep.ts', 'src/b.ts', '.git/objects/00', '.suzumio/output/1.txt', 'z');
  await symlink('..', join(box.workspace, 'src', 'up'));
  expect(await list({ recursive: true })).toEqual([
    '.git/ [not entered]',
    '.suzumio/ [not entered]',
    'src/',
    'src/a/',
    'src/a/deep.ts\t7 bytes',
    'src/b.ts\t7 bytes',
    'src/up -> ..',
    'z\t7 bytes',
  ]);
  expect(await list({ path: '.suzumio', recursive: true })).toEqual(['output/', 'output/1.txt\t7 bytes']);
});

test('within a bound', async () => {
  await put('a/1', 'a/2', 'b');
  expect(await list({ recursive: true, maxEntries: 2 })).toEqual([
    'a/',
    'a/1\t7 bytes',
    '[More than 2 entries; list a directory of it, or more with maxEntries.]',
  ]);
  expect(await list({ recursive: true, maxEntries: 4 })).toHaveLength(4);
});

test('a directory deeper than descriptors go is told of', async () => {
  let path = '';
  for (let depth = 0; depth < 80; depth += 1) path = join(path, 'd');
  await mkdir(join(box.workspace, path), { recursive: true });
  const lines = await list({ recursive: true });
  expect(lines).toHaveLength(65);
  expect(lines.at(-1)).toMatch(/\[not entered\]$/);
  await rm(join(box.workspace, 'd'), { recursive: true });
});

test('refuses what is no directory', async () => {
  await put('a');
  expect(await box.refused('file.list', { path: 'a' })).toMatchObject({ code: 'not-a-directory' });
  expect(await box.refused('file.list', { path: 'b' })).toMatchObject({ code: 'file-unknown' });
  expect(await box.refused('file.list', { path: '..' })).toEqual({
    code: 'path-outside',
    message: `".." leads out of the directories that tools may use: ${box.mount}, ${box.workspace}.`,
  });
});

test('says how to go on, and leaves out no entry that it does not say', async () => {
  await put('1', '2', '3');
  expect(await list({ maxEntries: 2 })).toEqual([
    '1\t7 bytes',
    '2\t7 bytes',
    '[More than 2 entries; file.read with offset 3 shows the next ones.]',
  ]);
  expect((await box.run('file.read', { path: '.', maxBytes: 12 })).output).toBe('1\t7 bytes\n[Go on with offset 2.]');
});

const [composed, decomposed] = ['caf\u00e9', 'cafe\u0301'];

test('a name with an accent is found however the accent is written, and written where it is', async () => {
  await put(`${decomposed}/${decomposed}.txt`);
  const path = `${composed}/${composed}.txt`;
  expect((await box.run('file.read', { path })).output).toContain('1\tcontent');
  await box.run('file.write', { path, content: 'new\n' });
  await box.run('file.patch', { path, search: 'new', replace: 'newer' });
  await box.run('file.patch', {
    patch: `--- /dev/null\n+++ b/${composed}/other\n@@ -0,0 +1 @@\n+other\n`,
  });
  expect(await list({ recursive: true })).toEqual([
    `${decomposed}/`,
    `${decomposed}/${decomposed}.txt\t6 bytes`,
    `${decomposed}/other\t6 bytes`,
  ]);
  await box.run('file.patch', { operations: [{ op: 'delete', path }] });
  expect(await list({ path: composed })).toEqual(['other\t6 bytes']);
});

test('two names that look the same are told apart by number', async () => {
  await put(composed, decomposed);
  expect(await list()).toEqual([
    `${decomposed}\t7 bytes [another looks the same; this is U+0301]`,
    `${composed}\t7 bytes [another looks the same; this is U+00E9]`,
  ]);
  const twin = 'Another name beside it looks the same: U+00E9 is this one, U+0301 the other.';
  expect((await box.run('file.read', { path: composed })).output).toContain(twin);
  expect((await box.run('file.write', { path: composed, content: 'x' })).output).toContain(twin);
  await put('\u1e69', 's\u0323\u0307');
  expect(await box.refused('file.read', { path: '\u1e63\u0307' })).toMatchObject({
    code: 'path-ambiguous',
    message: expect.stringContaining('(U+0323 U+0307) and '),
  });
});
