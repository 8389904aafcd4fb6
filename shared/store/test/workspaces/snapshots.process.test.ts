import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { manifestBytes } from '@suzumio/protocol/workspace-manifest';
import { ContentStore } from '@suzumio/store/content/content-store';
import type { ComparisonPage } from '@suzumio/store/workspaces/compare-snapshots';
import { Snapshots } from '@suzumio/store/workspaces/snapshots';
import fc, { caseCount } from '../../../../test/support/fast-check.js';
import { storeTree, type Tree } from '../../../../test/support/trees.js';

import { storeLongestWorkspace } from '../fixtures/longest-workspace.js';

const run = promisify(execFile);
const fixture = fileURLToPath(new URL('../fixtures/read-snapshots.mjs', import.meta.url));

let directory: string;
let content: ContentStore;
const snapshots = new Snapshots();
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'suzumio-snapshots-'));
  content = new ContentStore(directory);
});
afterEach(() => rm(directory, { recursive: true }));

const compare = (before: string | null, after: string | null, page: Partial<ComparisonPage> = {}) =>
  snapshots.read(directory, 'compare', { before, after, page: { limit: 1000, ...page } });
const compareTrees = async (before: Tree, after: Tree, page: Partial<ComparisonPage> = {}) =>
  compare(await storeTree(content, before), await storeTree(content, after), page);
const told = ({ items }: Awaited<ReturnType<typeof compare>>) => items.map(({ change, path }) => `${change} ${path}`);

