import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createSandbox, type TestSandbox } from '../support/sandbox.js';

let box: TestSandbox;
beforeEach(async () => (box = await createSandbox()));
afterEach(() => box.remove());

const put = (path: string, content: string | Buffer): Promise<void> => writeFile(join(box.workspace, path), content);
const bytes = (path: string): Promise<Buffer> => readFile(join(box.workspace, path));
const content = async (path: string): Promise<string> => (await bytes(path)).toString();
const read = async (input: object): Promise<string> => (await box.run('file.read', input)).output;
const replace = (path: string, search: string, replacement: string) =>
  box.run('file.patch', { path, search, replace: replacement });

describe('a long line is read to its end by what the notes say', () => {
  /** Reads a line by what each note says, and what was shown of it, joined. */
  async function whole(path: string, line: number, maxBytes: number): Promise<string> {
    const parts: string[] = [];
    let at: Record<string, number> = { offset: line, column: 1 };
    for (let times = 0; times < 2000; times += 1) {
      const output = await read({ path, maxBytes, ...at });
      const end = output.lastIndexOf('\n[');
      expect(output.startsWith(`${line}\t`)).toBe(true);
      parts.push(output.slice(`${line}\t`.length, end));
      const next = /go on with offset (\d+), column (\d+)\./.exec(output.slice(end));
      if (!next) return parts.join('');
      at = { offset: Number(next[1]), column: Number(next[2]) };
    }
    throw new Error('it has no end');
  }

  test.each([
    ['JSON', JSON.stringify(Array.from({ length: 30_000 }, (_, index) => ({ id: index }))), 50_000],
    ['characters of several bytes', '日本語😀é'.repeat(400), 37],
    ['characters of four bytes, and less room than one', '😀'.repeat(50), 1],
    ['CSV with CR LF', `${'a,b;'.repeat(3000)}\r`, 1000],
  ])('%s', async (_, text, maxBytes) => {
    await put('long', `first\n${text}\nlast\n`);
    expect(await whole('long', 2, maxBytes)).toBe(text.replace('\r', ''));
  });

  test('in UTF-16, and after a byte order mark', async () => {
    const text = 'wörter '.repeat(2000);
    await put('long', Buffer.from(`\ufeff${text}\nlast\n`, 'utf16le'));
    expect(await whole('long', 1, 3000)).toBe(text);
    await put('long', `\ufeff${text}\nlast\n`);
    expect(await whole('long', 1, 3000)).toBe(text);
  });

  test('in bytes that are no UTF-8, which are each shown', async () => {
    await put('long', Buffer.alloc(300, 0x80));
    expect(await whole('long', 1, 20)).toBe('\ufffd'.repeat(300));
  });

  test('from the mark of a line that was cut', async () => {
    await put('long', `a\n${'x'.repeat(3000)}END\nb\n`);
    const output = await read({ path: 'long' });
    expect(output).toContain('… [line cut: 3003 bytes; its column 2001 goes on]\n3\tb\n');
    expect(output).toContain(
      '[1 line too long to be shown whole: offset with the line and column with the byte show the rest.]',
    );
    expect(await read({ path: 'long', offset: 2, column: 2001 })).toBe(
      `2\t${'x'.repeat(1000)}END\n[Line 2, bytes 2001 to 3003 of 3003; go on with offset 3.]`,
    );
    expect(await read({ path: 'long', offset: 2, column: 9999 })).toBe(
      '2\t\n[Line 2 has 3003 bytes; go on with offset 3.]',
    );
  });

  test('no character is cut in a line that is shown in part', async () => {
    await put('long', `${'x'.repeat(1999)}${'😀'.repeat(900)}\n`);
    const output = await read({ path: 'long' });
    expect(output).not.toContain('\ufffd');
    expect(await whole('long', 1, 50_000)).toBe(`${'x'.repeat(1999)}${'😀'.repeat(900)}`);
  });
});

