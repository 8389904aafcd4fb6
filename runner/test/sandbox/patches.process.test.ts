import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { withPatch } from '@suzumio/runner/tools/make-patch';
import { createSandbox, type TestSandbox } from '../support/sandbox.js';

let developer: TestSandbox;
let reviewer: TestSandbox;
let base: string;

function git(box: TestSandbox, ...args: string[]): string {
  const identity = ['-c', 'user.name=Aoi', '-c', 'user.email=aoi@example.org'];
  const env = { PATH: process.env['PATH'], HOME: box.root, GIT_CONFIG_NOSYSTEM: '1' };
  return execFileSync('git', ['-C', box.workspace, ...identity, ...args], { env, encoding: 'utf8' }).trim();
}

const lines = Array.from({ length: 30 }, (_, at) => `line ${at + 1}\n`).join('');

beforeEach(async () => {
  [developer, reviewer] = await Promise.all([createSandbox(), createSandbox()]);
  git(developer, 'init', '--quiet', '--initial-branch=main');
  writeFileSync(join(developer.workspace, 'a.txt'), lines);
  writeFileSync(join(developer.workspace, 'gone.txt'), 'gone\n');
  writeFileSync(join(developer.workspace, '.gitignore'), 'built/\n');
  git(developer, 'add', '--all');
  git(developer, 'commit', '--quiet', '--message', 'First');
  base = git(developer, 'rev-parse', 'HEAD');
  git(reviewer, 'clone', '--quiet', '--no-local', developer.workspace, '.');
});

afterEach(() => Promise.all([developer.remove(), reviewer.remove()]));

const patch = () => withPatch(developer.workspace, base, (file) => file.readFile());
const write = (box: TestSandbox, name: string, text: string | Buffer) => {
  mkdirSync(join(box.workspace, name, '..'), { recursive: true });
  writeFileSync(join(box.workspace, name), text);
};
const read = (box: TestSandbox, name: string) => readFileSync(join(box.workspace, name), 'utf8');

describe('a patch', () => {
  test('holds what was committed, what was not, and new files; not what .gitignore names', async () => {
    write(developer, 'a.txt', lines.replace('line 3\n', 'line three\n'));
    git(developer, 'commit', '--quiet', '--all', '--message', 'Second');
    write(developer, 'a.txt', lines.replace('line 3\n', 'line three\n').replace('line 28\n', ''));
    write(developer, 'src/naïve file.txt', 'new\n');
    write(developer, 'built/out', 'built\n');
    write(developer, '.suzumio/output', 'output\n');
    rmSync(join(developer.workspace, 'gone.txt'));
    const before = git(developer, 'status', '--porcelain');
    const made = await patch();
    expect(git(developer, 'status', '--porcelain')).toBe(before);
    expect(git(developer, 'count-objects')).toBe(git(developer, 'count-objects'));
    const { output } = await reviewer.run('file.apply', { artifact: 'a.patch' }, { artifact: made });
    expect(output).toMatch(/Changed a\.txt \(\+1 -2\)[^]*Deleted gone\.txt[^]*Added src\/naïve file\.txt/);
    expect(read(reviewer, 'a.txt')).toBe(read(developer, 'a.txt'));
    expect(read(reviewer, 'src/naïve file.txt')).toBe('new\n');
    expect(['gone.txt', 'built', '.suzumio'].filter((name) => existsSync(join(reviewer.workspace, name)))).toEqual([]);
  });

  test('holds binary files, modes and links, which git applies', async () => {
    const bytes = Buffer.from(Array.from({ length: 3000 }, (_, at) => (at * 37) % 256));
    write(developer, 'image.png', bytes);
    write(developer, 'run.sh', '#!/bin/sh\n');
    execFileSync('chmod', ['755', join(developer.workspace, 'run.sh')]);
    symlinkSync('a.txt', join(developer.workspace, 'link'));
    const { output } = await reviewer.run('file.apply', { artifact: 'a.patch' }, { artifact: await patch() });
    expect(output).toBe('Applied a.patch.');
    expect(readFileSync(join(reviewer.workspace, 'image.png')).equals(bytes)).toBe(true);
    expect(statSync(join(reviewer.workspace, 'run.sh')).mode & 0o100).toBe(0o100);
  });

  test('is of what differs from the base, though the branch was rewritten', async () => {
    git(developer, 'checkout', '--quiet', '--orphan', 'other');
    write(developer, 'a.txt', 'anew\n');
    git(developer, 'commit', '--quiet', '--all', '--message', 'Other');
    await reviewer.run('file.apply', { artifact: 'a.patch' }, { artifact: await patch() });
    expect(read(reviewer, 'a.txt')).toBe('anew\n');
  });

  test('is none where nothing differs, where the base is gone, or where there is no repository', async () => {
    await expect(patch()).rejects.toThrow(`nothing differs from the commit ${base}`);
    write(developer, 'a.txt', 'x\n');
    await expect(withPatch(developer.workspace, 'f'.repeat(40), () => Promise.resolve())).rejects.toThrow(
      /git diff ended/,
    );
    rmSync(join(developer.workspace, '.git'), { recursive: true });
    await expect(patch()).rejects.toThrow(/git add ended with 128/);
  });
});

