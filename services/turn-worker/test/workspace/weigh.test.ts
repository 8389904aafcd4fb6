import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { weigh } from '../../src/workspace/weigh.js';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'suzumio-weigh-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, bytes: number): void {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), Buffer.alloc(bytes));
}

const all = { isIgnored: (path: string) => path === 'node_modules', check: () => undefined };

test('says what a workspace holds, and where most of it is', () => {
  expect(weigh(root, all).told).toBe('It has 0 bytes in 0 entries.');
  write('a.txt', 1);
  expect(weigh(root, all).told).toBe('It has 4096 bytes in 1 entries.');
  write('node_modules/x', 5_000);
  write('data/raw/deep/er/b.bin', 1_000);
  for (let n = 0; n < 20; n += 1) write(`many/${String(n)}`, 0);
  write('.suzumio/output', 7_000);
  symlinkSync('/etc', join(root, 'out'));
  symlinkSync('/etc', join(root, 'data/out'));
  expect(weigh(root, all).told).toBe(
    'It has 110592 bytes in 29 entries; the largest directories are "many" (81920 bytes in 20 entries), ' +
      '"data" (16384 bytes in 5 entries), "data/raw" (12288 bytes in 3 entries).',
  );
});

test('goes no deeper than a capture does', () => {
  write(`${'d/'.repeat(520)}x`, 1);
  expect(weigh(root, all).entries).toBe(513);
});

test('is stopped with the work that it belongs to', () => {
  write('a.txt', 1);
  const check = () => {
    throw new Error('stopped');
  };
  expect(() => weigh(root, { ...all, check })).toThrow('stopped');
});
