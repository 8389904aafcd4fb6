import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createSandbox, type TestSandbox } from '../support/sandbox.js';

let box: TestSandbox;
beforeEach(async () => (box = await createSandbox()));
afterEach(() => box.remove());

async function put(path: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(join(box.workspace, path)), { recursive: true });
  await writeFile(join(box.workspace, path), content);
}
const content = (path: string): Promise<string> => readFile(join(box.workspace, path), 'latin1');
const patch = (text: string) => box.run('file.patch', { patch: text });
const refused = (text: string) => box.refused('file.patch', { patch: text });

const poem = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n';
const change = '--- a/poem\n+++ b/poem\n@@ -2,3 +2,4 @@\n two\n-three\n+3\n+3.5\n four\n';

describe('a unified diff', () => {
  test('changes a file, which stays the program that it is', async () => {
    await put('poem', poem);
    await chmod(join(box.workspace, 'poem'), 0o755);
    const { output, metadata } = await patch(change);
    expect(output).toBe('Changed poem (+2 -1).');
    expect(metadata).toEqual({ files: [{ path: 'poem', change: 'changed' }] });
    expect(await content('poem')).toBe('one\ntwo\n3\n3.5\nfour\nfive\nsix\nseven\n');
    expect((await stat(join(box.workspace, 'poem'))).mode & 0o777).toBe(0o755);
  });

  test('changes a file of very many lines', async () => {
    const many = 'x\n'.repeat(300_000);
    await put('poem', many + poem);
    await patch(change);
    expect(await content('poem')).toBe(`${many}${poem.replace('three\n', '3\n3.5\n')}`);
  });

  test('is found where its lines are, and says where', async () => {
    await put('poem', `zero\nhalf\n${poem}`);
    expect((await patch(change)).output).toBe('Changed poem (+2 -1; hunk 1 found at line 4, 2 lines after its own).');
  });

  test.each([
    ['wrong counts', change.replace('@@ -2,3 +2,4 @@', '@@ -2,9 +2,1 @@')],
    [
      'counts that are one too high, and a line break after it',
      `${change.replace('@@ -2,3 +2,4 @@', '@@ -2,4 +2,5 @@')}\n`,
    ],
    ['an old count that is one too high', `${change.replace('@@ -2,3 +2,4 @@', '@@ -2,4 +2,4 @@')}\n`],
    ['no numbers', change.replace('@@ -2,3 +2,4 @@', '@@')],
    ['a heading for numbers', change.replace('@@ -2,3 +2,4 @@', '@@ verse one')],
    ['no prefixes', change.replace('a/poem', 'poem').replace('b/poem', 'poem')],
    ['the name of a backup', change.replace('a/poem', 'poem.orig\t2026-01-01 00:00:00').replace('b/poem', 'poem')],
    ['CR LF', change.replaceAll('\n', '\r\n')],
    ['words before it', `Here is the patch:\n\n${change}`],
    ['no line break at its end', change.trimEnd()],
    ['empty lines after it', `${change}\n\n`],
  ])('with %s', async (_, text) => {
    await put('poem', poem);
    await patch(text);
    expect(await content('poem')).toBe('one\ntwo\n3\n3.5\nfour\nfive\nsix\nseven\n');
  });

  test('for a CR LF file', async () => {
    await put('poem', poem.replaceAll('\n', '\r\n'));
    await patch(change);
    expect(await content('poem')).toBe('one\r\ntwo\r\n3\r\n3.5\r\nfour\r\nfive\r\nsix\r\nseven\r\n');
  });

  test('keeps bytes that are no UTF-8', async () => {
    await put('poem', Buffer.concat([Buffer.from(poem), Buffer.from('caf\xe9\n', 'latin1')]));
    await patch(change);
    expect(await content('poem')).toMatch(/seven\ncaf\xe9\n$/);
  });

  test.each([
    ['off', 'a\nb', '@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n', 'a\nc\n'],
    ['on', 'a\nb\n', '@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline at end of file\n', 'a\nc'],
    ['kept', 'a\nb', '@@ -1,2 +1,2 @@\n-a\n+c\n b\n\\ No newline at end of file\n', 'c\nb'],
    ['forgotten', 'a\nb', '@@ -1,2 +1,2 @@\n-a\n+c\n b\n', 'c\nb'],
  ])('with its mark of a missing line break %s', async (_, before, hunk, after) => {
    await put('f', before);
    await patch(`--- a/f\n+++ b/f\n${hunk}`);
    expect(await content('f')).toBe(after);
  });

  test('makes, deletes, renames and copies files, all in one', async () => {
    await put('old', 'gone\n');
    await put('from', 'same\n');
    await put('here', 'x\ny\n');
    await put('src/copied', 'c\n');
    const { output } = await patch(
      [
        'diff --git a/deep/new.sh b/deep/new.sh',
        'new file mode 100755',
        'index 0000000..1111111',
        '--- /dev/null',
        '+++ b/deep/new.sh',
        '@@ -0,0 +1,2 @@',
        '+#!/bin/sh',
        '+true',
        'diff --git a/old b/old',
        'deleted file mode 100644',
        '--- a/old',
        '+++ /dev/null',
        '@@ -1 +0,0 @@',
        '-gone',
        'diff --git a/from b/to',
        'similarity index 100%',
        'rename from from',
        'rename to to',
        'diff --git a/here b/there',
        'similarity index 50%',
        'rename from here',
        'rename to there',
        '--- a/here',
        '+++ b/there',
        '@@ -1,2 +1,2 @@',
        ' x',
        '-y',
        '+z',
        'diff --git a/src/copied b/copy',
        'similarity index 100%',
        'copy from src/copied',
        'copy to copy',
        'diff --git "a/caf\\303\\251" "b/caf\\303\\251"',
        'new file mode 100644',
        '',
      ].join('\n'),
    );
    expect(output.split('\n')).toEqual([
      'Added deep/new.sh (+2 -0).',
      'Deleted old (+0 -1).',
      'Renamed from to to (+0 -0).',
      'Renamed here to there (+1 -1).',
      'Copied src/copied to copy (+0 -0).',
      'Added café (+0 -0).',
    ]);
    expect((await readdir(box.workspace)).sort()).toEqual(['café', 'copy', 'deep', 'src', 'there', 'to']);
    expect(await content('there')).toBe('x\nz\n');
    expect((await stat(join(box.workspace, 'deep/new.sh'))).mode & 0o111).not.toBe(0);
  });

  test('that half matches changes nothing, and shows the nearest lines', async () => {
    await put('poem', poem);
    await put('other', 'a\n  b\nc\n');
    const half = `${change}--- /dev/null\n+++ b/x/y/new\n@@ -0,0 +1 @@\n+new\n--- a/other\n+++ b/other\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n`;
    expect(await refused(half)).toEqual({
      code: 'patch-mismatch',
      message:
        'Hunk 1 of 1 is not in other as it is; nothing was changed. Nearest, from line 1:\n' +
        '  1\ta\n! 2\t  b\n  wanted, which differs in white space: "b"\n  3\tc',
    });
    expect(await content('poem')).toBe(poem);
    expect((await readdir(box.workspace)).sort()).toEqual(['other', 'poem']);
  });

  test('without numbers says where it might be meant', async () => {
    await put('twice', 'a\nb\na\n');
    expect((await refused('--- a/twice\n+++ b/twice\n@@\n-a\n+b\n')).message).toBe(
      'Hunk 1, which names no line, is 2 times in twice, from lines 1, 3; nothing was changed. Give more of what is around it, or replaceAll.',
    );
  });

  test.each([
    ['nothing', 'hello', 'patch-invalid'],
    ['a hunk without a file', '@@ -1 +1 @@\n-a\n+b\n', 'patch-invalid'],
    ['a hunk that changes nothing', '--- a/poem\n+++ b/poem\n@@ -1 +1 @@\n one\n', 'patch-invalid'],
    ['a binary file', 'diff --git a/x b/x\nindex 1..2 100644\nBinary files a/x and b/x differ\n', 'patch-unsupported'],
    ['a binary patch', 'diff --git a/x b/x\nindex 1..2\nGIT binary patch\nliteral 0\n', 'patch-unsupported'],
    [
      'a link',
      'diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+poem\n',
      'patch-unsupported',
    ],
    [
      'a submodule',
      'diff --git a/x b/x\nnew file mode 160000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+S\n',
      'patch-unsupported',
    ],
    ['a file that is there', '--- /dev/null\n+++ b/poem\n@@ -0,0 +1 @@\n+a\n', 'file-exists'],
    ['a file that is not', '--- a/no\n+++ b/no\n@@ -1 +1 @@\n-a\n+b\n', 'file-unknown'],
    ['half a deletion', '--- a/poem\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n', 'patch-mismatch'],
    ['a place outside', '--- a/../outside/x\n+++ b/../outside/x\n@@ -0,0 +1 @@\n+a\n', 'path-outside'],
    ['a link that leads out', '--- a/out\n+++ b/out\n@@ -0,0 +1 @@\n+a\n', 'path-outside'],
    ['two places', '--- a/twice\n+++ b/twice\n@@\n-a\n+b\n', 'patch-ambiguous'],
    ['a program', '--- a/bin\n+++ b/bin\n@@ -1 +1 @@\n-a\n+b\n', 'binary-file'],
  ])('for %s is refused', async (_, text, code) => {
    await put('poem', poem);
    await put('twice', 'a\na\n');
    await put('bin', 'a\0b');
    await symlink('../outside/x', join(box.workspace, 'out'));
    const before = await readdir(box.workspace);
    expect(await refused(text)).toMatchObject({ code });
    expect(await readdir(box.workspace)).toEqual(before);
    expect(await readdir(box.outside)).toEqual([]);
    expect(await content('poem')).toBe(poem);
  });
});