describe('applying', () => {
  test('changes nothing where a part does not match, and shows the nearest lines', async () => {
    write(developer, 'a.txt', lines.replace('line 3\n', 'line three\n'));
    write(developer, 'new.txt', 'new\n');
    const made = await patch();
    write(reviewer, 'a.txt', lines.replace('line 3\n', 'line 3 of another\n'));
    const refusal = await reviewer.refused('file.apply', { artifact: 'a.patch' }, { artifact: made });
    expect(refusal.code).toBe('patch-mismatch');
    expect(refusal.message).toContain('line 3 of another');
    expect(existsSync(join(reviewer.workspace, 'new.txt'))).toBe(false);
  });

  test('of a binary patch that does not match changes nothing, either', async () => {
    write(developer, 'image.png', Buffer.from([0, 1, 2]));
    write(developer, 'a.txt', lines.replace('line 3\n', 'line three\n'));
    const made = await patch();
    write(reviewer, 'a.txt', 'other\n');
    const refusal = await reviewer.refused('file.apply', { artifact: 'a.patch' }, { artifact: made });
    expect(refusal.code).toBe('patch-mismatch');
    expect(refusal.message).toContain('a.txt');
    expect(existsSync(join(reviewer.workspace, 'image.png'))).toBe(false);
  });

  test.each([
    ['--- /dev/null\n+++ b/../outside/x\n@@ -0,0 +1 @@\n+x\n'],
    [
      'diff --git a/../outside/x b/../outside/x\nnew file mode 100644\nindex 0000000..1\nGIT binary patch\nliteral 1\nIcmZQz00sa7000000\n\n',
    ],
  ])('writes nothing outside of the workspace', async (text) => {
    const refusal = await reviewer.refused('file.apply', { artifact: 'x' }, { artifact: Buffer.from(text) });
    expect(refusal.code).not.toBe('not-refused');
    expect(existsSync(join(reviewer.outside, 'x'))).toBe(false);
  });

  const added = (path: string, name = path) =>
    `diff --git a/${path} b/${path}\nnew file mode 100755\n--- /dev/null\n+++ ${name}\n@@ -0,0 +1 @@\n+#!/bin/sh\n`;

  test.each([
    ['.git/hooks/post-checkout'],
    ['.GIT/hooks/post-checkout'],
    ['deep/.git/config'],
    ['.suzumio/output'],
    ['to-git/hooks/post-checkout'],
    ['new/../.git/config'],
  ])('of another agent writes nothing to %s, and nothing else of it', async (path) => {
    symlinkSync('.git', join(reviewer.workspace, 'to-git'));
    const artifact = Buffer.from(added('fine.txt', 'b/fine.txt') + added(path, `b/${path}`));
    const refusal = await reviewer.refused('file.apply', { artifact: 'x' }, { artifact });
    expect(refusal.code).toBe('path-kept');
    expect(refusal.message).toMatch(/is in \.(git|GIT|suzumio), into which no files of another agent are written/);
    const written = ['fine.txt', '.git/hooks/post-checkout', '.GIT', 'deep', 'new', '.suzumio/output'];
    expect(written.filter((name) => existsSync(join(reviewer.workspace, name)))).toEqual([]);
  });

  test.each([['.suzumio/output'], ['deep/.Suzumio/x']])('that only git applies writes nothing to %s', async (path) => {
    for (const name of ['fine.bin', 'there.bin']) write(developer, name, Buffer.from([0, 1, 2]));
    git(developer, 'add', '--all');
    const fine = `${git(developer, 'diff', '--cached', '--binary')}\n\n`;
    const artifact = Buffer.from(fine.replaceAll('there.bin', path));
    expect(await reviewer.refused('file.apply', { artifact: 'x' }, { artifact })).toMatchObject({ code: 'path-kept' });
    expect(existsSync(join(reviewer.workspace, 'fine.bin'))).toBe(false);
    await reviewer.run('file.apply', { artifact: 'x' }, { artifact: Buffer.from(fine) });
    expect(existsSync(join(reviewer.workspace, 'there.bin'))).toBe(true);
  });

  test('of another agent writes to no mount', async () => {
    const path = join(reviewer.mount, 'x');
    const artifact = Buffer.from(`--- /dev/null\n+++ ${path}\n@@ -0,0 +1 @@\n+x\n`);
    const refusal = await reviewer.refused('file.apply', { artifact: 'x' }, { artifact });
    expect(refusal.code).toBe('path-outside');
    expect(existsSync(path)).toBe(false);
  });

  test('of what is not published is refused', async () => {
    expect(await reviewer.refused('file.apply', { artifact: 'nope' })).toEqual({
      code: 'artifact-unknown',
      message: 'Nothing is published as "nope"; artifacts.list shows what is.',
    });
  });
});
