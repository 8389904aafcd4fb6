import { createHash } from 'node:crypto';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { maxImageBytes } from '@suzumio/protocol/images';
import { pictures } from '../../../test/support/pictures.js';
import { createSandbox, type TestSandbox } from '../support/sandbox.js';

let box: TestSandbox;
beforeEach(async () => (box = await createSandbox()));
afterEach(() => box.remove());

const put = (path: string, content: string | Buffer): Promise<void> => writeFile(join(box.workspace, path), content);
const read = async (input: Record<string, unknown>): Promise<string> => (await box.run('file.read', input)).output;

const twelve = Array.from({ length: 12 }, (_, index) => `line ${index + 1}\n`).join('');

describe('lines', () => {
  test('are numbered', async () => {
    await put('a.txt', 'first\n\n  third\n');
    expect(await read({ path: 'a.txt' })).toBe('1\tfirst\n2\t\n3\t  third');
  });

  test.each([
    [{ offset: 11 }, '11\tline 11\n12\tline 12\n[Lines 11 to 12 of 12.]'],
    [{ limit: 2 }, '1\tline 1\n2\tline 2\n[Lines 1 to 2 of 12; go on with offset 3.]'],
    [{ offset: 2.9, limit: 1 }, '2\tline 2\n[Lines 2 to 2 of 12; go on with offset 3.]'],
    [{ offset: 13 }, '[The file has 12 lines.]'],
    [{ maxBytes: 20 }, '1\tline 1\n2\tline 2\n[Lines 1 to 2 of 12; go on with offset 3.]'],
    [{ maxBytes: 3 }, '1\tline 1\n[Lines 1 to 1 of 12; go on with offset 2.]'],
  ])('within bounds %j', async (bounds, expected) => {
    await put('a.txt', twelve);
    expect(await read({ path: 'a.txt', ...bounds })).toBe(expected);
  });

  test('within bounds as models write them', async () => {
    await put('a.txt', twelve);
    const input = { path: 'a.txt', offset: '11', limit: null, maxBytes: '2000' };
    const shown = '11\tline 11\n12\tline 12\n[Lines 11 to 12 of 12.]';
    expect(await read({ arguments: input })).toBe(shown);
    expect(await box.refused('file.read', { ...input, lines: 2 })).toEqual({
      code: 'input-invalid',
      message:
        'The input of file.read is not valid: unknown field "lines"; the fields are: path, offset, limit, column, maxBytes.',
    });
  });

  test('bounds that are too large are lowered, as published', async () => {
    await put('a.txt', 'x\n'.repeat(3000));
    expect(await read({ path: 'a.txt', limit: 1_000_000 })).toMatch(
      /\[Lines 1 to 2000 of 3000; go on with offset 2001\.\]$/,
    );
  });
});

describe('what a text is like is told:', () => {
  test.each([
    ['CR LF', 'a\r\nb\r\n', '1\ta\n2\tb\n[Line endings are CR LF.]'],
    ['mixed', 'a\r\nb\n', '1\ta\n2\tb\n[Line endings are mixed: CR LF and LF.]'],
    ['no line break at the end', 'a\nb', '1\ta\n2\tb\n[No line break at the end of the file.]'],
    ['a lone CR', 'a\rb\n', '1\ta\rb'],
    ['empty', '', '[The file is empty.]'],
    [
      'not UTF-8',
      Buffer.from('caf\xe9\n', 'latin1'),
      '1\tcaf\ufffd\n[Not all of it is UTF-8: \ufffd stands for the rest, first for 0xE9 in line 1. If it is Windows-1252 or Latin-1, ' +
        'a command shows it: iconv -f WINDOWS-1252 -t UTF-8. file.patch keeps such bytes, and takes \ufffd in what is searched for them.]',
    ],
    ['NUL far into it', `${'x'.repeat(20)}\n`.repeat(500) + '\0\n', undefined],
  ])('%s', async (_, content, expected) => {
    await put('a.txt', content);
    const output = await read({ path: 'a.txt', offset: expected === undefined ? 501 : 1 });
    expect(output).toBe(expected ?? '501\t␀\n[Lines 501 to 501 of 501.]');
  });
});