describe('search and replace', () => {
  const replace = (input: object) => box.run('file.patch', { path: 'poem', ...input });

  test('replaces what is there once', async () => {
    await put('poem', poem);
    expect((await replace({ search: 'two\nthree', replace: '$& $1' })).output).toBe('Changed poem (1 replacement).');
    expect(await content('poem')).toBe('one\n$& $1\nfour\nfive\nsix\nseven\n');
    await replace({ search: 'four\n' });
    expect(await content('poem')).toBe('one\n$& $1\nfive\nsix\nseven\n');
  });

  test('in a CR LF file', async () => {
    await put('poem', 'one\r\ntwo\r\n');
    await replace({ search: 'one\ntwo', replace: '1\n2' });
    expect(await content('poem')).toBe('1\r\n2\r\n');
  });

  test('of what is there more than once needs replaceAll', async () => {
    await put('poem', 'a b\na\nc a\n');
    const { code, message } = await box.refused('file.patch', { path: 'poem', search: 'a', replace: 'x' });
    expect([code, message]).toEqual([
      'patch-ambiguous',
      'The text to be replaced is 3 times in poem, from lines 1, 2, 3; nothing was changed. Give more of what is around it, or replaceAll.',
    ]);
    await replace({ search: 'a', replace: 'x', replaceAll: true });
    expect(await content('poem')).toBe('x b\nx\nc x\n');
  });

  test('of what is not there shows what is like it', async () => {
    await put('poem', 'function sum(a, b) {\n  return a + b;\n}\n');
    const nearest = async (search: string) =>
      (await box.refused('file.patch', { path: 'poem', search, replace: '' })).message;
    expect(await nearest('function sum(a, b) {\n    return a + b;')).toContain(
      '! 2\t  return a + b;\n  wanted, which differs in white space: "    return a + b;"',
    );
    await put('ends', 'one \ntwo\nthree\n');
    const search = 'one\nTWO\n';
    expect((await box.refused('file.patch', { path: 'ends', search, replace: '' })).message).toContain(
      '! 1\t"one "\n  wanted, which differs in how the line ends: "one"\n! 2\ttwo',
    );
    expect(await nearest('function sum(b, a) {')).toContain('! 1\tfunction sum(a, b) {');
    expect(await nearest('nothing of the kind')).toContain('Nothing in the file is like it.');
  });
});