describe('what differs between two snapshots', () => {
  test('is every file that was added, changed or removed, by path', async () => {
    const before = { 'a/1': 'one', 'a/2': 'two', 'a.b': 'x', gone: 'x', kind: 'x', run: 'x', to: { link: 'a' } };
    const after = {
      'a/1': 'one',
      'a/2': 'two!',
      'a/3': 'x',
      'a.b': 'x',
      'kind/x': '',
      run: { run: 'x' },
      to: { link: 'b' },
    };
    const compared = await compareTrees(before, after);
    expect(told(compared)).toEqual([
      'changed a/2',
      'added a/3',
      'removed gone',
      'removed kind',
      'added kind/x',
      'changed run',
      'changed to',
    ]);
    expect(compared.files).toEqual({ added: 2, changed: 3, removed: 2 });
    expect(compared.items[0]).toMatchObject({ before: { kind: 'file', sizeBytes: 3 }, after: { sizeBytes: 4 } });
    expect(compared.items.at(-1)).toMatchObject({ before: { kind: 'link', target: 'a' }, after: { target: 'b' } });
  });

  test('is everything where one is empty, and nothing but directories counts as nothing', async () => {
    const id = await storeTree(content, { 'a/b': 'x', c: 'y' });
    expect((await compare(null, id)).files).toEqual({ added: 2, changed: 0, removed: 0 });
    expect((await compare(id, null)).files).toEqual({ added: 0, changed: 0, removed: 2 });
    expect(await compareTrees({ a: 'x' }, { a: 'x', d: { empty: true } })).toEqual({
      files: { added: 0, changed: 0, removed: 0 },
      items: [],
      onlyIndex: false,
    });
  });

  const clone = {
    'a.py': '1',
    '.git/index': '1',
    '.git/logs/HEAD': '1',
    'lib/.git/HEAD': '1',
    'sub/.git': 'gitdir: ../.git/modules/sub',
  };

  test('leaves out what Git keeps for itself, unless it is asked for', async () => {
    const after = { 'a.py': '2', '.git/index': '2', '.git/logs/HEAD': '2', 'sub/.git': 'gitdir: ..', new: 'x' };
    const compared = await compareTrees(clone, after);
    expect(told(compared)).toEqual(['changed a.py', 'added new']);
    expect(compared.files).toEqual({ added: 1, changed: 1, removed: 0 });
    expect(told(await compareTrees(clone, after, { path: '.git' }))).toEqual([
      'changed .git/index',
      'changed .git/logs/HEAD',
    ]);
    expect(told(await compareTrees(clone, after, { path: 'sub/.git' }))).toEqual(['changed sub/.git']);
    expect(told(await compareTrees(clone, after, { path: 'lib' }))).toEqual([]);
    expect(told(await compareTrees(clone, after, { path: 'lib/.git/HEAD' }))).toEqual(['removed lib/.git/HEAD']);
  });

  test.each<[string, boolean, Tree]>([
    ['git status', true, { '.git/index': '2' }],
    ['git add', false, { '.git/index': '2', '.git/objects/ab/cd': 'x' }],
    ['git commit', false, { '.git/index': '2', '.git/logs/HEAD': '2' }],
    ['a file', false, { '.git/index': '2', new: 'x' }],
    ['a directory', false, { '.git/index': '2', new: { empty: true } }],
    ['an index elsewhere', false, { index: '2' }],
  ])('is after %s only the index: %s', async (_what, onlyIndex, changes) => {
    expect((await compareTrees(clone, { ...clone, ...changes })).onlyIndex).toBe(onlyIndex);
  });

  test('is the same for snapshots of earlier versions, which are flat', async () => {
    const flat = (entries: unknown[]) => content.putBytes(Buffer.from(JSON.stringify({ version: 1, entries })));
    const file = (path: string, text: string) => ({
      kind: 'file',
      path,
      sha256: text.padEnd(64, '0'),
      sizeBytes: 1,
      executable: false,
    });
    const before = await flat([{ kind: 'directory', path: 'a' }, file('a/1', 'a'), file('a/2', 'b')]);
    const after = await flat([{ kind: 'directory', path: 'a' }, file('a/1', 'a'), file('a/2', 'c'), file('b', 'd')]);
    expect(told(await compare(before, after))).toEqual(['changed a/2', 'added b']);
  });

  test('is counted as a whole, and listed page by page, or below a path', async () => {
    const before = { a: '1', 'b/c': '1', 'b/c-d': '1', 'b/d/e': '1', 'b-c': '1' };
    const after = Object.fromEntries(Object.keys(before).map((path) => [path, '2']));
    const all = told(await compareTrees(before, after)).map((line) => line.slice('changed '.length));
    const paged: string[] = [];
    for (let last: string | undefined; ;) {
      const { files, items, next } = await compareTrees(before, after, { limit: 2, after: last });
      expect(files.changed).toBe(5);
      paged.push(...items.map(({ path }) => path));
      if (next === undefined) break;
      last = next;
    }
    expect(paged).toEqual(all);
    expect(told(await compareTrees(before, after, { path: 'b' }))).toHaveLength(3);
    expect(told(await compareTrees(before, after, { path: 'b/c' }))).toEqual(['changed b/c']);
    expect(told(await compareTrees(before, after, { path: 'x' }))).toEqual([]);
  });

  test('agrees with a comparison of all files of both', async () => {
    const name = fc.constantFrom('a', 'b', 'c', 'a.b', 'A');
    const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
    const files = fc.dictionary(path, fc.constantFrom('1', '2'), { maxKeys: 5, noNullPrototype: true });
    // Nothing is a file and a directory at once.
    const tree = files.map((all) =>
      Object.fromEntries(
        Object.entries(all).filter(([one]) => !Object.keys(all).some((other) => other.startsWith(`${one}/`))),
      ),
    );
    await fc.assert(
      fc.asyncProperty(tree, tree, async (before, after) => {
        const expected = [...new Set([...Object.keys(before), ...Object.keys(after)])]
          .filter((one) => before[one] !== after[one])
          .map(
            (one) => `${before[one] === undefined ? 'added' : after[one] === undefined ? 'removed' : 'changed'} ${one}`,
          );
        expect(told(await compareTrees(before, after)).sort()).toEqual(expected.sort());
      }),
      { numRuns: caseCount(20, 10) },
    );
  });

  test('is found without opening what is equal, and in a thread where manifests are long', async () => {
    const missing = { kind: 'directory' as const, name: 'same', sha256: 'f'.repeat(64) };
    const file = (name: string, sizeBytes: number) => ({
      kind: 'file' as const,
      name,
      sha256: String(sizeBytes).padEnd(64, 'a'),
      sizeBytes,
      executable: false,
    });
    const many = Array.from({ length: 19_998 }, (_, number) => file(`file-${String(number).padStart(6, '0')}`, 1));
    const before = await content.putBytes(manifestBytes([...many, missing]));
    const after = await content.putBytes(manifestBytes([...many.slice(1), missing, file('z', 2)]));
    const compared = await Promise.all([compare(before, after), compare(after, before)]);
    expect(compared.map(told)).toEqual([
      ['removed file-000000', 'added z'],
      ['added file-000000', 'removed z'],
    ]);
    expect(compared[0].items[1]?.after).toMatchObject({ sizeBytes: 2 });
    const [once, again] = await Promise.all([compare(before, after), compare(before, after)]);
    expect(again).toBe(once);
    await expect(compare(before, null)).rejects.toThrow(`The manifest ${missing.sha256} of a snapshot is missing.`);
  });

  test('is not looked for in manifests that describe more than workspaces have', async () => {
    let sha256 = await content.putBytes(manifestBytes([{ kind: 'link', name: 'x', target: 'y' }]));
    for (let depth = 0; depth < 20; depth += 1) {
      sha256 = await content.putBytes(
        manifestBytes(['a', 'b'].map((name) => ({ kind: 'directory' as const, name, sha256 }))),
      );
    }
    await expect(compare(null, sha256)).rejects.toThrow('larger than workspaces may be');
    const names = Array.from({ length: 350 }, (_, number) => ({ name: `d${String(number).padStart(3, '0')}` }));
    const inRepository = await content.putBytes(
      manifestBytes(names.map(({ name }) => ({ kind: 'link' as const, name, target: 'y' }))),
    );
    const repository = await content.putBytes(
      manifestBytes([{ kind: 'directory', name: '.git', sha256: inRepository }]),
    );
    const all = names.map(({ name }) => ({ kind: 'directory' as const, name, sha256: repository }));
    await expect(compare(null, await content.putBytes(manifestBytes(all)))).rejects.toThrow(
      'larger than workspaces may be',
    );
  });
});

