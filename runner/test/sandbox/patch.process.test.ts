import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import fc, { caseCount } from '../../../test/support/fast-check.js';
import { anyText } from '../../../test/support/any-text.js';
import { createSandbox, type TestSandbox } from '../support/sandbox.js';

let scratch: string;
let box: TestSandbox;
beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'suzumio-diff-'));
  box = await createSandbox();
});
afterEach(async () => {
  await rm(scratch, { recursive: true, force: true });
  await box.remove();
});

/** Lines that look like parts of a patch are the ones that may be misread. */
const line = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('', 'a', 'b', 'c', '}', '  x') },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '-- a',
      '--- a/f',
      '+++ b/f',
      '@@ -1 +1 @@',
      '\\ No newline',
      'diff --git a/f b/f',
      '-',
      '+',
      ' ',
      '-- ',
    ),
  },
  { weight: 1, arbitrary: anyText(6).map((text) => text.replace(/[\n\0]/g, '')) },
);
const ending = fc.constantFrom('\n', '\r\n');
const text = fc
  .tuple(fc.array(line, { maxLength: 30 }), ending, fc.boolean())
  .map(([lines, end, isEnded]) => (lines.length === 0 ? '' : lines.join(end) + (isEnded ? end : '')));

/** A text, and one that came of it by a few changes. */
const edited = fc
  .tuple(text, fc.array(fc.tuple(fc.nat(), fc.constantFrom('insert', 'delete', 'change'), line), { maxLength: 5 }))
  .map(([before, edits]) => {
    const end = before.includes('\r\n') ? '\r\n' : '\n';
    const lines = before.split(end);
    for (const [at, kind, put] of edits) {
      const index = at % (lines.length + 1);
      lines.splice(index, kind === 'insert' ? 0 : 1, ...(kind === 'delete' ? [] : [put]));
    }
    return [before, lines.join(end)] as const;
  });

/** What Git takes for no text at all. */
const isText = (content: string): boolean => !content.includes('\0');

test.each([
  ['git diff', ['git', 'diff', '--no-index', '--no-prefix', '--no-color', '--text']],
  ['git diff -U0', ['git', 'diff', '--no-index', '--no-prefix', '--no-color', '--text', '-U0']],
  ['diff -u', ['diff', '-u', '-a']],
])('what %s tells of two files makes the second of the first', async (_, [program = '', ...args]) => {
  await mkdir(join(scratch, 'a'));
  await mkdir(join(scratch, 'b'));
  await fc.assert(
    fc.asyncProperty(edited, async ([before, after]) => {
      fc.pre(isText(before) && isText(after));
      await writeFile(join(scratch, 'a', 'f'), before);
      await writeFile(join(scratch, 'b', 'f'), after);
      await writeFile(join(box.workspace, 'f'), before);
      const { stdout } = spawnSync(program, [...args, 'a/f', 'b/f'], { cwd: scratch });
      if (stdout.length > 0) await box.run('file.patch', { patch: stdout.toString() });
      expect(await readFile(join(box.workspace, 'f'), 'utf8')).toBe(after);
    }),
    { numRuns: caseCount(40) },
  );
});

test('a commit of many files, with renames, modes and odd names, is applied as Git has it', async () => {
  const repository = join(scratch, 'repository');
  await mkdir(join(repository, 'src'), { recursive: true });
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', '-c', 'core.autocrlf=false', ...args], {
      cwd: repository,
      encoding: 'utf8',
      env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' },
    });
  const put = (path: string, content: string): Promise<void> => writeFile(join(repository, path), content);
  git('init', '-q');
  const long = Array.from({ length: 60 }, (_, index) => `line ${index}\n`).join('');
  for (const path of ['kept', 'src/renamed', 'removed', 'tab\tname', 'with space', 'café "quoted"', 'script'])
    await put(path, long);
  await put('empty', '');
  git('add', '-A');
  git('commit', '-qm', 'before');
  git('archive', '-o', '../before.tar', 'HEAD');
  execFileSync('tar', ['-xf', join(scratch, 'before.tar'), '-C', box.workspace]);
  await put('kept', long.replace('line 3\n', '').replace('line 50\n', 'line fifty\nand more\n'));
  git('mv', 'src/renamed', 'moved');
  await put('moved', long.replace('line 7', 'line seven'));
  git('rm', '-q', 'removed', 'empty');
  for (const path of ['tab\tname', 'with space', 'café "quoted"']) await put(path, `${long}end`);
  await put('new file', 'new');
  await put('new empty', '');
  execFileSync('chmod', ['+x', join(repository, 'script')]);
  git('add', '-A');
  git('commit', '-qm', 'after');
  await box.run('file.patch', { patch: git('show', '-M', 'HEAD') });
  const files = git('ls-files', '-z').split('\0').filter(Boolean);
  // A directory that has become empty stays; Git has none.
  const found = (await readdir(box.workspace, { recursive: true })).filter((path) => path !== 'src');
  expect(found.sort()).toEqual(files.sort());
  for (const path of files) {
    expect([path, await readFile(join(box.workspace, path), 'utf8')]).toEqual([
      path,
      await readFile(join(repository, path), 'utf8'),
    ]);
  }
  execFileSync('test', ['-x', join(box.workspace, 'script')]);
});

test('what diff tells of directories makes new files and removes old ones', async () => {
  for (const side of ['a', 'b']) await mkdir(join(scratch, side));
  await writeFile(join(scratch, 'a', 'old'), 'old\n');
  await writeFile(join(scratch, 'b', 'new'), 'new\n');
  await writeFile(join(box.workspace, 'old'), 'old\n');
  const { stdout } = spawnSync('diff', ['-ruN', 'a', 'b'], { cwd: scratch, env: { ...process.env, TZ: 'Asia/Tokyo' } });
  const { output } = await box.run('file.patch', { patch: stdout.toString() });
  expect(output.split('\n').sort()).toEqual(['Added new (+1 -0).', 'Deleted old (+0 -1).']);
  expect(await readdir(box.workspace)).toEqual(['new']);
});
