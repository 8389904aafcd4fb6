import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Sandbox } from '@suzumio/runner/sandbox/sandbox';
import { withPatch } from '@suzumio/runner/work-tree/make-patch';
import { gitIn, TestRepository } from '../../../services/turn-worker/test/support/repository.js';
import { createSandbox, remoteOf, type TestSandbox } from '../support/sandbox.js';

let box: TestSandbox;
let upstream: TestRepository;
let base: string;

const lines = Array.from({ length: 30 }, (_, at) => `line ${at + 1}\n`).join('');
const changedLine = (number: number, to: string) => lines.replace(`line ${number}\n`, `${to}\n`);

beforeEach(async () => {
  box = await createSandbox({ repository: { name: 'tides', branch: 'suzumio/dev', base: '' } });
  upstream = new TestRepository(join(box.outside, 'tides'));
  base = upstream.commit({ 'a.txt': lines, 'b.txt': 'b\n', 'gone.txt': 'gone\n', '.gitignore': 'built/\n' }, 'First');
  gitIn(box.root, 'clone', '--quiet', '--no-local', upstream.path, box.workspace);
  git('checkout', '--quiet', '-b', 'suzumio/dev');
  // As clones are made, and as commands leave them.
  write('.git/info/exclude', '/.suzumio/\n');
  write('.suzumio/output', 'output\n');
  Object.assign(box.sandbox.env, remoteOf(upstream.path));
});
afterEach(() => box.remove());

const git = (...args: string[]) => gitIn(box.workspace, ...args);
const path = (name: string) => join(box.workspace, name);
const read = (name: string) => readFileSync(path(name), 'utf8');
const write = (name: string, text: string) => {
  mkdirSync(join(path(name), '..'), { recursive: true });
  writeFileSync(path(name), text);
};
/** All of a clone that a turn's end keeps: files, index, branches. */
const state = () => [
  git('status', '--porcelain=v2', '--branch', '--untracked-files=all'),
  git('diff'),
  git('diff', '--cached'),
  git('for-each-ref', 'refs/heads'),
];

function saw(commit: string, ...before: string[]): void {
  Object.assign(box.sandbox, {
    repository: {
      name: 'tides',
      branch: 'suzumio/dev',
      base,
      upstream: { commit, rewritten: false, packs: [], ...(before.length > 0 ? { before } : {}) },
    },
  });
}
type Three = [string, string, string];
const isOfARefresh = (name: string) => name.startsWith('suzumio');

/** Refreshes in a process of its own. @returns whether that was not killed */
async function isDone(sandbox: Pick<Sandbox, 'repository'>, env: NodeJS.ProcessEnv): Promise<boolean> {
  const script = `
    import { refreshWorkspace } from '@suzumio/runner/sandbox/workspace-refresh';
    await refreshWorkspace({}, ${JSON.stringify({ ...sandbox, env })}, { signal: new AbortController().signal });`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: 'inherit' });
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  expect([code, signal]).toEqual(signal === 'SIGKILL' ? [null, 'SIGKILL'] : [0, null]);
  return code === 0;
}

const refresh = () => box.run('workspace.git.refresh', {});
const refused = () => box.refused('workspace.git.refresh', {});