describe('a service with 512 MiB', () => {
  const carryOut = async (...jobs: object[]) => {
    const { stdout } = await run(process.execPath, [fixture, directory, '512', JSON.stringify(jobs)]);
    return JSON.parse(stdout) as { answers: object[]; rounds: number; mib: number };
  };

  test('reads the longest workspaces that can be captured, several jobs at once', async () => {
    const [before, after] = [await storeLongestWorkspace(content, 'a'), await storeLongestWorkspace(content, 'b')];
    const all = { before, after };
    const { answers, rounds, mib } = await carryOut(
      { kind: 'compare', ...all, page: { limit: 0 } },
      { kind: 'compare', ...all, page: { limit: 1000 } },
      { kind: 'contents', snapshot: after },
      { kind: 'artifacts', ...all },
      { kind: 'look', snapshot: after, path: '0/0', limit: 1000 },
    );
    const compared = { files: { added: 49_996, changed: 0, removed: 49_996 } };
    expect(answers).toEqual([compared, compared, { found: expect.any(Number) }, { found: 0 }, {}]);
    expect(mib).toBeLessThan(512);
    // They take seconds.
    expect(rounds).toBeGreaterThan(100);
  });

  test('refuses what takes more memory, and goes on', async () => {
    const text = (start: string) => `${start}€${'x'.repeat(4_090)}`;
    const long = (mark: string) =>
      Array.from({ length: 8_000 }, (_, number) => ({
        kind: 'link' as const,
        name: String(number).padStart(6, '0'),
        target: text(mark),
      }));
    const [before, after] = [
      await content.putBytes(manifestBytes(long('a'))),
      await content.putBytes(manifestBytes(long('b'))),
    ];
    const { answers } = await carryOut(
      { kind: 'compare', before, after, page: { limit: 0 } },
      { kind: 'look', snapshot: await content.putBytes(manifestBytes(long('c').slice(0, 100))), path: '', limit: 1 },
    );
    expect(answers).toEqual([
      { name: 'SuzumioError', code: 'workspace-too-large', message: expect.stringContaining('128 MiB of memory') },
      {},
    ]);
  });

  test('is not ended by what is no manifest', async () => {
    const many = await content.putBytes(Buffer.from(`{"version":2,"entries":[${'{},'.repeat(20_000_000)}{}]}`));
    const deep = await content.putBytes(Buffer.from(`{"version":1,"entries":[${'['.repeat(60_000_000)}`));
    const { answers } = await carryOut(
      { kind: 'look', snapshot: many, path: '', limit: 1 },
      { kind: 'contents', snapshot: deep },
    );
    const refused = { name: 'SnapshotInvalid', message: 'The snapshot is not a workspace manifest.' };
    expect(answers).toEqual([refused, refused]);
  });
});

describe('what is at a path of a snapshot', () => {
  const look = async (tree: Tree, path: string, page: { limit?: number; after?: string } = {}) =>
    snapshots.read(directory, 'look', { snapshot: await storeTree(content, tree), path, limit: 100, ...page });
  const tree = { 'src/main.py': { run: 'x' }, 'src/lib': { link: '/etc' }, 'src/deep/er': 'y', README: 'z' };

  test('is a file, a link, or a directory and what is in it', async () => {
    expect(await look(tree, '')).toMatchObject({ items: [{ name: 'README' }, { kind: 'directory', name: 'src' }] });
    expect(await look(tree, 'src/')).toMatchObject({
      kind: 'directory',
      items: [
        { kind: 'directory', name: 'deep' },
        { kind: 'link', name: 'lib', target: '/etc' },
        { kind: 'file', name: 'main.py', executable: true },
      ],
    });
    expect(await look(tree, './src/main.py')).toMatchObject({ kind: 'file', sizeBytes: 1 });
    expect(await look({}, '')).toEqual({ kind: 'directory', items: [] });
  });

  test('is a part of a long directory', async () => {
    expect(await look(tree, 'src', { limit: 2 })).toMatchObject({
      items: [{ name: 'deep' }, { name: 'lib' }],
      next: 'lib',
    });
    expect(await look(tree, 'src', { after: 'lib' })).toMatchObject({ items: [{ name: 'main.py' }] });
  });

  test('is nothing outside of it, through a link, or in a file', async () => {
    for (const path of ['..', 'src/../README', 'src/lib/passwd', 'README/x', 'none']) {
      expect(await look(tree, path)).toBeUndefined();
    }
  });
});
