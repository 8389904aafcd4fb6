import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { recoverReplacements } from '@suzumio/runner/work-tree/replace-files';
import type { WorkTreeError } from '@suzumio/runner/work-tree/work-tree-error';
import { change, Own, week } from './support.js';

let own: Own;
const lines = Array.from({ length: 20 }, (_, at) => `line ${at + 1}\n`).join('');
const line = (at: number, to: string, text = lines) => text.replace(`line ${at}\n`, `${to}\n`);
beforeEach(() => {
  own = new Own();
  own.repository.commit(
    { 'a.txt': lines, 'docs/d.txt': lines, 'gone.txt': 'gone\n', '.gitignore': 'built/\n' },
    'First',
  );
});
afterEach(() => own.remove());

const at = (name: string) => join(own.path, name);
const read = (name: string) => readFileSync(at(name), 'utf8');
const write = (name: string, text: string) => {
  mkdirSync(join(at(name), '..'), { recursive: true });
  writeFileSync(at(name), text);
};
const area = () => at('.git/suzumio/replaced');
const replaced = () => (existsSync(area()) ? readdirSync(area()) : []);
const theirs = () => own.theirs({ 'docs/d.txt': line(3, 'theirs'), 'new/n.txt': 'new\n', 'gone.txt': null });
const isDone = () => {
  expect([read('docs/d.txt').includes('theirs\n'), read('new/n.txt'), existsSync(at('gone.txt'))]).toEqual([
    true,
    'new\n',
    false,
  ]);
};
const isUndone = () => {
  expect([read('docs/d.txt').includes('theirs\n'), existsSync(at('new')), read('gone.txt')]).toEqual([
    false,
    false,
    'gone\n',
  ]);
};

