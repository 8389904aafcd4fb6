import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { withPatch } from '@suzumio/runner/work-tree/make-patch';
import { gitIn } from '../../../services/turn-worker/test/support/repository.js';
import { createSandbox, remoteOf, type TestSandbox } from '../support/sandbox.js';

type Files = Readonly<Record<string, string | Buffer>>;

let box: TestSandbox;
let upstream: string;
let base: string;

beforeEach(async () => {
  box = await createSandbox({ repository: { name: 'tides', branch: 'suzumio/dev', base: '' } });
  upstream = join(box.outside, 'tides');
  mkdirSync(upstream);
  gitIn(upstream, 'init', '--quiet', '--initial-branch=main');
  Object.assign(box.sandbox.env, remoteOf(upstream));
});
afterEach(() => box.remove());

function put(top: string, files: Files): void {
  for (const [name, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(top, name)), { recursive: true });
    writeFileSync(join(top, name), bytes);
  }
}

/** Commits blobs as they are, whatever attributes say. */
function commit(files: Files): string {
  put(upstream, files);
  const lines = Object.keys(files).map((name) => {
    const id = gitIn(upstream, 'hash-object', '-w', '--no-filters', name);
    return `${(statSync(join(upstream, name)).mode & 0o100) === 0 ? '100644' : '100755'} ${id}\t${name}\n`;
  });
  execFileSync('git', ['-C', upstream, 'update-index', '--add', '--index-info'], { input: lines.join('') });
  const tree = gitIn(upstream, 'write-tree');
  const parents = gitIn(upstream, 'for-each-ref', 'refs/heads/main') === '' ? [] : ['-p', 'refs/heads/main'];
  const id = gitIn(upstream, 'commit-tree', tree, ...parents, '-m', 'Change something');
  gitIn(upstream, 'update-ref', 'refs/heads/main', id);
  return id;
}

/** As a worker makes clones. */
function clone(files: Files): void {
  base = commit(files);
  gitIn(box.root, 'clone', '--quiet', '--no-local', upstream, box.workspace);
  gitIn(box.workspace, 'checkout', '--quiet', '-B', 'suzumio/dev', base);
  put(box.workspace, { '.git/info/exclude': '/.suzumio/\n' });
  Object.assign(box.sandbox, { repository: { name: 'tides', branch: 'suzumio/dev', base } });
}

const saw = (tip: string) =>
  Object.assign(box.sandbox, {
    repository: { name: 'tides', branch: 'suzumio/dev', base, upstream: { commit: tip, rewritten: false, packs: [] } },
  });

const patch = () =>
  withPatch(box.workspace, box.sandbox.repository ?? { base }, async (file) =>
    (await file.readFile()).toString('latin1'),
  ).catch((error: unknown) => (error as Error).message);
/** The lines that a patch takes away and brings. */
const changedLines = (text: string) => text.split('\n').filter((line) => /^[-+](?![-+]{2} )/.test(line));
const nothing = () => `nothing differs from the commit ${base}`;
const read = (name: string) => readFileSync(join(box.workspace, name), 'latin1');
const crlf = 'one\r\ntwo\r\nthree\r\nfour\r\nfive\r\n';
const lf = crlf.replaceAll('\r\n', '\n');
const utf16 = (text: string) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')]);

/** What attributes ask for, what was committed, an edit of its second line as it is checked out, and what a patch has of that. */
const cases: readonly (readonly [string, Files, string, (text: string) => string | Buffer, readonly string[]])[] = [
  ['text, with CR LF', { '.gitattributes': '* text\n', f: crlf }, 'f', two, ['-two\r', '+TWO\r']],
  ['text=auto, with CR LF', { '.gitattributes': '* text=auto\n', f: crlf }, 'f', two, ['-two\r', '+TWO\r']],
  ['text=auto, with LF', { '.gitattributes': '* text=auto\n', f: lf }, 'f', two, ['-two', '+TWO']],
  ['eol=crlf, with LF', { '.gitattributes': '* text eol=crlf\n', f: lf }, 'f', two, ['-two', '+TWO']],
  ['eol=crlf, with CR LF', { '.gitattributes': '* text eol=crlf\n', f: crlf }, 'f', two, ['-two\r', '+TWO\r']],
  ['eol=lf, with CR LF', { '.gitattributes': '* text eol=lf\n', f: crlf }, 'f', two, ['-two\r', '+TWO\r']],
  [
    'eol=crlf, with both',
    { '.gitattributes': '* text eol=crlf\n', f: 'one\r\ntwo\nthree\r\n' },
    'f',
    two,
    ['-two', '+TWO'],
  ],
  ['ident', { '.gitattributes': '* ident\n', f: '$Id$\ntwo\n' }, 'f', two, ['-two', '+TWO']],
  [
    'ident that was committed expanded',
    { '.gitattributes': '* ident\n', f: '$Id: old $\ntwo\n' },
    'f',
    two,
    ['-two', '+TWO'],
  ],
  ['binary', { '.gitattributes': '* -text\n', f: crlf }, 'f', two, ['-two\r', '+TWO\r']],
  ['filter', { '.gitattributes': '* filter=evil\n', f: lf }, 'f', two, ['-two', '+TWO']],
  ['no attributes', { f: crlf }, 'f', two, ['-two\r', '+TWO\r']],
  [
    'below a directory',
    { 'a/.gitattributes': '*.txt text\n', 'a/b/"c d.txt': crlf },
    'a/b/"c d.txt',
    two,
    ['-two\r', '+TWO\r'],
  ],
  [
    'working-tree-encoding',
    { '.gitattributes': 'f text working-tree-encoding=UTF-16LE-BOM\n', f: lf },
    'f',
    () => utf16(lf.replace('two', 'TWO')),
    ['-two', '+TWO'],
  ],
];
function two(text: string): Buffer {
  return Buffer.from(text.replace('two', 'TWO'), 'latin1');
}