describe('no text', () => {
  test.each([
    ['TIFF image', Buffer.from('II*\0\x08\0', 'latin1')],
    ['ELF program', Buffer.from('\x7fELF\x02\x01\x01\0\0', 'latin1')],
    ['gzip archive', Buffer.from('\x1f\x8b\x08\0\0\0', 'latin1')],
    ['PDF document', Buffer.from('%PDF-1.7\n1 0 obj')],
    ['SQLite database', Buffer.from('SQLite format 3\0')],
    ['data with NUL bytes', Buffer.from('abc\0def')],
  ])('is refused as %s', async (name, content) => {
    await put('a.bin', content);
    const { code, message } = await box.refused('file.read', { path: 'a.bin' });
    expect(code).toBe('binary-file');
    expect(message).toContain(name);
  });

  test.each(['MZ is how this text begins\n', 'BZh, it says\n', 'RIFFs and more\n', 'ID3\n'])(
    'is not %j',
    async (text) => {
      await put('a.txt', text);
      expect(await read({ path: 'a.txt' })).toBe(`1\t${text.trimEnd()}`);
    },
  );
});

describe('an image', () => {
  const picture = pictures.png(64, 48);
  const sha256 = createHash('sha256').update(picture).digest('hex');
  const stored: Buffer[] = [];
  const seeing = async () => {
    await box.remove();
    stored.length = 0;
    box = await createSandbox({
      show: (bytes) => {
        stored.push(bytes);
        return Promise.resolve(createHash('sha256').update(bytes).digest('hex'));
      },
    });
  };

  test('is stored for a model that sees, and told in words, whatever it is called', async () => {
    await seeing();
    await put('plot.txt', picture);
    expect(await box.run('file.read', { path: 'plot.txt', offset: 3, limit: 1 })).toEqual({
      output: `plot.txt: [image png 64x48, ${picture.length} bytes]`,
      metadata: { path: 'plot.txt', kind: 'image', sizeBytes: picture.length },
      image: { sha256, mediaType: 'image/png', width: 64, height: 48, sizeBytes: picture.length },
    });
    expect(stored).toEqual([picture]);
  });

  test('is refused where the model sees none, with what it is', async () => {
    await put('plot.png', picture);
    const { code, message } = await box.refused('file.read', { path: 'plot.png' });
    expect(code).toBe('model-cannot-see');
    expect(message).toMatch(
      /^"plot.png" is an image png 64x48, \d+ bytes, and your model sees no images\. Ask whoever/,
    );
  });

  test.each([
    ['image-broken', picture.subarray(0, -4), '"a.png" is a PNG image that is not shown: its end is missing.'],
    ['image-broken', Buffer.from('GIF89a', 'latin1'), '"a.png" is a GIF image that is not shown: its end is missing.'],
    ['image-too-large', pictures.webp(9_000, 2), '9000x2 pixels, and may have 8000 on each side.'],
    ['image-too-large', Buffer.concat([picture, Buffer.alloc(maxImageBytes)]), 'bytes, and may have 3750000.'],
  ])('is not shown: %s', async (code, bytes, why) => {
    await seeing();
    await put('a.png', bytes);
    const refused = await box.refused('file.read', { path: 'a.png' });
    expect(refused).toEqual({ code, message: expect.stringContaining(why) });
    expect(stored).toEqual([]);
  });

  test('is not stored where something else is only named so', async () => {
    await seeing();
    await put('plot.png', 'no picture\n');
    expect(await read({ path: 'plot.png' })).toBe('1\tno picture');
    expect(stored).toEqual([]);
  });
});