describe('the published operations', () => {
  test('are done in their order, each on what those before it made', async () => {
    await put('old', 'old\n');
    await put('kept', 'a a\n');
    const { output } = await box.run('file.patch', {
      operations: [
        { op: 'add', path: 'deep/new', content: 'one\n', createDirs: true },
        { op: 'update', path: './deep/new', search: 'one', replace: 'two' },
        { op: 'update', path: 'kept', search: 'a', replace: 'b', replaceAll: true },
        { op: 'add', path: 'old', content: 'new\n' },
        { op: 'add', path: 'gone', content: '' },
        { op: 'delete', path: 'gone' },
      ],
    });
    expect(output.split('\n')).toEqual([
      'Added deep/new.',
      'Changed ./deep/new (1 replacement).',
      'Changed kept (2 replacements).',
      'Wrote over old.',
      'Added gone.',
      'Deleted gone.',
    ]);
    expect([await content('deep/new'), await content('kept'), await content('old')]).toEqual([
      'two\n',
      'b b\n',
      'new\n',
    ]);
    expect((await readdir(box.workspace)).sort()).toEqual(['deep', 'kept', 'old']);
  });

  test('are all done or none', async () => {
    await put('kept', 'a\n');
    const operations = [
      { op: 'add', path: 'x/y/new', content: '', createDirs: true },
      { op: 'delete', path: 'kept' },
      { op: 'update', path: 'missing', search: 'a' },
    ];
    expect(await box.refused('file.patch', { operations })).toMatchObject({ code: 'file-unknown' });
    expect(await readdir(box.workspace)).toEqual(['kept']);
  });

  test('a link is deleted, not what it leads to', async () => {
    await put('real', 'a\n');
    await symlink('real', join(box.workspace, 'link'));
    await box.run('file.patch', { operations: [{ op: 'delete', path: 'link' }] });
    expect(await readdir(box.workspace)).toEqual(['real']);
  });
});