describe('what is new comes', () => {
  test('into a workspace in which nothing was done', async () => {
    const tip = upstream.commit({ 'a.txt': changedLine(3, 'three'), 'new/c.txt': 'c\n' }, 'Second');
    saw(tip);
    const { output, metadata } = await refresh();
    expect(output).toBe(
      `Your branch is at the commit ${tip} of tides now. 2 files of the workspace changed by that: "a.txt", "new/c.txt".`,
    );
    expect(metadata).toEqual({ from: base, tip, head: tip, files: 2 });
    expect([git('rev-parse', 'HEAD'), git('symbolic-ref', '--short', 'HEAD'), git('status', '--porcelain')]).toEqual([
      tip,
      'suzumio/dev',
      '',
    ]);
    expect((await refresh()).output).toBe(`Nothing is new: your branch has the commit ${tip} of tides.`);
  });

  test('beside what was committed, staged, changed, added, removed, and made executable', async () => {
    write('a.txt', changedLine(10, 'ten'));
    git('commit', '--quiet', '--all', '--message', 'Ten');
    const own = git('rev-parse', 'HEAD');
    write('a.txt', changedLine(10, 'ten').replace('line 15\n', 'fifteen\n'));
    git('add', 'a.txt');
    write('a.txt', changedLine(10, 'ten').replace('line 15\n', 'fifteen\n').replace('line 20\n', 'twenty\n'));
    write('src/new.txt', 'new\n');
    write('built/out', 'built\n');
    chmodSync(path('b.txt'), 0o755);
    rmSync(path('gone.txt'));
    const tip = upstream.commit({ 'a.txt': changedLine(2, 'two'), 'c.txt': 'c\n' }, 'Second');
    saw(tip);
    const { output } = await refresh();
    expect(output).toContain('Your commits were merged into');
    expect(git('log', '--format=%s', '--first-parent', '-3').split('\n')).toEqual([
      `Merge commit '${tip}' of upstream`,
      'Ten',
      'First',
    ]);
    expect(git('rev-parse', 'HEAD^1', 'HEAD^2').split('\n')).toEqual([own, tip]);
    const merged = lines.replace('line 2\n', 'two\n').replace('line 10\n', 'ten\n');
    expect(`${git('show', 'HEAD:a.txt')}\n`).toBe(merged);
    expect(`${git('show', ':a.txt')}\n`).toBe(merged.replace('line 15\n', 'fifteen\n'));
    expect(read('a.txt')).toBe(merged.replace('line 15\n', 'fifteen\n').replace('line 20\n', 'twenty\n'));
    expect(git('status', '--porcelain', '--untracked-files=all').split('\n')).toEqual([
      'MM a.txt',
      ' M b.txt',
      ' D gone.txt',
      '?? src/new.txt',
    ]);
    expect([read('c.txt'), read('built/out')]).toEqual(['c\n', 'built\n']);
    expect(git('fsck', '--strict')).not.toContain('missing');
  });

  test('from a history that was rewritten: what is the agents stays, what it stood on goes', async () => {
    const first = upstream.commit({ 'b.txt': 'wrong\n' }, 'Wrong');
    saw(first);
    await refresh();
    write('a.txt', changedLine(20, 'twenty'));
    git('commit', '--quiet', '--all', '--message', 'Twenty');
    upstream.git('reset', '--quiet', '--hard', base);
    const tip = upstream.commit({ 'b.txt': 'right\n' }, 'Right');
    saw(tip, first);
    await refresh();
    expect([read('b.txt'), read('a.txt'), git('status', '--porcelain')]).toEqual([
      'right\n',
      changedLine(20, 'twenty'),
      '',
    ]);
  });

  test('where what was changed has come from there: nothing differs then', async () => {
    write('a.txt', changedLine(3, 'three'));
    write('new.txt', 'new\n');
    const tip = upstream.commit({ 'a.txt': changedLine(3, 'three'), 'new.txt': 'new\n' }, 'The patch');
    saw(tip);
    await refresh();
    expect([git('rev-parse', 'HEAD'), git('status', '--porcelain')]).toEqual([tip, '']);
  });

  test('where what was changed has come from there with more beside it, and where more was changed beside it here', async () => {
    write('a.txt', changedLine(3, 'three'));
    write('b.txt', 'note\nB\n');
    const theirs = changedLine(3, 'three').replace('line 2\n', 'two\n');
    const tip = upstream.commit({ 'a.txt': theirs, 'b.txt': 'B\n' }, 'The patch, and more');
    saw(tip);
    await refresh();
    expect([read('a.txt'), read('b.txt')]).toEqual([theirs, 'note\nB\n']);
    expect([git('rev-parse', 'HEAD'), git('status', '--porcelain')]).toEqual([tip, 'M b.txt']);
    expect(git('fsck', '--strict')).not.toContain('missing');
  });
});

describe('nothing comes, and nothing changes', () => {
  test.each<[string, () => void, string]>([
    ['changed', () => write('a.txt', changedLine(3, 'mine')), 'what you have changed'],
    [
      'staged',
      () => {
        write('a.txt', changedLine(3, 'mine'));
        git('add', 'a.txt');
        write('a.txt', lines);
      },
      'what you have staged',
    ],
    [
      'committed',
      () => {
        write('a.txt', changedLine(3, 'mine'));
        git('commit', '--quiet', '--all', '--message', 'Mine');
      },
      'what you have committed',
    ],
  ])('where what was %s contradicts it, of which both sides are shown', async (_, make, what) => {
    make();
    write('new.txt', 'new\n');
    saw(upstream.commit({ 'a.txt': changedLine(3, 'theirs'), 'c.txt': 'c\n' }, 'Second'));
    const before = state();
    const { code, message } = await refused();
    expect(code).toBe('merge-conflict');
    expect(message).toContain(`Nothing was changed: ${what} and what is new contradict each other in 1 file: "a.txt".`);
    expect(message).toMatch(/a\.txt:\n<{7} yours-g.*\nmine\n={7}\ntheirs\n>{7} upstream-g/);
    expect(state()).toEqual(before);
    expect(existsSync(path('c.txt'))).toBe(false);
  });

  test('where an ignored file is in the way of a new one', async () => {
    write('built/out', 'mine\n');
    upstream.write({ 'built/out': 'theirs\n', 'c.txt': 'c\n' });
    upstream.git('add', '--force', '--all');
    upstream.git('commit', '--quiet', '--message', 'Built');
    saw(upstream.git('rev-parse', 'HEAD'));
    const before = state();
    const { code, message } = await refused();
    expect([code, message]).toEqual(['git-failed', expect.stringContaining('built/out')]);
    expect([state(), read('built/out'), existsSync(path('c.txt'))]).toEqual([before, 'mine\n', false]);
  });

  test('in the midst of a merge, and with what is left of one', async () => {
    write('a.txt', changedLine(3, 'mine'));
    git('commit', '--quiet', '--all', '--message', 'Mine');
    git('checkout', '--quiet', '-b', 'other', base);
    write('a.txt', changedLine(3, 'other'));
    git('commit', '--quiet', '--all', '--message', 'Other');
    expect(() => git('merge', '--quiet', 'suzumio/dev')).toThrow();
    saw(upstream.commit({ 'c.txt': 'c\n' }, 'Second'));
    expect(await refused()).toMatchObject({
      code: 'merge-unfinished',
      message: expect.stringContaining('merge --abort'),
    });
    rmSync(path('.git/MERGE_HEAD'));
    expect(await refused()).toMatchObject({ code: 'merge-unfinished', message: expect.stringContaining('"a.txt"') });
    git('reset', '--quiet', '--hard');
    expect((await refresh()).metadata).toMatchObject({ files: 1 });
  });

  test('where the repository cannot be reached, is none, or was not looked at', async () => {
    saw('f'.repeat(40));
    rmSync(upstream.path, { recursive: true });
    expect(await refused()).toMatchObject({
      code: 'git-failed',
      message: expect.stringContaining('Nothing was changed'),
    });
    rmSync(path('.git'), { recursive: true });
    expect(await refused()).toMatchObject({ code: 'not-a-clone' });
    Object.assign(box.sandbox, { repository: { name: 'tides', branch: 'suzumio/dev', base } });
    expect((await refresh()).output).toMatch(/^Nothing is new: your workspace was cloned for this turn/);
    Object.assign(box.sandbox, { repository: undefined });
    expect(await refused()).toMatchObject({ code: 'not-a-clone' });
  });
});