describe.each([
  ['UTF-16 LE with a byte order mark', (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')],
  ['UTF-16 BE with a byte order mark', (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
  ['UTF-16 LE without a byte order mark', (text: string) => Buffer.from(text, 'utf16le')],
  ['UTF-16 BE without a byte order mark', (text: string) => Buffer.from(text, 'utf16le').swap16()],
  ['UTF-8 with a byte order mark', (text: string) => Buffer.from(`\ufeff${text}`)],
])('%s', (name, encoded) => {
  const text = 'Name;Größe\r\nEins;1\r\nZwei 😀;2\r\n';

  test('is read', async () => {
    await put('f', encoded(text));
    expect(await read({ path: 'f' })).toBe(
      `1\tName;Größe\n2\tEins;1\n3\tZwei 😀;2\n[It is ${name}, which file.write and file.patch keep. Line endings are CR LF.]`,
    );
  });

  test('stays so, patched in each way', async () => {
    await put('f', encoded(text));
    await replace('f', 'Zwei 😀', 'Drei é');
    expect(await bytes('f')).toEqual(encoded('Name;Größe\r\nEins;1\r\nDrei é;2\r\n'));
    await box.run('file.patch', {
      patch: '--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n-Name;Größe\n+Name;Maß\n+Null;0\n Eins;1\n',
    });
    expect(await bytes('f')).toEqual(encoded('Name;Maß\r\nNull;0\r\nEins;1\r\nDrei é;2\r\n'));
    await box.run('file.patch', {
      operations: [
        { op: 'update', path: 'f', search: 'Null;0\n', replace: '' },
        { op: 'update', path: 'f', search: 'Eins;1', replace: 'Eins;11' },
      ],
    });
    expect(await bytes('f')).toEqual(encoded('Name;Maß\r\nEins;11\r\nDrei é;2\r\n'));
  });

  test('stays so, written over, and says it', async () => {
    await put('f', encoded(text));
    const { output } = await box.run('file.write', { path: 'f', content: 'neu: ä\n' });
    expect(output).toContain(`It stays ${name}; delete it first`);
    expect(output).toContain('Its lines ended with CR LF before, and end with LF now.');
    expect(await bytes('f')).toEqual(encoded('neu: ä\n'));
  });

  test('stays so, renamed by a patch', async () => {
    await put('f', encoded(text));
    await box.run('file.patch', {
      patch: 'diff --git a/f b/g\nrename from f\nrename to g\n--- a/f\n+++ b/g\n@@ -2 +2 @@\n-Eins;1\n+Eins;2\n',
    });
    expect(await bytes('g')).toEqual(encoded(text.replace('Eins;1', 'Eins;2')));
  });
});

describe('what is no text', () => {
  test.each([
    ['an array of numbers', Buffer.from(new Uint16Array([1, 2, 3, 300, 70, 80, 90, 10, 12, 0]).buffer)],
    ['NUL bytes between words', Buffer.from('one\0two\0three\0four\0')],
    [
      'UTF-16 with half a character',
      Buffer.concat([Buffer.from('\ufeffab', 'utf16le'), Buffer.from([0, 0xd8, 0x20, 0])]),
    ],
    ['UTF-32', Buffer.from('\xff\xfe\0\0a\0\0\0', 'latin1')],
  ])('%s is refused with another way', async (_, data) => {
    await put('f', data);
    const message = /is no text: .*A command (shows|makes)/;
    expect(await box.refused('file.read', { path: 'f' })).toMatchObject({
      code: 'binary-file',
      message: expect.stringMatching(message),
    });
    expect(await box.refused('file.patch', { path: 'f', search: 'a', replace: 'b' })).toMatchObject({
      code: 'binary-file',
      message: expect.stringMatching(message),
    });
    expect(await bytes('f')).toEqual(data);
  });

  test('UTF-16 that ends within a character is read, and not patched', async () => {
    const odd = Buffer.concat([Buffer.from('\ufeffab\n', 'utf16le'), Buffer.from([0x61])]);
    await put('f', odd);
    expect(await read({ path: 'f' })).toContain('1\tab');
    expect(await box.refused('file.patch', { path: 'f', search: 'a', replace: 'b' })).toMatchObject({
      code: 'binary-file',
    });
    expect(await bytes('f')).toEqual(odd);
  });

  test('Windows-1252 is told with a way on, and its bytes are kept', async () => {
    await put('f', Buffer.from('caf\xe9 one\nth\xe9 two\n', 'latin1'));
    expect(await read({ path: 'f' })).toContain(
      '0xE9 in line 1. If it is Windows-1252 or Latin-1, a command shows it: iconv',
    );
    await replace('f', 'caf\ufffd one', 'caf\ufffd 1');
    expect((await bytes('f')).toString('latin1')).toBe('caf\xe9 1\nth\xe9 two\n');
  });

  test('a replacement character that is one is no fault', async () => {
    await put('f', 'it is \ufffd\n');
    expect(await read({ path: 'f' })).toBe('1\tit is \ufffd');
  });
});

describe('what looks alike is taken where there is one such place', () => {
  test.each([
    ['no-break space', 'price:\u00a010 €\n', 'price: 10 €', 'price: 12 €', 'price:\u00a012 €\n'],
    ['narrow no-break space', '10\u202f000 km\n', '10 000 km', '10 000 m', '10\u202f000 m\n'],
    [
      'curly quotes',
      'say “yes” or ‘no’ now\n',
      `say "yes" or 'no' now`,
      `say "yes" or 'no' later`,
      'say “yes” or ‘no’ later\n',
    ],
    ['a dash', 'pages 3–5, all\n', 'pages 3-5, all', 'pages 3-5, some', 'pages 3–5, some\n'],
    ['full-width punctuation', 'name： value（x）\n', 'name: value(x)', 'name: other(x)', 'name： other（x）\n'],
    ['a decomposed accent', 'cafe\u0301 noir\n', 'café noir', 'café blanc', 'cafe\u0301 blanc\n'],
    ['a composed accent', 'café noir\n', 'cafe\u0301 noir', 'cafe\u0301 blanc', 'café blanc\n'],
    [
      'decomposed Hangul',
      '\u1112\u1161\u11ab\u1100\u1173\u11af end\n',
      '한글 end',
      '한글 fin',
      '\u1112\u1161\u11ab\u1100\u1173\u11af fin\n',
    ],
    ['a zero width space', 'foo\u200bbar = 1;\n', 'foobar = 1;', 'foobar = 2;', 'foo\u200bbar = 2;\n'],
    ['a soft hyphen', 'Donau\u00addampf fährt\n', 'Donaudampf fährt', 'Donaudampf steht', 'Donau\u00addampf steht\n'],
    ['an ellipsis', 'wait… then go\n', 'wait... then go', 'wait... then stop', 'wait… then stop\n'],
    [
      'a tab',
      '\tif (a)\n\t\tgo();\n',
      '    if (a)\n        go();',
      '    if (b)\n        go();\n        stop();',
      '\tif (b)\n\t\tgo();\n\t\tstop();\n',
    ],
    ['spaces for a tab', '    a: 1\n    b: 2\n', '\ta: 1\n', '\ta: 1\n\tc: 3\n', '    a: 1\n    c: 3\n    b: 2\n'],
    ['a tab within a line', 'a:\tb c\n', 'a:  b c', 'a:  b d', 'a:\tb d\n'],
    ['white space before a line break', 'one  \ntwo\n', 'one\ntwo', 'one\n2', 'one  \n2\n'],
    ['CR LF among LF', 'one\r\ntwo\nthree\r\n', 'one\ntwo', '1\ntwo', '1\r\ntwo\nthree\r\n'],
    [
      'a byte that is no UTF-8',
      Buffer.from('th\xe9 end\n', 'latin1'),
      'th\ufffd end',
      'th\ufffd fin',
      Buffer.from('th\xe9 fin\n', 'latin1'),
    ],
  ])('%s, in a search', async (_, before, search, replacement, after) => {
    const text = (part: string | Buffer) =>
      Buffer.concat([Buffer.from('first\n'), Buffer.from(part), Buffer.from('last\n')]);
    await put('f', text(before));
    const { output } = await replace('f', search, replacement);
    expect(await bytes('f')).toEqual(text(after));
    expect(output).toMatch(/looks like what is there: line \d+, column \d+ has (U\+[0-9A-F]{4}|its end).* where /);
  });

  test('the difference is told by number', async () => {
    await put('f', 'a\nprice:\u00a010\n');
    expect((await replace('f', 'e: 10', 'e: 12')).output).toBe(
      'Changed f (1 replacement; it looks like what is there: line 2, column 7 has U+00A0 (no-break space) where U+0020 (space) was looked for).',
    );
  });

  test('in a hunk: what the patch does not change stays as it is', async () => {
    await put('f', 'Title\n“one”\u00a0is\ntwo \t\n\tthree\nfour\n');
    const { output } = await box.run('file.patch', {
      patch: '--- a/f\n+++ b/f\n@@ -2,3 +2,4 @@\n-"one" is\n+"one" was\n two\n     three\n+    more\n',
    });
    expect(await content('f')).toBe('Title\n“one”\u00a0was\ntwo \t\n\tthree\n\tmore\nfour\n');
    expect(output).toContain(
      'hunk 1 looks like what is there: line 2, column 1 has U+201C where U+0022 (quotation mark) was looked for',
    );
  });

  test('in a hunk whose context has white space at its end, and in one that lacks it', async () => {
    await put('f', 'a\nb  \nc\n');
    const patch = (context: string, old: string, to: string) =>
      box.run('file.patch', { patch: `--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n ${context}\n b\n-${old}\n+${to}\n` });
    await patch('a   ', 'c', 'C');
    expect(await content('f')).toBe('a\nb  \nC\n');
    await patch('a', 'C', 'D');
    expect(await content('f')).toBe('a\nb  \nD\n');
  });

  test('mixed line ends stay, and a new line ends as the one beside it', async () => {
    await put('f', 'one\r\ntwo\r\nthree\nfour\n');
    await box.run('file.patch', { patch: '--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n one\n+1.5\n-two\n+2\n' });
    expect(await content('f')).toBe('one\r\n1.5\r\n2\r\nthree\nfour\n');
    await replace('f', '2', '2\n2.5');
    expect(await content('f')).toBe('one\r\n1.5\r\n2\r\n2.5\r\nthree\nfour\n');
    await replace('f', 'four', '4\n5');
    expect(await content('f')).toBe('one\r\n1.5\r\n2\r\n2.5\r\nthree\n4\n5\n');
  });

  test('a diff with the byte order mark, and without', async () => {
    for (const start of ['', '\ufeff']) {
      await put('f', '\ufeffone\ntwo\n');
      await box.run('file.patch', { patch: `--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-${start}one\n+${start}1\n two\n` });
      expect(await content('f')).toBe('\ufeff1\ntwo\n');
    }
    await box.run('file.patch', { patch: '--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-\ufeff1\n+1\n two\n' });
    expect(await content('f')).toBe('1\ntwo\n');
  });

  test('two such places are refused with their lines', async () => {
    await put('f', 'a\u00a0b\nx\na\u2009b\n');
    const { code, message } = await box.refused('file.patch', { path: 'f', search: 'a b', replace: 'c' });
    expect(code).toBe('patch-ambiguous');
    expect(message).toContain('only look like the text to be replaced, from lines 1, 3; nothing was changed');
    const patch = '--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a b\n+c\n';
    expect(await box.refused('file.patch', { patch })).toMatchObject({ code: 'patch-ambiguous' });
    expect(await content('f')).toBe('a\u00a0b\nx\na\u2009b\n');
  });

  test('the same text goes before one that only looks alike', async () => {
    await put('f', 'a\u00a0b\na b\n');
    await replace('f', 'a b', 'c');
    expect(await content('f')).toBe('a\u00a0b\nc\n');
  });

  test('other indentation, and other letters that look alike, are told by number and not taken', async () => {
    await put('f', 'if x:\n  y\n  \u0430bc = 1\n');
    const refused = async (search: string) =>
      (await box.refused('file.patch', { path: 'f', search, replace: '' })).message;
    expect(await refused('if x:\n    y')).toContain('which differs in white space');
    expect(await refused('  abc = 1')).toContain('line 3, column 3 has U+0430 where U+0061 ("a") was looked for');
  });
});