test.each([
  [{}],
  [{ patch: change, path: 'poem', search: 'a' }],
  [{ path: 'poem', replace: 'a' }],
  [{ search: 'a', replace: 'b' }],
  [{ path: 'poem' }],
  [{ operations: [] }],
  [{ operations: [{ op: 'add', path: 'a' }] }],
  [{ operations: [{ op: 'update', path: 'a' }] }],
  [{ operations: [{ op: 'move', path: 'a' }] }],
])('the input %j is refused', async (input) => {
  expect(await box.refused('file.patch', input)).toMatchObject({ code: 'input-invalid' });
});

test('where the last of several changes fails, those before it are undone', async () => {
  await put('a', 'a\n');
  await put('b', 'b\n');
  await put('c', 'c\n');
  // The last file is replaced by another program once the others have taken their places.
  const { roots } = box.sandbox;
  const find = roots.find.bind(roots);
  roots.find = async (path, way) => {
    const place = await find(path, way);
    if (path === 'c') {
      const rename = place.directory.rename.bind(place.directory);
      place.directory.rename = (from, to) => (to === 'c' ? rename(from, 'no/such/place') : rename(from, to));
    }
    return place;
  };
  const operations = [
    { op: 'update', path: 'a', search: 'a', replace: 'A' },
    { op: 'delete', path: 'b' },
    { op: 'add', path: 'new', content: '' },
    { op: 'update', path: 'c', search: 'c', replace: 'C' },
  ];
  expect(await box.refused('file.patch', { operations })).toMatchObject({ code: 'path-changed' });
  expect((await readdir(box.workspace)).sort()).toEqual(['a', 'b', 'c']);
  expect([await content('a'), await content('b'), await content('c')]).toEqual(['a\n', 'b\n', 'c\n']);
});