describe.each(cases)('a file with the attribute %s', (_, files, name, edit, lines) => {
  test('is unchanged until it is changed, and again once it is changed back', async () => {
    clone(files);
    expect(await patch()).toBe(nothing());
    const before = readFileSync(join(box.workspace, name));
    writeFileSync(join(box.workspace, name), edit(read(name)));
    expect(changedLines(await patch())).toEqual(lines);
    writeFileSync(join(box.workspace, name), before);
    expect(await patch()).toBe(nothing());
  });

  test('is no conflict with what is new, and keeps an edit of the same turn', async () => {
    clone({ ...files, other: 'other\n' });
    const stored = files[name]?.toString() ?? '';
    const tip = commit({ [name]: `${stored}last\n` });
    saw(tip);
    writeFileSync(join(box.workspace, 'other'), 'changed\n');
    expect((await box.run('workspace.git.refresh', {})).output).toContain(`the commit ${tip}`);
    const decoded = read(name).replaceAll('\0', '');
    expect(decoded).toContain('last');
    expect(changedLines(await patch())).toEqual(['-other', '+changed']);
  });
});

describe('line ends that a person has changed throughout', () => {
  test.each([
    ['and the agent a line', (name: string) => put(box.workspace, { [name]: crlf.replace('two', 'TWO') }), 'TWO'],
    [
      'and the agent has committed all of it as Git stores it',
      () => gitIn(box.workspace, 'commit', '--quiet', '--all', '--allow-empty', '-m', 'x'),
      'two',
    ],
  ])('%s', async (_, work, second) => {
    clone({ '.gitattributes': '* text\n', f: crlf });
    const tip = commit({ f: lf.replace('four', 'FOUR') });
    saw(tip);
    work('f');
    expect((await box.run('workspace.git.refresh', {})).output).toContain(`the commit ${tip}`);
    expect(read('f')).toBe(lf.replace('two', second).replace('four', 'FOUR'));
  });
});

describe('what an agent does to the repository', () => {
  const evil = () => join(box.root, 'ran');

  test('its own attributes, settings and filters do not decide what has changed', async () => {
    clone({ f: crlf, g: lf });
    const { workspace } = box;
    put(workspace, {
      '.git/info/attributes': '* text filter=evil\n',
      'evil.sh': `#!/bin/sh\ntouch ${evil()}\ntr a-z A-Z\n`,
      '.gitattributes': '* text eol=crlf filter=evil\n',
    });
    chmodSync(join(workspace, 'evil.sh'), 0o755);
    for (const name of ['clean', 'smudge'])
      gitIn(workspace, 'config', `filter.evil.${name}`, join(workspace, 'evil.sh'));
    gitIn(workspace, 'config', 'core.autocrlf', 'true');
    const files = [...(await patch()).matchAll(/^diff --git a\/(\S+)/gm)].map(([, name]) => name);
    expect(files).toEqual(['.gitattributes', 'evil.sh']);
    expect(readdirSync(box.root)).not.toContain('ran');
  });

  test('times and marks of its index do not, either', async () => {
    clone({ f: lf, g: lf, h: lf });
    const { workspace } = box;
    const { atime, mtime } = statSync(join(workspace, 'f'));
    writeFileSync(join(workspace, 'f'), lf.replace('two', 'TWO'));
    utimesSync(join(workspace, 'f'), atime, mtime);
    gitIn(workspace, 'update-index', '--assume-unchanged', 'g');
    gitIn(workspace, 'update-index', '--skip-worktree', 'h');
    for (const name of ['g', 'h']) writeFileSync(join(workspace, name), lf.replace('two', 'TWO'));
    expect(changedLines(await patch())).toEqual(['-two', '+TWO', '-two', '+TWO', '-two', '+TWO']);
  });

  test('where the file system tells no modes, files keep theirs', async () => {
    clone({ f: lf });
    chmodSync(join(box.workspace, 'f'), 0o755);
    expect(await patch()).toContain('new mode 100755');
    gitIn(box.workspace, 'config', 'core.fileMode', 'false');
    expect(await patch()).toBe(nothing());
  });

  test('a file that Git would store otherwise is as it was also once all was committed', async () => {
    clone({ '.gitattributes': '* text\n', f: crlf, g: lf });
    gitIn(box.workspace, 'commit', '--quiet', '--all', '--allow-empty', '--message', 'All');
    expect(await patch()).toBe(nothing());
  });

  test('pointers, submodules, and repositories in the clone are left alone', async () => {
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 12\n`;
    const first = commit({ '.gitattributes': '*.psd filter=lfs -text\n', 'a.psd': pointer, f: lf });
    gitIn(upstream, 'update-index', '--add', '--cacheinfo', `160000,${first},inner`);
    clone({ g: lf });
    const { workspace } = box;
    for (const name of ['new', 'inner']) {
      mkdirSync(join(workspace, name), { recursive: true });
      gitIn(workspace, 'init', '--quiet', name);
    }
    writeFileSync(join(workspace, 'inner/x'), 'x\n');
    expect(await patch()).toBe(nothing());
    rmSync(join(workspace, 'inner'), { recursive: true });
    writeFileSync(join(workspace, 'f'), lf.replace('two', 'TWO'));
    expect(changedLines(await patch())).toEqual(['-two', '+TWO']);
  });
});
