import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { CloneRequest } from '@suzumio/protocol/repository';
import { inspectRepository } from '@suzumio/runtime/repository/inspect-repository';
import { requirePlain } from '@suzumio/runtime/repository/require-plain';
import { Repositories } from '../../src/git/repositories.js';
import { gitIn, TestRepository } from '../support/repository.js';

const bounds = { maxBytes: 64 * 1024 ** 2, maxFileBytes: 16 * 1024 ** 2, maxEntries: 1_000 };

let base: string;
let origin: TestRepository;
let first: string;
let second: string;
let clones: number;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'suzumio-looked-'));
  origin = new TestRepository(join(base, 'tides'));
  origin.git('config', 'uploadpack.allowFilter', 'true');
  first = origin.commit({ 'a.txt': 'one\n' });
  second = origin.commit({ 'a.txt': 'two\n', 'b.txt': 'two\n' });
  clones = 0;
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

type Asked = Omit<CloneRequest, 'branch'>;

const verdictOf = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    (error: unknown) => `${String((error as { code?: string }).code)}: ${(error as Error).message}`,
  );

/** What is said before a project is made. */
const inspected = (asked: Asked) => verdictOf(inspectRepository(asked, { bounds }));

/** What the worker says, and the clone that it makes. */
async function cloned(asked: Asked, worker = 'worker'): Promise<{ verdict: string; path: string }> {
  const path = join(base, `clone-${++clones}`);
  mkdirSync(path);
  const by = new Repositories({ directory: join(base, worker), bounds, cloneMs: 60_000 });
  const author = { name: 'Aoi', email: 'aoi@tides.invalid' };
  const how = { author, check: () => undefined, signal: new AbortController().signal };
  return { verdict: await verdictOf(by.clone({ ...asked, branch: 'suzumio/dev' }, path, how)), path };
}

/** The verdict that both agree on, without what Git said to either. */
async function agreed(asked: Asked): Promise<string> {
  const [early, late] = [await inspected(asked), (await cloned(asked)).verdict];
  const sentence = (verdict: string) => verdict.replace(/ Git says: [^]*$/, '');
  expect(sentence(early)).toBe(sentence(late));
  return sentence(late);
}