describe('only what a patch touches is looked at', () => {
  test.each([
    ['of which the person has said that it is unchanged', '--assume-unchanged'],
    ['of which the person has said that it is not there, and which is', '--skip-worktree'],
  ])('a file %s keeps the line of the person', async (_, flag) => {
    write('docs/d.txt', line(15, 'my local password'));
    own.git('update-index', flag, 'docs/d.txt');
    expect(await change(own.path, theirs())).toMatchObject({
      paths: ['docs/d.txt', 'gone.txt', 'new/n.txt'],
      conflicts: [],
    });
    expect(read('docs/d.txt')).toBe(line(3, 'theirs', line(15, 'my local password')));
    isDone();
  });

  test('beside a repository without a commit, a pipe, 5 GB, a conflict in another file, and without a temporary directory', async () => {
    own.git('init', '--quiet', 'nested');
    execFileSync('mkfifo', [at('pipe')]);
    write('large', '');
    truncateSync(at('large'), 5 * 2 ** 30);
    own.git('checkout', '--quiet', '-b', 'other');
    write('a.txt', line(1, 'other'));
    own.git('commit', '--quiet', '--message', 'Other', 'a.txt');
    own.git('checkout', '--quiet', 'main');
    write('a.txt', line(1, 'mine'));
    own.git('commit', '--quiet', '--message', 'Mine', 'a.txt');
    expect(() => own.git('merge', '--quiet', 'other')).toThrow();
    const index = readFileSync(at('.git/index'));
    const before = process.env['TMPDIR'];
    process.env['TMPDIR'] = at('no-such-directory');
    try {
      await change(own.path, theirs());
    } finally {
      if (before === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = before;
    }
    isDone();
    expect(readFileSync(at('.git/index')).equals(index)).toBe(true);
    expect(read('a.txt')).toContain('<<<<<<<');
  });

  test('a file keeps who may read it, and is executable where Git says so', async () => {
    chmodSync(at('docs/d.txt'), 0o640);
    write('run.sh', '#!/bin/sh\n');
    own.git('add', 'run.sh');
    own.git('commit', '--quiet', '--message', 'Run');
    const tree = own.theirs({ 'docs/d.txt': line(3, 'theirs') });
    const run = own.git('ls-tree', tree).split('\n');
    const executable = run.map((entry) => (entry.endsWith('run.sh') ? entry.replace('100644', '100755') : entry));
    const made = execFileSync('git', ['-C', own.path, 'mktree'], {
      input: `${executable.join('\n')}\n`,
      encoding: 'utf8',
    }).trim();
    chmodSync(at('run.sh'), 0o600);
    await change(own.path, made);
    expect([statSync(at('docs/d.txt')).mode & 0o777, statSync(at('run.sh')).mode & 0o777]).toEqual([0o640, 0o700]);
  });

  test('in a repository whose path has a colon and a quotation mark', async () => {
    const odd = join(own.directory, 'o"d:d');
    renameSync(own.path, odd);
    const tree = execFileSync('git', ['-C', odd, 'rev-parse', 'HEAD^{tree}'], { encoding: 'utf8' }).trim();
    expect(await change(odd, tree)).toMatchObject({ paths: [] });
    renameSync(odd, own.path);
    const wanted = theirs();
    renameSync(own.path, odd);
    expect((await change(odd, wanted)).paths).toEqual(['docs/d.txt', 'gone.txt', 'new/n.txt']);
  });

  test('a file of a person that was renamed in a commit gets the change of its old name', async () => {
    const tree = own.theirs({ 'docs/d.txt': line(3, 'theirs') });
    const base = own.git('rev-parse', 'HEAD^{tree}');
    own.git('mv', 'docs/d.txt', 'renamed.txt');
    own.git('commit', '--quiet', '--message', 'Renamed');
    const { ChangingTree } = await import('@suzumio/runner/work-tree/changing-tree');
    const merged = await ChangingTree.change(own.path, { env: process.env, retentionMs: week }, async (files) => {
      const result = await files.merged({ base, theirs: tree }, { ours: 'yours', theirs: 'patch' });
      return (await files.move(result.files, result.tree)).paths;
    });
    expect([merged, read('renamed.txt')]).toEqual([['renamed.txt'], line(3, 'theirs')]);
  });
});

describe('is refused with a sentence that names the path, and changes nothing:', () => {
  const refused = async (tree: string, sentence: RegExp) => {
    const before = own.git('status', '--porcelain', '--untracked-files=all');
    await expect(change(own.path, tree)).rejects.toThrow(sentence);
    expect(own.git('status', '--porcelain', '--untracked-files=all')).toBe(before);
    expect(replaced()).toEqual([]);
  };

  test.each([
    ['patterns', ['--no-cone', '/a.txt', '/gone.txt', '/.gitignore']],
    ['a sparse index', ['--cone', '--sparse-index', 'src']],
  ])('a file outside of a sparse checkout by %s, until it is brought in', async (_, options) => {
    own.repository.commit({ 'src/s.txt': 's\n' }, 'Source');
    own.git('sparse-checkout', 'set', ...options);
    expect(existsSync(at('docs'))).toBe(false);
    await refused(
      theirs(),
      /^Nothing was changed: docs\/d\.txt is outside of your sparse checkout\..*sparse-checkout add docs/,
    );
    own.git('sparse-checkout', 'add', 'docs');
    await change(own.path, theirs());
    isDone();
  });

  test.each([
    ['a link', () => symlinkSync('/etc', at('docs')), 'docs is a link, so docs/d.txt cannot be written below it'],
    ['a file', () => write('docs', 'mine\n'), 'docs is a file, so docs/d.txt cannot'],
    [
      'a repository of its own',
      () => own.git('init', '--quiet', 'docs'),
      'docs/d.txt is in docs, which is a repository of its own',
    ],
  ])('a path below %s', async (_, make, sentence) => {
    rmSync(at('docs'), { recursive: true });
    make();
    await refused(theirs(), new RegExp(`^Nothing was changed: ${sentence}`));
  });

  test.each(['.GIT', '.git.', '.git ', 'git~1', '.g\u200cit', '.git::$INDEX_ALLOCATION', 'x\\.git', '.Suzumio'])(
    'a path in %j',
    async (name) => {
      await refused(
        own.hostile(`${name}/hooks/post-checkout`, '#!/bin/sh\n'),
        /Nothing was changed: .* into which no patch is written/,
      );
    },
  );

  test.each([
    ['GONE.txt', 'GONE.txt and gone.txt differ only in case'],
    ['Docs/other.txt', 'Docs and docs differ only in case'],
    ['cafe\u0301.txt', 'café.txt'],
  ])('a new path that is another one on some disks: %s', async (path, sentence) => {
    write('caf\u00e9.txt', 'mine\n');
    await refused(own.theirs({ [path]: 'theirs\n' }), new RegExp(`^Nothing was changed: .*${sentence}`));
  });

  test('a directory, a pipe or an ignored file where a new file would be, and a submodule', async () => {
    mkdirSync(at('new'));
    execFileSync('mkfifo', [at('pipe')]);
    write('built/out', 'mine\n');
    await refused(own.theirs({ new: 'x\n' }), /^Nothing was changed: new is a directory, where the patch has a file/);
    await refused(own.theirs({ pipe: 'x\n' }), /^Nothing was changed: pipe: it is neither a file nor a link/);
    await refused(
      own.theirs({ 'built/out': 'x\n' }),
      /"built\/out", which \.gitignore names, is where a new one would be/,
    );
    const entry = `160000 commit ${own.git('rev-parse', 'HEAD')}\tsub`;
    const input = `${own.git('ls-tree', 'HEAD')}\n${entry}\n`;
    const tree = execFileSync('git', ['-C', own.path, 'mktree'], { input, encoding: 'utf8' }).trim();
    await refused(tree, /^Nothing was changed: sub is a submodule/);
    expect(read('built/out')).toBe('mine\n');
  });

  test('two changes at once', async () => {
    const tree = theirs();
    let second: unknown;
    await change(own.path, tree, (step) => {
      if (step.startsWith('link '))
        second ??= change(own.path, tree).then(
          () => 'done',
          (error: unknown) => error,
        );
    });
    expect(await second).toMatchObject({
      message: expect.stringMatching(/^Nothing was changed: process \d+ changes files/),
    });
    isDone();
  });
});

describe('what a person writes while it runs is not lost', () => {
  const writes: [string, (step: string) => unknown, () => void][] = [
    [
      'saved in place before it is set aside',
      (step) => step === 'set aside docs/d.txt' && appendFileSync(at('docs/d.txt'), 'saved\n'),
      () => expect(read('docs/d.txt')).toBe(`${lines}saved\n`),
    ],
    [
      'saved as a new file',
      (step) => {
        if (step !== 'set aside docs/d.txt') return;
        write('docs/next', 'saved\n');
        renameSync(at('docs/next'), at('docs/d.txt'));
      },
      () => expect(read('docs/d.txt')).toBe('saved\n'),
    ],
    [
      'saved between',
      (step) => step === 'link docs/d.txt' && write('docs/d.txt', 'saved\n'),
      () => expect(read('docs/d.txt')).toBe('saved\n'),
    ],
    [
      'removed',
      (step) => step === 'set aside docs/d.txt' && rmSync(at('docs/d.txt')),
      () => expect(existsSync(at('docs/d.txt'))).toBe(false),
    ],
    [
      'made where a new one comes',
      (step) => step === 'link new/n.txt' && write('new/n.txt', 'mine\n'),
      () => expect(read('new/n.txt')).toBe('mine\n'),
    ],
  ];
  test.each(writes)('%s', async (_, step, isKept) => {
    await expect(change(own.path, theirs(), step)).rejects.toThrow(
      /while this ran|cannot be written|is a link|was changed/,
    );
    isKept();
    expect(read('gone.txt')).toBe('gone\n');
  });

  test('a directory that becomes a link on the way: what was set aside is named', async () => {
    const step = (name: string) => {
      if (name !== 'set aside docs/d.txt') return;
      renameSync(at('docs'), at('moved'));
      symlinkSync('moved', at('docs'));
    };
    const refusal = await change(own.path, theirs(), step).catch((error: unknown) => error as WorkTreeError);
    expect(refusal).toMatchObject({
      message: expect.stringMatching(/^docs is a link.*All else is as it was, but not: docs\/d\.txt/),
    });
    const { left } = refusal as WorkTreeError;
    expect(left.map(({ copy }) => readFileSync(copy, 'utf8'))).toEqual([lines]);
    expect([readlinkSync(at('docs')), read('gone.txt'), existsSync(at('new'))]).toEqual(['moved', 'gone\n', false]);
  });

  test('by an editor that has the file open: put back with what was written, or kept and told by the next run', async () => {
    const editor = openSync(at('docs/d.txt'), 'a');
    const tree = theirs();
    const write = (step: string) => void (step === 'linked new/n.txt' && writeSync(editor, 'typed\n'));
    await expect(change(own.path, tree, write)).rejects.toThrow(
      'Nothing was changed: docs/d.txt was written to while this ran. Do it again.',
    );
    expect(read('docs/d.txt')).toBe(`${lines}typed\n`);
    isUndone();
    await change(own.path, tree);
    isDone();
    writeSync(editor, 'typed late\n');
    closeSync(editor);
    const later = Date.now() + week;
    const { late } = await recoverReplacements(area(), week, later);
    expect(late).toMatchObject([{ path: 'docs/d.txt' }]);
    expect(readFileSync(late[0]?.copy ?? '', 'utf8')).toBe(`${lines}typed\ntyped late\n`);
  });

  test('into a new file before all is put back: it stays, and is named', async () => {
    const editor = openSync(at('docs/d.txt'), 'a');
    const step = (name: string) => {
      if (name !== 'linked new/n.txt') return;
      writeSync(editor, 'typed\n');
      appendFileSync(at('new/n.txt'), 'mine\n');
    };
    const refusal = await change(own.path, theirs(), step).catch((error: unknown) => error as WorkTreeError);
    closeSync(editor);
    expect(refusal).toMatchObject({
      message: expect.stringMatching(/^docs\/d\.txt was written to.* All else is as it was, but not: new\/n\.txt/),
    });
    expect([read('new/n.txt'), read('docs/d.txt')]).toEqual(['new\nmine\n', `${lines}typed\n`]);
  });

  test('into a new file that was taken away again, by an editor that has it open: kept, and told by the next run', async () => {
    const editor = openSync(at('docs/d.txt'), 'a');
    let opened = 0;
    const step = (name: string) => {
      if (name !== 'linked new/n.txt') return;
      writeSync(editor, 'typed\n');
      opened = openSync(at('new/n.txt'), 'a');
    };
    await expect(change(own.path, theirs(), step)).rejects.toThrow(/^Nothing was changed/);
    writeSync(opened, 'typed late\n');
    for (const descriptor of [editor, opened]) closeSync(descriptor);
    const { late } = await recoverReplacements(area(), week, Date.now() + 2 * week);
    expect(late.map(({ path, copy }) => [path, readFileSync(copy, 'utf8')])).toEqual([
      ['new/n.txt', 'new\ntyped late\n'],
    ]);
  });

  test('what was replaced is kept for a week', async () => {
    await change(own.path, theirs());
    expect(readFileSync(join(area(), replaced()[0] ?? '', 'old/0'), 'utf8')).toBe(lines);
    await recoverReplacements(area(), week, Date.now() + week - 60_000);
    expect(replaced()).toHaveLength(1);
    await recoverReplacements(area(), week, Date.now() + week + 60_000);
    expect(replaced()).toEqual([]);
  });
});
