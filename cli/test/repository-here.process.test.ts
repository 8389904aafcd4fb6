import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { TestRepository } from '../../services/turn-worker/test/support/repository.js';

const command = join(import.meta.dirname, '../bin/suzumio.js');
let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'suzumio-here-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

function init(cwd: string) {
  const env = { PATH: process.env['PATH'], HOME: directory, NO_COLOR: '1' };
  const { status, stderr } = spawnSync(process.execPath, [command, 'init', '--repository'], {
    cwd,
    env,
    encoding: 'utf8',
  });
  return { status, err: stderr.replaceAll(directory, 'HERE'), isWritten: existsSync(join(cwd, 'tides.yaml')) };
}

test('a repository is taken, and it is said what clones of it lack', () => {
  const tides = new TestRepository(join(directory, 'tides'));
  tides.commit({ 'a.txt': 'a\n', '.gitignore': 'built/\n' }, 'First');
  expect(init(tides.path)).toEqual({ status: 0, err: '', isWritten: true });
  tides.commit({ 'b.txt': 'b\n' }, 'The project file, too');
  writeFileSync(join(tides.path, 'a.txt'), 'changed\n');
  writeFileSync(join(tides.path, 'new.txt'), 'new\n');
  tides.git('mv', 'tides.yaml', 'other.yaml');
  tides.git('rm', '--quiet', '--cached', 'b.txt');
  const { status, err } = init(tides.path);
  expect([status, err]).toEqual([
    0,
    'warning: 5 files here have changes that are not committed: clones, and so agents, do not have them.\n',
  ]);
});

test('what cannot be cloned is refused before a file is written, with what would be right', () => {
  const main = new TestRepository(join(directory, 'main'));
  main.commit({ 'a.txt': 'a\n' }, 'First');
  main.git('worktree', 'add', '--quiet', '-b', 'side', join(directory, 'tides'));
  expect(init(join(directory, 'tides'))).toEqual({
    status: 2,
    err: expect.stringContaining(
      'linked work tree or a submodule, which cannot be cloned: its history is in HERE/main.',
    ),
    isWritten: false,
  });
  const empty = new TestRepository(join(directory, 'empty'));
  expect(init(empty.path)).toEqual({
    status: 2,
    err: expect.stringContaining('has no commit, so that there is nothing to clone: make its first one.'),
    isWritten: false,
  });
  expect(init(directory)).toMatchObject({ status: 2, err: expect.stringContaining('go to the top of one') });
});
