import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openForReading, openForWriting, WorkspacePathError } from '@suzumio/runner/tools/workspace-path';

let root: string;
let workspace: string;

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'suzumio-workspace-')));
  workspace = join(root, 'workspace');
  await mkdir(join(workspace, 'sub'), { recursive: true });
  await mkdir(join(root, 'outside'));
  await writeFile(join(root, 'outside', 'secret'), 'secret');
  await writeFile(join(workspace, 'sub', 'real'), 'real');
  await symlink('real', join(workspace, 'sub', 'link'));
  await symlink('../outside', join(workspace, 'away'));
  await symlink('sub', join(workspace, 'within'));
  await symlink('../outside/secret', join(workspace, 'secret'));
  await symlink('../outside/new', join(workspace, 'dangling'));
  execFileSync('mkfifo', [join(workspace, 'fifo')]);
});
afterEach(() => rm(root, { recursive: true, force: true }));

const refused: [unknown, string][] = [
  ['../outside/secret', 'is not a path inside'],
  ['sub/../../outside/secret', 'is not a path inside'],
  ['/etc/passwd', 'is not a path inside'],
  ['..', 'is not a path inside'],
  ['.', 'is not a path inside'],
  ['', 'is not a path inside'],
  ['a\0b', 'is not a path inside'],
  [42, 'is not a path inside'],
  [undefined, 'is not a path inside'],
  ['secret', 'is a link'],
  ['sub/link', 'is a link'],
  ['away/secret', 'leads out of the workspace'],
];

describe('reading', () => {
  test.each([
    ...refused,
    ['missing', 'ENOENT'],
    ['sub', 'not a regular file'],
    ['fifo', 'not a regular file'],
    ['sub/real/x', 'ENOTDIR'],
  ])('refuses %j: %s', async (path, reason) => {
    const opening = openForReading(workspace, path);
    await expect(opening).rejects.toThrow(WorkspacePathError);
    await expect(opening).rejects.toThrow(reason);
  });

  test.each(['sub/real', 'within/real', './sub/real', 'sub/../sub//real'])('opens %s', async (path) => {
    const file = await openForReading(workspace, path);
    expect(await file.readFile('utf8')).toBe('real');
    await file.close();
  });
});

test('an absolute path inside the workspace is as good as its relative form', async () => {
  const file = await openForReading(workspace, join(workspace, 'sub', 'real'));
  await file.close();
});

describe('writing', () => {
  test.each([
    ...refused,
    ['dangling', 'is a link'],
    ['away/new', 'leads out'],
    ['away/new/file', 'leads out'],
    ['fifo', 'fifo'],
    ['sub', 'sub'],
  ])('refuses %j: %s', async (path, reason) => {
    const opening = openForWriting(workspace, path);
    await expect(opening).rejects.toThrow(WorkspacePathError);
    await expect(opening).rejects.toThrow(reason);
    expect(
      execFileSync('find', [join(root, 'outside')], { encoding: 'utf8' })
        .trim()
        .split('\n').length,
    ).toBe(2);
    expect(await readFile(join(root, 'outside', 'secret'), 'utf8')).toBe('secret');
  });

  test.each(['sub/real', 'within/real', 'new/deep/file', 'plain'])('writes %s from its start', async (path) => {
    const file = await openForWriting(workspace, path);
    await file.writeFile('x');
    await file.close();
    expect(await readFile(join(workspace, path), 'utf8')).toBe('x');
  });
});
