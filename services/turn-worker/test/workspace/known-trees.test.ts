import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type KnownDirectory, type KnownTree, memoryOf } from '../../src/workspace/known-tree.js';
import { KnownTrees } from '../../src/workspace/known-trees.js';
import { JobTooLong } from '../../src/workspace/workspace-errors.js';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'suzumio-trees-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const place = (name: string) => ({ treeFile: join(root, name), boot: 'b' });

function treeOf(files: number): KnownTree {
  const entries: KnownDirectory['entries'] = new Map();
  for (let n = 0; n < files; n += 1) {
    entries.set(`f${n}`, { kind: 'file', sha256: n.toString(16).padStart(64, '0'), sizeBytes: 1, executable: false });
  }
  return {
    snapshot: null,
    atMs: 1,
    root: { kind: 'directory', entries: new Map([['d', { kind: 'directory', entries }]]) },
  };
}

test('trees are kept in memory as far as there is room for their files, and in files beyond that', () => {
  const trees = new KnownTrees(2.5 * memoryOf(treeOf(1_000).root));
  const large = ['a', 'b', 'c'].map((name) => ({ name, tree: treeOf(1_000) }));
  for (const { name, tree } of large) trees.set(place(name), tree);
  const isKept = large.map(({ name, tree }) => ({ isSame: trees.get(place(name)) === tree, name }));
  expect(isKept.filter(({ isSame }) => isSame).length).toBeLessThanOrEqual(2);
  for (const { name, tree } of large) expect(trees.get(place(name))).toEqual(tree);
});

test('as many small trees are kept as there is room for', () => {
  const trees = new KnownTrees(2.5 * memoryOf(treeOf(1_000).root));
  const small = Array.from({ length: 40 }, (_, n) => ({ name: String(n), tree: treeOf(10) }));
  for (const { name, tree } of small) trees.set(place(name), tree);
  expect(small.every(({ name, tree }) => trees.get(place(name)) === tree)).toBe(true);
});

test('a tree that has no room at all is in its file', () => {
  const trees = new KnownTrees(100);
  const tree = treeOf(10);
  trees.set(place('a'), tree);
  expect(trees.get(place('a'))).toEqual(tree);
  expect(trees.get(place('a'))).not.toBe(tree);
});

test('a file of an earlier version, or one that is cut off, tells of no tree', () => {
  const trees = new KnownTrees(100);
  trees.set(place('a'), treeOf(1_000));
  const whole = readFileSync(join(root, 'a'), 'utf8');
  for (const text of [whole.slice(0, 50_000), '', `{"version":1,"root":["${'x'.repeat(200_000)}`]) {
    writeFileSync(join(root, 'a'), text);
    expect(trees.get(place('a'))).toBeUndefined();
  }
});

test('a tree that goes to another thread is in its file, unless that is too long to be read here', () => {
  const trees = new KnownTrees(1e9, 100_000);
  const [small, large] = [treeOf(10), treeOf(10_000)];
  for (const [name, tree] of Object.entries({ small, large })) {
    trees.set(place(name), tree);
    trees.handOver(place(name));
  }
  expect(trees.get(place('small'))).toEqual(small);
  expect(() => trees.get(place('large'))).toThrow(JobTooLong);
  expect(new KnownTrees(1).get(place('large'))).toEqual(large);
});
