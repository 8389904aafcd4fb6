import { mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { constants } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Directory } from '@suzumio/runner/sandbox/paths/directory';

let root: string;
let inside: Directory;

/** A directory is opened; then a link that leads elsewhere takes its place. */
async function swapped(byDescriptor: boolean): Promise<void> {
  const top = await Directory.open(root, byDescriptor);
  inside = await top.enter('dir');
  await top.close();
  await rename(join(root, 'dir'), join(root, 'away'));
  await symlink('outside', join(root, 'dir'));
}

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'suzumio-directory-')));
  for (const [directory, content] of [
    ['dir', 'inside'],
    ['outside', 'outside'],
  ] as const) {
    await mkdir(join(root, directory));
    await writeFile(join(root, directory, 'file'), content);
  }
});
afterEach(async () => {
  await inside.close();
  await rm(root, { recursive: true });
});

describe('a directory that a link takes the place of while it is open', () => {
  test('is still used, by its descriptor', async () => {
    await swapped(true);
    const file = await inside.openFile('file', constants.O_RDONLY);
    expect(await file.readFile('utf8')).toBe('inside');
    await file.close();
    await inside.rename('file', 'renamed');
    await inside.makeDirectory('made');
    expect((await readdir(join(root, 'away'))).sort()).toEqual(['made', 'renamed']);
    expect(await readdir(join(root, 'outside'))).toEqual(['file']);
  });

  test.each([
    ['openFile', () => inside.openFile('file', constants.O_RDONLY)],
    ['facts', () => inside.facts('file')],
    ['entries', () => inside.entries()],
    ['makeDirectory', () => inside.makeDirectory('made')],
    ['rename', () => inside.rename('file', 'renamed')],
    ['remove', () => inside.remove('file')],
    ['enter', () => inside.enter('file')],
  ])('is noticed without descriptor paths: %s', async (_, use) => {
    await swapped(false);
    await expect(use()).rejects.toMatchObject({ code: 'path-changed' });
    expect(await readFile(join(root, 'outside', 'file'), 'utf8')).toBe('outside');
  });
});
