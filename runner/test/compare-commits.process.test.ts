import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  comparisonOutcome,
  maxDiffBytes,
  maxFileDiffBytes,
  type RepositoryDiff,
} from '@suzumio/protocol/repository-diff';
import { compareCommits } from '../src/compare/compare-commits.js';

let root: string;
let repository: string;
let packs: string[];
let sent: string[];
let workspaces: number;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'suzumio-compare-'));
  repository = join(root, 'repository');
  mkdirSync(repository);
  [packs, sent, workspaces] = [[], [], 0];
  git('init', '--quiet', '--initial-branch=main');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function git(...args: string[]): string {
  return gitWith({}, args).toString('utf8').trim();
}

function gitWith(env: Record<string, string>, args: readonly string[], input?: string | Buffer): Buffer {
  const who = ['-c', 'user.name=Yuki', '-c', 'user.email=yuki@example.org', '-c', 'core.quotePath=false'];
  return execFileSync('git', ['-C', repository, ...who, ...args], {
    env: { PATH: process.env['PATH'], HOME: root, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', ...env },
    input,
    stdio: ['pipe', 'pipe', 'pipe'],
    maxBuffer: 1024 ** 3,
  });
}

type Files = Readonly<Record<string, string | Buffer | { link: string } | { run: string }>>;

/** Commits exactly these files, and packs what is new as a push does. */
function commit(files: Files, message = 'Change something', env: Record<string, string> = {}): string {
  git('rm', '-r', '--quiet', '--force', '--ignore-unmatch', '.');
  for (const [name, content] of Object.entries(files)) {
    const path = join(repository, name);
    mkdirSync(dirname(path), { recursive: true });
    if (typeof content === 'string' || Buffer.isBuffer(content)) writeFileSync(path, content);
    else if ('link' in content) symlinkSync(content.link, path);
    else {
      writeFileSync(path, content.run);
      chmodSync(path, 0o755);
    }
  }
  git('add', '--all');
  gitWith(env, ['commit', '--quiet', '--allow-empty', '--no-verify', '--message', message]);
  const id = git('rev-parse', 'HEAD');
  pack(id);
  return id;
}

function pack(...ids: string[]): void {
  const known = sent.map((id) => `^${id}`);
  const revisions = [...ids, ...known].map((line) => `${line}\n`).join('');
  keep(gitWith({}, ['pack-objects', '--revs', '--stdout', '--delta-base-offset', '-q'], revisions));
  sent.push(...ids);
}

function keep(bytes: Buffer): void {
  const file = join(root, `push-${String(packs.length)}`);
  writeFileSync(file, bytes);
  packs.push(file);
}

const said: string[] = [];

async function outcomeOf(from: string | null, to: string, { common = false } = {}) {
  const workspace = join(root, `workspace-${String((workspaces += 1))}`);
  mkdirSync(workspace);
  const names = packs.map((file, index) => {
    const name = `pack-${String(index + 1)}.pack`;
    execFileSync('cp', [file, join(workspace, name)]);
    return name;
  });
  said.length = 0;
  const input = { comparison: { from, to, common }, workspace, packs: names };
  return comparisonOutcome.parse(await compareCommits(input, process.env['PATH'] ?? '', (line) => said.push(line)));
}

async function compared(...asked: Parameters<typeof outcomeOf>): Promise<RepositoryDiff> {
  const outcome = await outcomeOf(...asked);
  if ('refused' in outcome) throw new Error(outcome.refused.message);
  return outcome.made;
}

const linesOf = ({ diff }: RepositoryDiff) => diff.split('\n');
const notesOf = (made: RepositoryDiff) => linesOf(made).filter((line) => line.startsWith('# '));

describe('two commits', () => {
  test('differ in what Git says, which it can apply, and have commits between them', async () => {
    const first = commit({ 'a.txt': 'one\ntwo\n', old: 'Old.\n', tool: 'echo 1\n', kind: 'A file.\n' }, 'Begin');
    const second = commit(
      { 'a.txt': 'one\nthree\n', 'new/b.txt': 'new', tool: { run: 'echo 1\n' }, kind: { link: 'a.txt' } },
      'Measure the tide\n\nWith a gauge.',
      { GIT_AUTHOR_NAME: 'Haru ‮ Mio', GIT_AUTHOR_DATE: '2026-11-20T09:00:00Z' },
    );
    const made = await compared(first, second);
    expect(made).toMatchObject({ base: first, head: second, ahead: 1, behind: 0 });
    expect(made.files).toEqual({ added: 1, changed: 3, removed: 1 });
    expect(made.commits).toEqual([
      { id: second, subject: 'Measure the tide', author: 'Haru ‮ Mio', at: '2026-11-20T09:00:00.000Z' },
    ]);
    expect(made.diff).toContain('-two\n+three\n');
    expect(made.diff).toContain('old mode 100644\nnew mode 100755\n');
    git('checkout', '--quiet', first);
    gitWith({}, ['apply', '--index', '-'], made.diff);
    expect(git('write-tree')).toBe(git('rev-parse', `${second}^{tree}`));

    const back = await compared(second, first);
    expect(back).toMatchObject({ ahead: 0, behind: 1, commits: [], files: { added: 1, changed: 3, removed: 1 } });
    expect(await compared(second, second)).toMatchObject({ diff: '', files: { added: 0, changed: 0, removed: 0 } });
    expect(await compared(null, first)).toMatchObject({ base: null, ahead: 1, files: { added: 4, changed: 0 } });
  });

  test('that went apart are compared with each other, or with what both have in common', async () => {
    const start = commit({ 'a.txt': 'one\n' });
    const main = commit({ 'a.txt': 'two\n' }, 'On the main branch');
    git('checkout', '--quiet', '-b', 'other', start);
    const other = commit({ 'a.txt': 'one\n', 'b.txt': 'new\n' }, 'On the other');
    const apart = await compared(main, other);
    expect(apart).toMatchObject({ base: main, ahead: 1, behind: 1, files: { added: 1, changed: 1, removed: 0 } });
    const since = await compared(main, other, { common: true });
    expect(since).toMatchObject({ base: start, ahead: 1, behind: 1, files: { added: 1, changed: 0, removed: 0 } });
    expect(since.commits.map(({ subject }) => subject)).toEqual(['On the other']);

    git('checkout', '--quiet', '--orphan', 'alone');
    const alone = commit({ 'c.txt': 'alone\n' });
    expect(await compared(main, alone, { common: true })).toMatchObject({
      base: null,
      files: { added: 1, removed: 0 },
    });
  });

  test('may be named by tags, and have to be there', async () => {
    const first = commit({ 'a.txt': 'one\n' });
    git('tag', '--annotate', '--message', 'First', 'v1', first);
    const tag = git('rev-parse', 'v1');
    pack(tag);
    const second = commit({ 'a.txt': 'two\n' });
    expect(await compared(tag, second)).toMatchObject({ base: first, head: second, ahead: 1 });
    const blob = git('rev-parse', `${first}:a.txt`);
    for (const id of ['1'.repeat(40), blob, git('rev-parse', `${first}^{tree}`)]) {
      expect(await outcomeOf(first, id)).toMatchObject({
        refused: { code: 'git-commit-unknown', message: expect.stringContaining(id) },
      });
    }
  });

  test('of packs one of which Git refuses are compared without that one', async () => {
    const first = commit({ 'a.txt': 'one\n' });
    const tree = gitWith({}, ['mktree'], `040000 tree ${git('rev-parse', `${first}^{tree}`)}\t.git\n`)
      .toString()
      .trim();
    const bad = git('commit-tree', '-m', 'Bad', tree);
    pack(bad);
    sent.pop();
    const incomplete = git('commit-tree', '-m', 'Nothing of it', '-p', first, git('write-tree'));
    keep(gitWith({}, ['pack-objects', '--stdout', '-q'], `${incomplete}\n`));
    keep(Buffer.from('PACK and nothing more'));
    const second = commit({ 'a.txt': 'two\n' });
    expect((await compared(first, second)).diff).toContain('+two\n');
    expect(said).toHaveLength(2);
    expect(await outcomeOf(first, bad)).toMatchObject({ refused: { code: 'git-commit-unknown' } });
  });
});

describe('hostile commits', () => {
  test('start nothing: neither attributes nor the configuration of the host are read', async () => {
    const marker = join(root, 'started');
    const driver = `touch ${marker}; cat`;
    const host = `[diff "evil"]\n\ttextconv = ${driver}\n\tcommand = ${driver}\n[diff]\n\texternal = ${driver}\n[filter "evil"]\n\tsmudge = ${driver}\n[core]\n\tpager = ${driver}\n\tfsmonitor = ${driver}\n`;
    writeFileSync(join(root, '.gitconfig'), host);
    const before = { ...process.env };
    Object.assign(process.env, {
      HOME: root,
      XDG_CONFIG_HOME: root,
      GIT_EXTERNAL_DIFF: driver,
      GIT_CONFIG_GLOBAL: join(root, '.gitconfig'),
    });
    try {
      const attributes = '* diff=evil filter=evil merge=evil\n*.hidden -diff\n';
      const first = commit({
        '.gitattributes': attributes,
        'a.txt': 'one\n',
        'b.hidden': 'one\n',
        '.gitmodules': '[submodule "x"]\n\tpath = a\n\turl = ext::touch\n',
      });
      const second = commit({ '.gitattributes': attributes, 'a.txt': 'two\n', 'b.hidden': 'two\n' });
      const made = await compared(first, second);
      expect(made.diff.match(/^\+two$/gm)).toHaveLength(2);
      expect(existsSync(marker)).toBe(false);
    } finally {
      for (const name of ['HOME', 'XDG_CONFIG_HOME', 'GIT_EXTERNAL_DIFF', 'GIT_CONFIG_GLOBAL']) {
        if (before[name] === undefined) Reflect.deleteProperty(process.env, name);
        else process.env[name] = before[name];
      }
    }
  });

  test('are named where they are no text, or long: a file of 100 MB costs nothing', async () => {
    const large = Buffer.alloc(100 * 1024 ** 2, 'a line of it\n');
    const first = commit({ 'large.txt': 'short\n', 'logo.png': Buffer.from([0, 1, 2]), 'a.txt': 'one\n' });
    const second = commit({
      'large.txt': large,
      'logo.png': Buffer.from([0, 1, 3]),
      'a.txt': 'two\n',
      'long.txt': `${'many words '.repeat(40)}\n`.repeat(1_000),
    });
    const made = await compared(first, second);
    expect(notesOf(made)).toEqual([
      '# large.txt was changed: it is no text, or longer than 1 MB.',
      '# logo.png was changed: it is no text, or longer than 1 MB.',
      '# long.txt was added: its changes are too long.',
    ]);
    expect(made.diff).toContain('-one\n+two\n');
    expect(440 * 1_000).toBeGreaterThan(maxFileDiffBytes);
  });

  test('with 10,000 files are told of as far as there is room, and counted', async () => {
    const first = commit({});
    const many = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, index) => [
        `d${String(index % 100)}/f${String(index)}`,
        `${'x'.repeat(100)}\n`,
      ]),
    );
    const second = commit(many);
    const made = await compared(first, second);
    expect(made.files).toEqual({ added: 10_000, changed: 0, removed: 0 });
    expect(Buffer.byteLength(JSON.stringify(made.diff))).toBeLessThan(maxDiffBytes + 2);
    const shown = made.diff.match(/^diff --git /gm)?.length ?? 0;
    expect(shown).toBeGreaterThan(1_000);
    expect(notesOf(made)).toEqual([`# ${String(10_000 - shown)} more files have changed: git bundle has them all.`]);
  });

  test('say what they are by names with line breaks, quotes and diffs in them, and by lines that look like a diff', async () => {
    const odd = 'a\ndiff --git a/fake b/fake\n--- "q"\t\\';
    const lines = 'one\rdiff --git a/spoof b/spoof\n diff --git a/x b/x\ndiff --git a/y b/y\n# no note\n';
    const first = commit({ 'z.txt': 'end\n' });
    const second = commit({ [odd]: Buffer.from([0]), 'b.txt': lines, 'Grüße ‮.md': 'Hello\n', 'z.txt': 'the end\n' });
    const made = await compared(first, second);
    expect(made.files).toEqual({ added: 3, changed: 1, removed: 0 });
    expect(linesOf(made).filter((line) => line.startsWith('diff --git '))).toEqual([
      'diff --git a/Grüße ‮.md b/Grüße ‮.md',
      'diff --git a/b.txt b/b.txt',
      'diff --git a/z.txt b/z.txt',
    ]);
    expect(notesOf(made)).toEqual([
      String.raw`# "a\ndiff --git a/fake b/fake\n--- \"q\"\t\\" was added: it is no text, or longer than 1 MB.`,
    ]);
  });

  test('have subjects, authors and times as far as they can be shown', async () => {
    const first = commit({ 'a.txt': 'one\n' });
    const env = { GIT_AUTHOR_NAME: 'n'.repeat(1_000), GIT_AUTHOR_DATE: '@999999999999 +0000' };
    commit({ 'a.txt': 'two\n' }, `${'😀'.repeat(400)}\n\nMore.`, env);
    for (let number = 0; number < 120; number += 1)
      git('commit', '--quiet', '--allow-empty', '--message', `Number ${String(number)}`);
    const last = git('rev-parse', 'HEAD');
    pack(last);
    const made = await compared(first, last);
    expect({ ahead: made.ahead, listed: made.commits.length, newest: made.commits[0]?.subject }).toEqual({
      ahead: 121,
      listed: 100,
      newest: 'Number 119',
    });
    const [one] = (await compared(first, git('rev-parse', 'HEAD~120'))).commits;
    expect([one?.subject, one?.author.length]).toEqual(['😀'.repeat(150), 200]);
    expect(one?.at ?? null).toBe(null);
  });
});
