import { mkdir, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { createSandbox, type TestSandbox } from '../support/sandbox.js';

let box: TestSandbox;
beforeEach(async () => (box = await createSandbox()));
afterEach(() => box.remove());

const put = (path: string, content: string | Buffer): Promise<void> => writeFile(join(box.workspace, path), content);
const read = async (input: Record<string, unknown>): Promise<string> => (await box.run('file.read', input)).output;

test('lines of 100 MB are read in little memory', async () => {
  const file = await open(join(box.workspace, 'long.txt'), 'w');
  const piece = Buffer.alloc(10_000_000, 'x');
  for (let times = 0; times < 10; times += 1) await file.write(piece);
  await file.write('\nshort\n');
  await file.close();
  const held = () => {
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const handles = Object.getPrototypeOf(file) as { read: (...part: unknown[]) => unknown };
  const { read: readPart } = handles;
  const before = held();
  let most = 0;
  const parts = jest.spyOn(handles, 'read').mockImplementation(function (this: unknown, ...part: unknown[]) {
    most = Math.max(most, held() - before);
    return readPart.apply(this, part);
  });
  const output = await read({ path: 'long.txt' });
  parts.mockRestore();
  expect(most).toBeLessThan(100_000_000 / 2);
  expect(output).toBe(
    `1\t${'x'.repeat(2000)}… [line cut: 100000000 bytes; its column 2001 goes on]\n2\tshort\n[1 line too long to be shown whole: offset with the line and column with the byte show the rest.]`,
  );
});

test('the end of what is very long is not counted', async () => {
  const file = await open(join(box.workspace, 'huge.txt'), 'w');
  await file.write('first\nsecond\n');
  await file.truncate(10_000_000_000);
  await file.close();
  const output = await read({ path: 'huge.txt', limit: 1 }).catch((error: unknown) => String(error));
  expect(output).toContain('NUL bytes');
  await put('lines.txt', 'x'.repeat(99).concat('\n').repeat(200_000));
  expect(await read({ path: 'lines.txt', limit: 1 })).toMatch(
    /\[Lines 1 to 1 of many, 20 MB in all; go on with offset 2\.\]$/,
  );
});

test('a directory of very many files is listed within its bounds', async () => {
  const count = 25_000;
  await mkdir(join(box.workspace, 'many'));
  for (let at = 0; at < count; at += 500) {
    await Promise.all(Array.from({ length: 500 }, (_, index) => put(`many/${at + index}`, '')));
  }
  const { output } = await box.run('file.list', { recursive: true, maxEntries: 1_000_000 });
  expect(output.split('\n')).toHaveLength(2001);
  expect(output).toMatch(/\[More than 2000 entries\.\]$/);
});
