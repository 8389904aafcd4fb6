import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { type DirectoryEntry, manifestBytes } from '@suzumio/protocol/workspace-manifest';
import { byName, directoriesOf, entriesOf, readSnapshot, topOf } from '@suzumio/protocol/workspace-snapshot';
import fc, { caseCount } from '../../../test/support/fast-check.js';

/** Manifests by hash, as a ToolHost keeps them. */
class Manifests {
  readonly stored = new Map<string, Uint8Array>();
  reads = 0;

  readonly read = (sha256: string): Promise<Uint8Array> => {
    this.reads += 1;
    const bytes = this.stored.get(sha256);
    return bytes ? Promise.resolve(bytes) : Promise.reject(new Error(`no manifest ${sha256}`));
  };

  add(content: Uint8Array | string): string {
    const bytes = Buffer.from(content);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    this.stored.set(sha256, bytes);
    return sha256;
  }

  directory(...entries: DirectoryEntry[]): string {
    return this.add(manifestBytes(entries.sort(byName)));
  }

  flat(...entries: unknown[]): string {
    return this.add(JSON.stringify({ version: 1, entries }));
  }
}

const sha256 = 'a'.repeat(64);
const file = (name: string, sizeBytes = 1) => ({ kind: 'file' as const, name, sha256, sizeBytes, executable: false });
const directory = (name: string, of: string) => ({ kind: 'directory' as const, name, sha256: of });
const link = (name: string) => ({ kind: 'link' as const, name, target: '/etc' });
const paths = (root: Parameters<typeof entriesOf>[0]) => [...entriesOf(root)].map(({ path }) => path);

