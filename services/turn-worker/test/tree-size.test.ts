import { lstatSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { treeSize } from '../src/files/tree-size.js';

const block = 4096;
const bounds = { maxBytes: 1_000_000, maxEntries: 1_000 };

let directory: string;
let workspace: string;
let outside: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'suzumio-size-'));
  workspace = join(directory, 'workspace');
  outside = join(directory, 'outside');
  mkdirSync(join(workspace, 'd/e'), { recursive: true });
  mkdirSync(join(outside, 'e'), { recursive: true });
  for (const name of ['one', 'two', 'three']) writeFileSync(join(outside, 'e', name), 'x'.repeat(10_000));
  // What is read notes that.
  utimesSync(join(outside, 'e'), new Date(1_000), new Date(2_000));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** A program in the workspace makes a directory a link to another. */
function swap(): void {
  renameSync(join(workspace, 'd'), join(directory, 'away'));
  symlinkSync(outside, join(workspace, 'd'));
}

test('nothing outside is counted or looked at, where a directory on the way becomes a link meanwhile', async () => {
  const leave = (path: string) => {
    if (path.endsWith('/e')) swap();
    return false;
  };
  expect(await treeSize([workspace], bounds, { leave })).toEqual({ bytes: 2 * block, entries: 2 });
  expect(lstatSync(join(outside, 'e')).atimeMs).toBe(1_000);
});

test('nor where a root is reached by a link that was made before', async () => {
  swap();
  const options = { within: workspace };
  expect(await treeSize([join(workspace, 'd/e')], bounds, options)).toEqual({ bytes: 0, entries: 0 });
  expect(lstatSync(join(outside, 'e')).atimeMs).toBe(1_000);
});

test('however small, files and directories take a block each', async () => {
  for (let n = 0; n < 5; n += 1) writeFileSync(join(workspace, String(n)), '');
  expect(await treeSize([workspace], bounds)).toEqual({ bytes: 7 * block, entries: 7 });
  expect(await treeSize([workspace], { ...bounds, maxBytes: 6 * block })).toMatchObject({
    beyond: `more than ${6 * block} bytes`,
  });
});

test('files count by their blocks, in all roots', async () => {
  writeFileSync(join(workspace, 'd/e/file'), 'x');
  const { bytes, entries } = await treeSize([join(workspace, 'd'), outside], bounds);
  expect(bytes).toBeGreaterThanOrEqual(30_001);
  expect(entries).toBe(6);
  expect(await treeSize([outside], { ...bounds, maxEntries: 3 })).toMatchObject({
    beyond: 'more than 3 files and directories',
  });
});
