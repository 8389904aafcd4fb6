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
  expect(await list({ recursive: true, maxEntries: 2 })).toEqual(['a/', 'a/1\t7 bytes', '[More than 2 entries.]']);
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