describe('a snapshot', () => {
  test('has everything in its directories, each manifest read once', async () => {
    const manifests = new Manifests();
    const shared = manifests.directory(file('x'), link('y'));
    const id = manifests.directory(
      directory('b', shared),
      directory('a', manifests.directory(directory('c', shared))),
      file('z'),
    );
    const root = await readSnapshot(id, manifests.read);
    expect(paths(root)).toEqual(['a', 'a/c', 'a/c/x', 'a/c/y', 'b', 'b/x', 'b/y', 'z']);
    expect(manifests.reads).toBe(3);
    expect(directoriesOf(root).size).toBe(3);
  });

  test('that is flat, as earlier versions made them, has the same', async () => {
    const manifests = new Manifests();
    const id = manifests.flat(
      { kind: 'directory', path: 'a' },
      { kind: 'directory', path: 'a-b' },
      { kind: 'file', path: 'a/x', sha256, sizeBytes: 1, executable: false },
      { kind: 'link', path: 'b', target: 'a' },
    );
    const root = await readSnapshot(id, manifests.read);
    expect(paths(root)).toEqual(['a', 'a/x', 'a-b', 'b']);
    expect([...directoriesOf(root)].map((one) => one.sha256)).toEqual([undefined, undefined, undefined]);
  });

  test('that describes millions of paths by few manifests is refused at once', async () => {
    const manifests = new Manifests();
    let id = manifests.directory(file('x'));
    for (let depth = 0; depth < 60; depth += 1) id = manifests.directory(directory('a', id), directory('b', id));
    await expect(readSnapshot(id, manifests.read)).rejects.toMatchObject({ name: 'SnapshotInvalid' });
    expect(manifests.reads).toBe(61);
  });

  test('counts bytes as often as they are there', async () => {
    const manifests = new Manifests();
    const once = manifests.directory(file('x', 600));
    const twice = manifests.directory(directory('a', once), directory('b', once));
    const bounds = { maxBytes: 1_000, maxEntries: 10 };
    await expect(readSnapshot(twice, manifests.read, bounds)).rejects.toMatchObject({ name: 'SnapshotInvalid' });
    await readSnapshot(twice, manifests.read, { ...bounds, maxBytes: 1_200 });
  });

  test('reads no more manifests than a workspace has entries', async () => {
    const manifests = new Manifests();
    const lists = Array.from({ length: 100 }, (_, n) =>
      manifests.directory(...Array.from({ length: 3 }, (_, m) => file(`${String(n)}-${String(m)}`))),
    );
    const id = manifests.directory(...lists.map((list, n) => directory(`d${String(n)}`, list)));
    await expect(readSnapshot(id, manifests.read, { maxBytes: 1_000, maxEntries: 120 })).rejects.toMatchObject({
      name: 'SnapshotInvalid',
    });
    expect(manifests.reads).toBeLessThan(20);
  });

  const lies: [string, (manifests: Manifests) => string][] = [
    ['is no JSON', (m) => m.add('{')],
    ['is of no known version', (m) => m.add('{"version":3,"entries":[]}')],
    ['has a path for a name', (m) => m.directory(file('a/b'))],
    ['leads out', (m) => m.directory(directory('..', m.directory()))],
    ['has a name twice', (m) => m.directory(file('a'), file('a', 2))],
    ['is not sorted', (m) => m.add(manifestBytes([file('b'), file('a')]))],
    ['has another form: spaces', (m) => m.add('{"version": 2,"entries":[]}')],
    ['has another form: something else in it', (m) => m.add('{"version":2,"entries":[],"x":1}')],
    ['has another form: an order of its own', (m) => m.add('{"entries":[],"version":2}')],
    [
      'has a flat manifest for a directory',
      (m) => m.directory(directory('a', m.flat({ kind: 'directory', path: 'b' }))),
    ],
    [
      'is too deep',
      (m) => {
        let id = m.directory();
        for (let depth = 0; depth < 600; depth += 1) id = m.directory(directory('a', id));
        return id;
      },
    ],
    [
      'is too deep, though every directory is also at the top',
      (m) => {
        const all: string[] = [];
        for (let n = 0; n < 3_000; n += 1) {
          const last = all.at(-1);
          all.push(m.directory(...(last === undefined ? [] : [directory('a', last)])));
        }
        return m.directory(...all.map((id, n) => directory(`d${String(n)}`, id)));
      },
    ],
    [
      'is in itself, in a store that was tampered with',
      (m) => {
        m.stored.set(sha256, manifestBytes([directory('a', sha256)]));
        return sha256;
      },
    ],
  ];
  test.each(lies)('that %s is refused', async (_how, make) => {
    const manifests = new Manifests();
    await expect(readSnapshot(make(manifests), manifests.read)).rejects.toMatchObject({ name: 'SnapshotInvalid' });
  });

  test('is what was written', async () => {
    type Tree = { [name: string]: Tree | number };
    const name = fc
      .string({ minLength: 1, maxLength: 4, unit: 'grapheme' })
      .filter((one) => !/[/\0]|^\.\.?$/.test(one));
    const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
      tree: fc.dictionary(name, fc.oneof({ depthSize: 'small' }, fc.nat(9), tie('tree')), { maxKeys: 4 }),
    }));
    await fc.assert(
      fc.asyncProperty(tree, async (written) => {
        const manifests = new Manifests();
        const expected: string[] = [];
        const store = (one: Tree, prefix: string): string =>
          manifests.directory(
            ...Object.entries(one).map(([key, value]) => {
              expected.push(`${prefix}${key}`);
              return typeof value === 'number' ? file(key, value) : directory(key, store(value, `${prefix}${key}/`));
            }),
          );
        const root = await readSnapshot(store(written, ''), manifests.read);
        expect(paths(root).sort()).toEqual(expected.sort());
      }),
      { numRuns: caseCount(200) },
    );
  });
});

describe('the top of a snapshot', () => {
  const file = { kind: 'file' as const, sha256: 'a'.repeat(64), sizeBytes: 3, executable: false };

  test('is known by its first manifest, of either kind', () => {
    const top = [
      { kind: 'file', name: 'a', sizeBytes: 3 },
      { kind: 'link', name: 'b' },
      { kind: 'directory', name: 'c' },
    ];
    const now: DirectoryEntry[] = [
      { ...file, name: 'a' },
      { kind: 'link', name: 'b', target: 'a' },
      { kind: 'directory', name: 'c', sha256: 'c'.repeat(64) },
    ];
    expect(topOf(manifestBytes(now))).toEqual(top);
    const before = [
      { ...file, path: 'a' },
      { kind: 'link', path: 'b', target: 'a' },
      { kind: 'directory', path: 'c' },
      { ...file, path: 'c/d' },
    ];
    expect(topOf(Buffer.from(JSON.stringify({ version: 1, entries: before })))).toEqual(top);
  });

  test('is not read from anything else', () => {
    for (const text of ['', '{', '[]', '{"version":2,"entries":[{}]}']) {
      expect(() => topOf(Buffer.from(text))).toThrow(expect.objectContaining({ name: 'SnapshotInvalid' }));
    }
  });
});
