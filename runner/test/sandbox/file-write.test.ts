import { chmod, link, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Roots } from '@suzumio/runner/sandbox/paths/roots';
import { createSandbox, type TestSandbox } from '../support/sandbox.js';

let box: TestSandbox;
beforeEach(async () => (box = await createSandbox()));
afterEach(() => box.remove());

const inWorkspace = (path: string): string => join(box.workspace, path);
const content = (path: string): Promise<string> => readFile(inWorkspace(path), 'utf8');

test('a new file', async () => {
  const { output, metadata } = await box.run('file.write', { path: 'a.txt', content: 'one\ntwo' });
  expect(output).toBe('Wrote new file a.txt: 2 lines, 7 bytes.');
  expect(metadata).toEqual({ path: 'a.txt', sizeBytes: 7, change: 'added' });
  expect(await content('a.txt')).toBe('one\ntwo');
});

test('over a file, which stays the program that it is; nobody sees half of it', async () => {
  await writeFile(inWorkspace('run.sh'), 'old');
  await chmod(inWorkspace('run.sh'), 0o751);
  await link(inWorkspace('run.sh'), inWorkspace('other-name'));
  expect((await box.run('file.write', { path: './run.sh', content: 'new' })).output).toMatch(/^Wrote over/);
  expect(await content('run.sh')).toBe('new');
  expect((await stat(inWorkspace('run.sh'))).mode & 0o7777).toBe(0o751);
  // Another file took its place: who has the old one open, or under another name, keeps it.
  expect(await content('other-name')).toBe('old');
  expect((await readdir(box.workspace)).sort()).toEqual(['other-name', 'run.sh']);
});

test('directories are made where that is asked for', async () => {
  const file = { path: 'a/b/c.txt', content: '' };
  expect(await box.refused('file.write', file)).toMatchObject({ code: 'directory-unknown' });
  await box.run('file.write', { ...file, createDirs: true });
  expect(await content('a/b/c.txt')).toBe('');
});

test('through a link that stays inside, the file that it leads to', async () => {
  await writeFile(inWorkspace('real'), 'old');
  await symlink('real', inWorkspace('link'));
  await symlink('not-yet', inWorkspace('dangling'));
  await box.run('file.write', { path: 'link', content: 'new' });
  await box.run('file.write', { path: 'dangling', content: 'new' });
  expect([await content('real'), await content('not-yet')]).toEqual(['new', 'new']);
});

test('a root inside another is writable or not by itself, whatever way leads there', async () => {
  await mkdir(join(box.mount, 'own'));
  await symlink('mount/other', join(box.root, 'link'));
  const roots = await Roots.of([
    { path: box.root, writable: true },
    { path: box.mount, writable: false },
    { path: join(box.mount, 'own'), writable: true },
  ]);
  const found = async (path: string): Promise<string> => {
    const place = await roots.find(path, { writing: true, createDirs: true });
    await place.directory.close();
    return place.path;
  };
  expect(await found('mount/own/new')).toBe(join(box.mount, 'own', 'new'));
  expect(await found('outside/../mount/own/new')).toBe(join(box.mount, 'own', 'new'));
  for (const path of ['mount/new', 'link', 'outside/../mount/new', 'mount/deep/new', 'outside/../mount/deep/new']) {
    await expect(found(path)).rejects.toMatchObject({ code: 'read-only' });
  }
  expect(await readdir(box.mount)).toEqual(['own']);
});

test('refused: links out, directories, what is no file, mounts, too much', async () => {
  const small = await createSandbox({ limits: { fileBytes: 10 } });
  expect(await small.refused('file.write', { path: 'a', content: 'x'.repeat(11) })).toEqual({
    code: 'file-too-large',
    message: '"a" has 11 bytes; 10 bytes at most can be written or patched at once.',
  });
  await small.remove();

  await mkdir(inWorkspace('src'));
  await symlink(join(box.outside, 'new'), inWorkspace('out'));
  await symlink('../outside', inWorkspace('away'));
  const server = createServer().listen(inWorkspace('socket'));
  await once(server, 'listening');
  const cases = [
    ['out', 'path-outside'],
    ['away/new', 'path-outside'],
    ['away/deep/new', 'path-outside'],
    ['../outside/new', 'path-outside'],
    ['src', 'not-a-file'],
    ['.', 'not-a-file'],
    ['socket', 'not-a-file'],
    [join(box.mount, 'new'), 'read-only'],
  ];
  for (const [path, code] of cases) {
    const refusal = await box.refused('file.write', { path, content: 'x', createDirs: true });
    expect([path, refusal.code]).toEqual([path, code]);
  }
  server.close();
  expect(await readdir(box.outside)).toEqual([]);
  expect(await readdir(box.mount)).toEqual([]);
});

test('a root is known by another path, too, also from where a link leads into it', async () => {
  const own = join(box.root, 'own');
  for (const directory of [own, join(box.mount, 'b')]) await mkdir(directory);
  await symlink(own, join(box.mount, 'a'));
  const roots = await Roots.of([
    { path: box.workspace, writable: true },
    { path: box.mount, writable: false, as: '/artifacts' },
    { path: own, writable: true, as: '/artifacts/a' },
  ]);
  const found = async (path: string): Promise<string> => {
    const place = await roots.find(path, { writing: true });
    await place.directory.close();
    return place.path;
  };
  expect(await found('/artifacts/a/x.md')).toBe(join(own, 'x.md'));
  await expect(found('/artifacts/b/x.md')).rejects.toMatchObject({
    code: 'read-only',
    message: expect.stringContaining('is in /artifacts, which'),
  });
  await expect(found('/artifacts/../x.md')).rejects.toMatchObject({ code: 'path-outside' });
  await expect(found('/elsewhere/x.md')).rejects.toMatchObject({
    code: 'path-outside',
    message: expect.stringContaining('/artifacts/a'),
  });
});
