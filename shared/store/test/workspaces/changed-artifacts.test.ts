import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openSnapshot } from '@suzumio/protocol/workspace-snapshot';
import { ContentStore } from '@suzumio/store/content/content-store';
import { storedManifest } from '@suzumio/store/content/stored-snapshot';
import { type ArtifactBounds, changedArtifacts } from '@suzumio/store/workspaces/changed-artifacts';
import { storeTree, type Tree } from '../../../../test/support/trees.js';

let directory: string;
let content: ContentStore;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'suzumio-changed-'));
  content = new ContentStore(directory);
});
afterEach(() => rm(directory, { recursive: true }));

/** A workspace with one file, and these as its agent's own artifacts. */
async function opened(own: Tree) {
  const at = Object.entries(own).map(([path, what]) => [`.suzumio-artifacts/${path}`, what] as const);
  const id = await storeTree(content, { 'notes.md': 'x', ...Object.fromEntries(at) });
  return openSnapshot(id ?? '', (sha256) => storedManifest(content, sha256));
}

async function changed(before: Tree | undefined, after: Tree, bounds?: ArtifactBounds) {
  const [from, to] = [before && (await opened(before)), await opened(after)];
  return (await changedArtifacts(from, to, bounds)).map((one) => {
    if (one.kind === 'none') return `${one.name}: ${one.why}`;
    if (one.kind === 'file') return one.name;
    const told = one.manifest.entries.map((entry) =>
      entry.kind === 'directory' ? `${entry.path}/` : entry.executable ? `${entry.path}*` : entry.path,
    );
    return `${one.name} {${told.join(' ')}}`;
  });
}

test('a file at the top is an artifact, a directory is one with all that is in it', async () => {
  const own = {
    'a.md': 'a',
    'site/index.html': 'i',
    'site/a-b': 'x',
    'site/a/run': { run: '#!' },
    tmp: { empty: true },
  };
  expect(await changed(undefined, own as Tree)).toEqual(['a.md', 'site {a/ a-b a/run* index.html}']);
  expect(await changed(own as Tree, own as Tree)).toEqual([]);
});

test('only what differs is, and nothing for what is gone', async () => {
  const before = { same: '1', edited: '1', gone: '1', 'd/x': '1', 'e/x': '1' };
  expect(await changed(before, { same: '1', edited: '2', 'd/x': '1', 'd/y': '1', 'e/x': '1' })).toEqual([
    'd {x y}',
    'edited',
  ]);
});

test('what no artifact can be is told with why, and keeps nothing else from it', async () => {
  const told = await changed(undefined, {
    'a.md': 'a',
    'line\nbreak': 'x',
    'back\\slash': 'x',
    link: { link: '/etc/passwd' },
    'd/ok': 'x',
    'd/deep/link': { link: '../../..' },
    'e/control\u0007': 'x',
  });
  expect(told.map((line) => line.replace(/: .*/, ''))).toEqual([
    'a.md',
    'back\\slash',
    'd',
    'e',
    'line\nbreak',
    'link',
  ]);
  expect(told[1]).toBe('back\\slash: an artifact cannot have this name');
  expect(told[2]).toBe('d: "deep/link" in it is a link');
  expect(told[3]).toMatch(/^e: "control\\u0007" in it: names without control characters/);
  expect(told[5]).toBe('link: it is a link');
});

test('one turn publishes no more than its bounds', async () => {
  const many = Object.fromEntries(Array.from({ length: 5 }, (_, n) => [`f${String(n)}`, 'x']));
  const bounds = { artifacts: 3, entries: 4 };
  expect(await changed(undefined, many, bounds)).toEqual([
    'f0',
    'f1',
    'f2',
    'f3: there are too many for the end of one turn: put many files into one directory',
    'f4: there are too many for the end of one turn: put many files into one directory',
  ]);
  const directories = { 'a/1': 'x', 'a/2': 'x', 'a/3': 'x', 'b/1': 'x', 'b/2': 'x', 'c.md': 'x' };
  expect(await changed(undefined, directories, bounds)).toEqual([
    'a {1 2 3}',
    'b: there are too many files for the end of one turn',
    'c.md',
  ]);
});