test('a directory is listed, as published', async () => {
  await mkdir(join(box.workspace, 'src'));
  await put('a.txt', 'four');
  await put('b.txt', '');
  expect(await read({ path: '.' })).toBe('a.txt\t4 bytes\nb.txt\t0 bytes\nsrc/');
  expect(await read({ path: '.', offset: 2, limit: 1 })).toBe('b.txt\t0 bytes\n[Go on with offset 3.]');
  expect(await read({ path: 'src' })).toBe('[Nothing is there.]');
});

describe('refusals', () => {
  test('name what is there instead', async () => {
    await mkdir(join(box.workspace, 'src'));
    await put('src/index.ts', '');
    expect(await box.refused('file.read', { path: 'src/Index.ts' })).toEqual({
      code: 'file-unknown',
      message: '"src/Index.ts" is not there: no "Index.ts"; there are index.ts.',
    });
    expect(await box.refused('file.read', { path: 'lib/index.ts' })).toEqual({
      code: 'directory-unknown',
      message: '"lib/index.ts" is not there: no "lib"; there are src/.',
    });
  });

  test.each([
    [{ path: '/etc/passwd' }, 'path-outside'],
    [{ path: '../outside' }, 'path-outside'],
    [{ path: 'src/../../outside' }, 'directory-unknown'],
    [{ path: 'away/secret' }, 'path-outside'],
    [{ path: 'secret' }, 'path-outside'],
    [{ path: 'round' }, 'path-outside'],
    [{ path: 'a.txt/b' }, 'not-a-directory'],
    [{ path: '.suzumio/output/3.0.txt' }, 'output-gone'],
    [{ path: 'x'.repeat(300) }, 'input-invalid'],
    [{ path: '' }, 'input-invalid'],
    [{ path: 'a\0b' }, 'input-invalid'],
    [{ path: 'a.txt', offset: 0 }, 'input-invalid'],
    [{ path: 'a.txt', surprise: 1 }, 'input-invalid'],
    [{}, 'input-invalid'],
    [null, 'input-invalid'],
  ])('%j: %s', async (input, code) => {
    await put('a.txt', '');
    await writeFile(join(box.outside, 'secret'), 'secret');
    await symlink('../outside', join(box.workspace, 'away'));
    await symlink(join(box.outside, 'secret'), join(box.workspace, 'secret'));
    await symlink('round', join(box.workspace, 'round'));
    expect(await box.refused('file.read', input)).toMatchObject({ code });
  });
});

describe('links inside the roots are followed', () => {
  test.each(['within/real', 'absolute', 'to-mount/file', 'up/../src/real'])('%s', async (path) => {
    await mkdir(join(box.workspace, 'src'));
    await put('src/real', 'real\n');
    await writeFile(join(box.mount, 'file'), 'real\n');
    await symlink('src', join(box.workspace, 'within'));
    await symlink('src', join(box.workspace, 'up'));
    await symlink(join(box.workspace, 'src', 'real'), join(box.workspace, 'absolute'));
    await symlink(box.mount, join(box.workspace, 'to-mount'));
    expect(await read({ path })).toBe('1\treal');
    expect(await read({ path: join(box.workspace, path) })).toBe('1\treal');
  });
});

test('a mount is read by its path', async () => {
  await writeFile(join(box.mount, 'data.csv'), 'a,b\n');
  expect(await read({ path: join(box.mount, 'data.csv') })).toBe('1\ta,b');
});

test('without descriptor paths, the same is read and refused', async () => {
  const plain = await createSandbox({ byDescriptor: false });
  await mkdir(join(plain.workspace, 'src'));
  await writeFile(join(plain.workspace, 'src', 'real'), 'real\n');
  await symlink('../outside', join(plain.workspace, 'away'));
  expect((await plain.run('file.read', { path: 'src/real' })).output).toBe('1\treal');
  expect(await plain.refused('file.read', { path: 'away/secret' })).toMatchObject({ code: 'path-outside' });
  await plain.run('file.write', { path: 'src/new/file', content: 'x', createDirs: true });
  expect((await plain.run('file.read', { path: 'src/new/file' })).output).toContain('1\tx');
  await plain.remove();
});