test('killed at each step, and done again where it was left: the same trees, and nothing else', async () => {
  write('a.txt', changedLine(10, 'ten'));
  git('commit', '--quiet', '--all', '--message', 'Ten');
  write('b.txt', 'staged\n');
  git('add', 'b.txt');
  write('a.txt', changedLine(10, 'ten').replace('line 20\n', 'twenty\n'));
  write('src/new.txt', 'new\n');
  rmSync(path('gone.txt'));
  const changes = { 'a.txt': changedLine(2, 'two'), 'c.txt': 'c\n', 'd/e.txt': 'e\n' };
  saw(upstream.commit(changes, 'Second'));
  const [asItWas, calls, bin] = ['as-it-was', 'calls', 'bin'].map((name) => join(box.outside, name)) as Three;
  cpSync(box.workspace, asItWas, { recursive: true });
  const trees = () => {
    const committed = git('rev-parse', 'HEAD^{tree}');
    const staged = git('write-tree');
    git('add', '--all');
    return { committed, staged, files: git('write-tree'), beside: readdirSync(path('.git')).filter(isOfARefresh) };
  };
  await refresh();
  const expected = trees();
  // Ends who has called it instead of the call after `at` ones.
  mkdirSync(bin);
  const killing = `#!/bin/sh
echo >> ${calls}
[ "$(wc -l < ${calls})" -le "$AT" ] || { kill -9 $PPID; exit 1; }
exec ${execFileSync('which', ['git'], { encoding: 'utf8' }).trim()} "$@"
`;
  writeFileSync(join(bin, 'git'), killing, { mode: 0o755 });
  const { repository, env } = box.sandbox;
  const sandbox = { repository, roots: { workspacePath: box.workspace } };
  let at = 0;
  for (let isKilled = true; isKilled; at += 1) {
    rmSync(calls, { force: true });
    rmSync(box.workspace, { recursive: true });
    cpSync(asItWas, box.workspace, { recursive: true, preserveTimestamps: true });
    const killable = { ...env, PATH: `${bin}:${env['PATH'] ?? ''}`, AT: String(at) };
    isKilled = !(await isDone(sandbox, killable));
    await refresh();
    expect({ at, ...trees() }).toEqual({ at, ...expected });
  }
  expect(at).toBeGreaterThan(15);
});

describe('a patch is then against', () => {
  const made = () =>
    withPatch(box.workspace, box.sandbox.repository ?? { base }, async (file, against) => ({
      against,
      text: await file.readFile('utf8'),
    }));

  test('what the branch has, and holds the rest', async () => {
    write('b.txt', 'mine\n');
    const tip = upstream.commit({ 'a.txt': changedLine(3, 'three') }, 'Second');
    saw(tip);
    expect(await made()).toMatchObject({ against: base });
    await refresh();
    const { against, text } = await made();
    expect(against).toBe(tip);
    expect(text).toContain('+mine');
    expect(text).not.toContain('three');
    // What is newer than the branch has is no base of it.
    const newer = upstream.commit({ 'c.txt': 'c\n' }, 'Third');
    saw(newer, tip);
    expect((await made()).against).toBe(tip);
    await box.run('shell.exec', { command: 'git fetch -q upstream && git merge -q upstream/tip' });
    expect((await made()).against).toBe(newer);
  });
});
