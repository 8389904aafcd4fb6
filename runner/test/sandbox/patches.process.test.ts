import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { AppliedArtifact, EarlierPatch } from '@suzumio/protocol/artifacts';
import { withPatch } from '@suzumio/runner/work-tree/make-patch';
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

const patch = () => withPatch(developer.workspace, { base }, (file) => file.readFile());
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
    write(developer, '.git/info/exclude', '/.suzumio/\n');
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
    const gone = { base: 'f'.repeat(40) };
    await expect(withPatch(developer.workspace, gone, () => Promise.resolve())).rejects.toThrow(/bad object/);
    rmSync(join(developer.workspace, '.git'), { recursive: true });
    await expect(patch()).rejects.toThrow('the workspace has no directory .git any more');
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

describe('a patch that replaces an earlier one of its name', () => {
  const apply = (artifact: Buffer, applied: Partial<AppliedArtifact>) =>
    reviewer.run('file.apply', { artifact: 'a.patch' }, { artifact, applied });

  /** Has the reviewer's sandbox serve a patch, as one of before. */
  function earlier(bytes: Buffer, id: string, against = base): EarlierPatch {
    const sha256 = `earlier-${id}`;
    reviewer.publish(sha256, bytes);
    return { id, sha256, sizeBytes: bytes.length, base: against };
  }

  let first: EarlierPatch;
  let second: Buffer;
  beforeEach(async () => {
    write(developer, 'a.txt', lines.replace('line 3\n', 'line three\n'));
    write(developer, 'new.txt', 'one\n');
    const made = await patch();
    first = earlier(made, 'art_1');
    await apply(made, { base });
    write(developer, 'a.txt', lines.replace('line 3\n', 'third line\n'));
    write(developer, 'new.txt', 'two\n');
    second = await patch();
  });

  const same = () => ['a.txt', 'new.txt'].every((name) => read(reviewer, name) === read(developer, name));

  test('takes that one back, beside what the reviewer has changed', async () => {
    write(reviewer, 'own.txt', 'own\n');
    const { output, metadata } = await apply(second, { id: 'art_2', base, earlier: [first] });
    expect(output).toBe('Applied a.patch (art_2) in the place of its earlier version art_1, which was taken back.');
    expect(metadata).toEqual({ artifact: 'art_2', supersedes: 'art_1' });
    expect([same(), read(reviewer, 'own.txt')]).toEqual([true, 'own\n']);
    expect(git(reviewer, 'status', '--porcelain').split('\n')).toEqual(['M a.txt', '?? new.txt', '?? own.txt']);
  });

  test('finds the one that is in the workspace, also where that is no clone', async () => {
    rmSync(join(reviewer.workspace, '.git'), { recursive: true });
    const skipped = earlier(Buffer.from(second.toString().replaceAll('two', 'between')), 'art_2');
    const { metadata } = await apply(second, { id: 'art_3', base, earlier: [skipped, first] });
    expect([metadata?.['supersedes'], same()]).toEqual(['art_1', true]);
  });

  test('takes nothing back that is not there', async () => {
    git(reviewer, 'checkout', '--quiet', '.');
    rmSync(join(reviewer.workspace, 'new.txt'));
    expect((await apply(second, { base, earlier: [first] })).output).toContain('Changed a.txt');
    expect(same()).toBe(true);
  });

  test('takes nothing back that the commit has which it is against', async () => {
    git(reviewer, 'add', '--all');
    git(reviewer, 'commit', '--quiet', '--message', 'The first patch');
    const merged = git(reviewer, 'rev-parse', 'HEAD');
    git(developer, 'reset', '--quiet', '--hard');
    git(developer, 'clean', '--quiet', '--force');
    git(developer, 'pull', '--quiet', reviewer.workspace, 'HEAD');
    write(developer, 'other.txt', 'other\n');
    const next = await withPatch(developer.workspace, { base: merged }, (file) => file.readFile());
    await apply(next, { base: merged, earlier: [first] });
    expect([read(reviewer, 'new.txt'), read(reviewer, 'other.txt')]).toEqual(['one\n', 'other\n']);
  });

  test('changes nothing where it does not apply then, and says what it is against where the workspace lacks that', async () => {
    write(developer, 'a.txt', lines.replace('line 28\n', 'line twenty-eight\n'));
    const third = await patch();
    write(reviewer, 'a.txt', read(reviewer, 'a.txt').replace('line 28\n', 'own\n'));
    const call = { artifact: third, applied: { base, earlier: [first] } };
    const refusal = await reviewer.refused('file.apply', { artifact: 'a.patch' }, call);
    expect(refusal).toMatchObject({ code: 'patch-mismatch', message: expect.stringContaining('art_1 taken back') });
    expect(refusal.message).not.toContain('It is against the commit');
    expect([read(reviewer, 'a.txt').includes('line three'), read(reviewer, 'new.txt')]).toEqual([true, 'one\n']);
    const newer = 'b'.repeat(40);
    const other = { artifact: third, applied: { base: newer, earlier: [first] } };
    Object.assign(reviewer.sandbox, { repository: { name: 'tides', branch: 'suzumio/rev', base } });
    expect((await reviewer.refused('file.apply', { artifact: 'a.patch' }, other)).message).toContain(
      `It is against the commit ${newer}, which your branch has not: the repository was not seen there before this turn`,
    );
    const upstream = { commit: newer, rewritten: false, packs: [] };
    Object.assign(reviewer.sandbox, { repository: { name: 'tides', branch: 'suzumio/rev', base, upstream } });
    expect((await reviewer.refused('file.apply', { artifact: 'a.patch' }, other)).message).toContain(
      'bring that in, with workspace.git.refresh or git merge upstream/tip, and apply it then.',
    );
  });
});