/** Runs what a sentence advises, as a person would. */
const shell = (command: string) =>
  execFileSync('/bin/sh', ['-ec', command], {
    env: { PATH: process.env['PATH'], HOME: base, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' },
    stdio: 'pipe',
  });
const commandIn = (sentence: string) => /with (git -C .*?)(?:\.$|, or )/.exec(sentence)?.[1] ?? '';
const clone = (name: string, ...options: string[]) => {
  const path = join(base, name);
  gitIn(base, 'clone', '--quiet', ...options, `file://${origin.path}`, path);
  return path;
};

describe('a repository that Git can read is taken early and cloned', () => {
  test.each<[string, () => Asked, string | undefined]>([
    ['shallow', () => ({ git: clone('odd', '--depth=1') }), undefined],
    ['shallow, with a depth', () => ({ git: clone('odd', '--depth=1'), depth: 3 }), undefined],
    [
      'blobless, with the newest commit alone',
      () => ({ git: clone('odd', '--filter=blob:none'), depth: 1 }),
      undefined,
    ],
    ['treeless, with the newest commit alone', () => ({ git: clone('odd', '--filter=tree:0'), depth: 1 }), undefined],
    ['bare', () => ({ git: clone('odd.git', '--bare') }), undefined],
    ['detached', () => (origin.git('checkout', '--quiet', '--detach', first), { git: origin.path }), 'one\n'],
    ['by a whole id', () => ({ git: origin.path, ref: first }), 'one\n'],
    [
      'by an annotated tag',
      () => (origin.git('tag', '-a', '-m', 'x', 'v1', first), { git: origin.path, ref: 'v1' }),
      'one\n',
    ],
    [
      'by a branch with slashes',
      () => (origin.git('branch', 'a/b/c', first), { git: origin.path, ref: 'a/b/c' }),
      'one\n',
    ],
    [
      'by a branch that looks like an id',
      () => (origin.git('branch', 'deadbee', first), { git: origin.path, ref: 'deadbee' }),
      'one\n',
    ],
    ['with spaces and letters of all kinds', () => ({ git: clone("die Gezeiten's été") }), undefined],
    ['with a leading dash', () => ({ git: clone('-n') }), undefined],
    [
      'reached by a link',
      () => (shell(`ln -s '${origin.path}' '${base}/link'`), { git: join(base, 'link') }),
      undefined,
    ],
    [
      'nested in another one',
      () => {
        const inner = join(origin.path, 'vendor/inner');
        mkdirSync(join(origin.path, 'vendor'));
        gitIn(base, 'clone', '--quiet', origin.path, inner);
        return { git: inner };
      },
      undefined,
    ],
    [
      'with replaced objects, which nobody else sees',
      () => (origin.git('replace', second, first), { git: origin.path }),
      undefined,
    ],
    [
      'whose list of alternates is empty',
      () => (writeFileSync(join(origin.path, '.git/objects/info/alternates'), '# none\n'), { git: origin.path }),
      undefined,
    ],
    [
      'with attributes of LFS and no such file',
      () => (origin.commit({ '.gitattributes': '*.psd filter=lfs diff=lfs merge=lfs -text\n' }), { git: origin.path }),
      undefined,
    ],
    [
      'with a comment on LFS, and a pointer that no attribute means',
      () => (
        origin.commit({ '.gitattributes': '# *.psd filter=lfs\n  # *.bin filter=lfs\n', 'a.psd': pointer }),
        { git: origin.path }
      ),
      undefined,
    ],
    [
      'with the text of a pointer in a file that is not in LFS',
      () => (origin.commit({ 'fixture.txt': pointer, '.gitattributes': '*.psd filter=lfs\n' }), { git: origin.path }),
      undefined,
    ],
    [
      'with a file in LFS by its name that holds no pointer',
      () => (origin.commit({ 'a.psd': 'short\n', '.gitattributes': '*.psd filter=lfs\n' }), { git: origin.path }),
      undefined,
    ],
  ])('%s', async (_, asked, text = 'two\n') => {
    const request = asked();
    expect(await agreed(request)).toBe('ok');
    const { path } = await cloned(request);
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe(text);
    expect(gitIn(path, 'status', '--porcelain')).toBe('');
    gitIn(path, 'fsck', '--strict');
  });

  test('with SHA-256, and again after one with SHA-1 has come into its place', async () => {
    const path = join(base, 'wide');
    const make = (format: string) => {
      mkdirSync(path);
      gitIn(path, 'init', '--quiet', `--object-format=${format}`, '--initial-branch=main');
      writeFileSync(join(path, 'a.txt'), `${format}\n`);
      gitIn(path, 'add', '--all');
      gitIn(path, 'commit', '--quiet', '--message', 'First');
      return gitIn(path, 'rev-parse', 'HEAD');
    };
    for (const format of ['sha256', 'sha1', 'sha256']) {
      const commit = make(format);
      for (const asked of [{ git: path }, { git: path, ref: commit }, { git: path, ref: 'main', depth: 1 }]) {
        expect([asked, await agreed(asked)]).toEqual([asked, 'ok']);
        const made = await cloned(asked);
        expect(gitIn(made.path, 'rev-parse', 'HEAD', '--show-object-format')).toBe(`${commit}\n${format}`);
        expect(readFileSync(join(made.path, 'a.txt'), 'utf8')).toBe(`${format}\n`);
      }
      rmSync(path, { recursive: true });
    }
  });
});

const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 12345\n`;

describe('what cannot be cloned is refused early and late alike, and what is advised helps', () => {
  test.each<[string, () => Asked, RegExp, (sentence: string, asked: Asked) => unknown]>([
    [
      'a clone that borrows',
      () => ({ git: clone("bor rower's", '--reference', origin.path) }),
      /^repository-unsupported: .* borrows objects of another repository \(objects\/info\/alternates\): make it whole, with git -C /,
      (sentence) => void shell(commandIn(sentence)),
    ],
    [
      'a blobless one',
      () => ({ git: clone('blobless', '--filter=blob:none') }),
      /^repository-unsupported: .* is a partial clone, which lacks objects .* fetch --refetch --no-filter, or clone the newest commit alone \(depth: 1\)\.$/,
      (sentence) => void shell(commandIn(sentence)),
    ],
    [
      'a treeless one, by depth',
      () => ({ git: clone('treeless', '--filter=tree:0') }),
      /^repository-unsupported: .* is a partial clone/,
      (_, asked) => ({ ...asked, depth: 1 }),
    ],
    [
      'a linked work tree',
      () => {
        origin.git('worktree', 'add', '--quiet', '-b', 'side/way', join(base, 'linked'), first);
        return { git: join(base, 'linked') };
      },
      /^repository-unsupported: .*linked is a work tree of another repository \(\.git\): name .*tides, with ref: side\/way\.$/,
      (sentence) => {
        const [, git = '', ref = ''] = /name (.*), with ref: (.*)\.$/.exec(sentence) ?? [];
        return { git, ref };
      },
    ],
    [
      'the directory of a linked work tree in .git',
      () => {
        origin.git('worktree', 'add', '--quiet', '-b', 'side', join(base, 'linked'), first);
        mkdirSync(join(origin.path, '.git/worktrees/linked/objects'));
        return { git: join(origin.path, '.git/worktrees/linked') };
      },
      /^repository-unsupported: .* \(commondir\): name .*tides\.$/,
      (sentence) => ({ git: /name (.*)\.$/.exec(sentence)?.[1] ?? '' }),
    ],
    [
      'a checked out submodule',
      () => {
        const outer = new TestRepository(join(base, 'outer'));
        outer.git('submodule', '--quiet', 'add', origin.path, 'inner');
        return { git: join(outer.path, 'inner') };
      },
      /^repository-unsupported: .*inner is no repository itself, what it has is in .*outer\/\.git\/modules\/inner \(\.git\): name /,
      (sentence) => ({ git: /: name (.*)\.$/.exec(sentence)?.[1] ?? '' }),
    ],
    [
      'a directory inside of one',
      () => (mkdirSync(join(origin.path, 'docs')), { git: join(origin.path, 'docs') }),
      /^repository-refused: There is no repository at .*docs on the worker's host \(it is part of one: name .*tides\)\.$/,
      (sentence) => ({ git: /name (.*)\)\.$/.exec(sentence)?.[1] ?? '' }),
    ],
    [
      'one without a commit',
      () => ({ git: new TestRepository(join(base, 'empty')).path }),
      /^ref-unknown: .* has no commit at HEAD: it is empty, or HEAD names a branch without commits\. Make a commit/,
      (_, { git }) => void gitIn(git, 'commit', '--quiet', '--allow-empty', '-m', 'First'),
    ],
    [
      'one whose HEAD names no branch, by the branch that it has',
      () => (origin.git('symbolic-ref', 'HEAD', 'refs/heads/nowhere'), { git: origin.path }),
      /^ref-unknown: .* or name a branch that has some \(ref\)\.$/,
      (_, asked) => ({ ...asked, ref: 'main' }),
    ],
    [
      'half an id',
      () => ({ git: origin.path, ref: first.slice(0, 12) }),
      /^ref-unknown: .* has no branch, tag or commit .* If that is the id of a commit, write all of its digits\.$/,
      (_, asked) => ({ ...asked, ref: first }),
    ],
    [
      'a whole id that is not there',
      () => ({ git: origin.path, ref: 'a'.repeat(64) }),
      /^ref-unknown: .* has no commit a{64}\.$/,
      (_, asked) => ({ ...asked, ref: first }),
    ],
    [
      'a branch that is not there',
      () => ({ git: origin.path, ref: 'release' }),
      /^ref-unknown: .* has no branch, tag or commit release\.$/,
      () => void origin.git('branch', 'release'),
    ],
    [
      'grafts',
      () => (writeFileSync(join(origin.path, '.git/info/grafts'), `${second}\n`), { git: origin.path }),
      /^repository-unsupported: .* shows another history than it has \(info\/grafts\)/,
      (sentence) => void shell(commandIn(sentence)),
    ],
    [
      'a file in LFS',
      () => {
        origin.commit({ 'art/.gitattributes': '*.psd filter=lfs\n', 'art/a b.psd': pointer });
        return { git: origin.path };
      },
      /^repository-unsupported: .* keeps files in Git LFS \("art\/a b\.psd"\), whose content is not fetched: with git: \{ lfs: pointers \}/,
      (_, asked) => ({ ...asked, lfs: 'pointers' }),
    ],
    [
      'a file in LFS by a macro',
      () => {
        origin.commit({ '.gitattributes': '[attr]big filter=lfs -text\n*.bin big\n', 'x.bin': pointer });
        return { git: origin.path };
      },
      /^repository-unsupported: .* keeps files in Git LFS \("x\.bin"\)/,
      (_, asked) => ({ ...asked, lfs: 'pointers' }),
    ],
    [
      'a submodule',
      () => {
        origin.git('submodule', '--quiet', 'add', origin.path, 'inner');
        origin.commit({});
        return { git: origin.path };
      },
      /^repository-unsupported: .* has a submodule \("inner"\); submodules are not cloned: with git: \{ submodules: skip \}/,
      (_, asked) => ({ ...asked, submodules: 'skip' }),
    ],
    [
      'a missing object',
      () => {
        const id = origin.git('rev-parse', 'HEAD:b.txt');
        const file = join(origin.path, '.git/objects', id.slice(0, 2), id.slice(2));
        chmodSync(file, 0o600);
        rmSync(file);
        return { git: origin.path };
      },
      /^(repository-unsupported: .* is damaged|ok)/,
      () => void origin.git('hash-object', '-w', 'b.txt'),
    ],
  ])('%s', async (_, make, told, remedy) => {
    const asked = make();
    const [early, { verdict: late }] = [await inspected(asked), await cloned(asked)];
    const sentence = (verdict: string) => verdict.replace(/ Git says: [^]*$/, '');
    expect(sentence(late)).toMatch(told);
    // Only reading all of its objects shows damage.
    if (!sentence(late).includes('damaged')) expect(sentence(early)).toBe(sentence(late));
    expect(sentence(late)).not.toBe('ok');
    expect(await agreed((remedy(sentence(late), asked) as Asked | undefined) ?? asked)).toBe('ok');
  });

  test('too many files of it, by what packs them', async () => {
    for (let at = 0; at < 40; at += 1) writeFileSync(join(origin.path, `${at}.txt`), `${at}\n`);
    origin.commit({});
    const before = await verdictOf(requirePlain(origin.path, origin.path, 20));
    expect(before).toMatch(
      /has more than 20 files: pack it, with git -C .* repack -a -d -k && git -C .* pack-refs --all\.$/,
    );
    shell(/with (git -C .*)\.$/.exec(before)?.[1] ?? '');
    expect(await verdictOf(requirePlain(origin.path, origin.path, 20))).toBe('ok');
  });

  test('another user of the host has it', async () => {
    if (process.getuid?.() !== 0) return;
    shell(`chown -R 12345 '${origin.path}'`);
    expect(await agreed({ git: origin.path })).toMatch(
      /^repository-refused: .* belongs to another user of the host than the worker, .* \(chown -R\)/,
    );
    shell(`chown -R 0 '${origin.path}'`);
    expect(await agreed({ git: origin.path })).toBe('ok');
  });

  test('and nothing of the repository has changed by looking at it', async () => {
    const state = () => readdirSync(origin.path, { recursive: true }).toSorted();
    origin.commit({ '.gitattributes': '*.psd filter=lfs\n', 'a.psd': pointer });
    const before = state();
    await inspected({ git: origin.path });
    expect(state()).toEqual(before);
    expect(existsSync(join(origin.path, '.git/index.lock'))).toBe(false);
  });
});

describe('what Git says that nobody knows', () => {
  test('of a path is no server that may come back: it ends after some tries', async () => {
    writeFileSync(join(origin.path, '.git/config'), '[core\n');
    expect(await agreed({ git: origin.path })).toMatch(/^repository-failed: .* could not be fetched\.$/);
  });
});

test('pointers and directories of submodules are left in a clone that asks for it', async () => {
  origin.git('submodule', '--quiet', 'add', origin.path, 'inner');
  origin.commit({ '.gitattributes': '*.psd filter=lfs\n', 'a.psd': pointer });
  const { path, verdict } = await cloned({ git: origin.path, lfs: 'pointers', submodules: 'skip' });
  expect(verdict).toBe('ok');
  expect(readFileSync(join(path, 'a.psd'), 'utf8')).toBe(pointer);
  expect(readdirSync(join(path, 'inner'))).toEqual([]);
  expect(gitIn(path, 'status', '--porcelain')).toBe('');
});
