import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { captureScope } from '@suzumio/protocol/ignored-roots';
import { entriesOf, readSnapshot } from '@suzumio/protocol/workspace-snapshot';
import { removeTree } from '../../src/files/remove-tree.js';
import { capture } from '../../src/workspace/capture.js';
import { FileClock } from '../../src/workspace/file-clock.js';
import type { KnownDirectory } from '../../src/workspace/known-tree.js';
import { restore } from '../../src/workspace/restore.js';

const bounds = { maxBytes: 1_000_000, maxFileBytes: 500_000, maxEntries: 1_000 };
const scope = captureScope([]);
const isRoot = process.geteuid?.() === 0;

let directory: string;
let root: string;
let contents: Map<string, Buffer>;

beforeEach(() => {
  directory = mkdtempSync('/tmp/suzumio-attributes-');
  root = join(directory, 'first');
  contents = new Map();
  for (const name of ['first', 'second', 'own', 'staging']) mkdirSync(join(directory, name));
});
afterEach(() => removeTree(directory));

const at = (path: string, of = root) => join(of, path);
const put = (path: string, text: string, mode = 0o644) => {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
  chmodSync(at(path), mode);
};
const own = () => ({ directory: join(directory, 'own'), agent: 'ada' });
const staging = () => join(directory, 'staging');

async function take(of = root, { known, live = false }: { known?: KnownDirectory; live?: boolean } = {}) {
  return capture(of, {
    bounds,
    scope,
    live,
    clock: FileClock.read(staging(), live),
    known,
    staging: staging(),
    store: (content) =>
      void contents.set(content.sha256, Buffer.from('bytes' in content ? content.bytes : readFileSync(content.file))),
    check: () => undefined,
  });
}

async function bring(id: string | null, of: string): Promise<KnownDirectory> {
  const wanted =
    id === null
      ? { sha256: undefined, entries: [] }
      : await readSnapshot(id, (sha256) => Promise.resolve(contents.get(sha256) ?? Buffer.alloc(0)));
  return restore(of, wanted, {
    known: undefined,
    clock: () => FileClock.read(staging(), false),
    temporary: staging(),
    scope,
    own: own(),
    owner: undefined,
    check: () => undefined,
    fetch: ({ sha256 }, _, to) => writeFile(to, contents.get(sha256) ?? '', { mode: 0o600 }),
  });
}

/** Whatever is in a directory: permissions, and times in microseconds. */
function facts(of: string, prefix = ''): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(join(of, prefix)).sort()) {
    const path = join(prefix, name);
    const stat = lstatSync(join(of, path));
    const mode = (stat.mode & 0o7777).toString(8);
    found[path] = `${stat.isSymbolicLink() ? 'link' : mode} ${Math.floor(stat.mtimeMs * 1000)}`;
    if (stat.isDirectory() && (isRoot || (stat.mode & 0o500) === 0o500)) Object.assign(found, facts(of, path));
  }
  return found;
}

const second = () => join(directory, 'second');

test('a move keeps permissions and times, of directories without permissions and of links, too, and is not seen afterwards', async () => {
  put('a', 'a', 0o600);
  put('run', 'run', 0o755);
  put('none', 'none', 0o000);
  put('open/inner/x', 'x', 0o444);
  put('closed/inner/y', 'y');
  symlinkSync('a', at('link'));
  utimesSync(at('a'), 1_700_000_000.123456, 1_700_000_000.123456);
  utimesSync(at('run'), -5.5, -5.5);
  lutimesSync(at('link'), 1_600_000_000.5, 1_600_000_000.5);
  for (const path of ['open/inner', 'open', 'closed/inner', 'closed'])
    utimesSync(at(path), 1_650_000_000.25, 1_650_000_000.25);
  chmodSync(at('open'), 0o555);
  chmodSync(at('closed/inner'), 0o111);
  chmodSync(at('closed'), 0o000);
  const before = facts(root);
  const captured = await take();
  expect(facts(root)).toEqual(before);
  const known = await bring(captured.id, second());
  expect(facts(second())).toEqual(before);
  // Read anew, or by what is known: it is the same snapshot.
  expect((await take(second())).id).toBe(captured.id);
  expect((await take(second(), { known })).id).toBe(captured.id);
  // A live capture leaves permissions as they are.
  expect((await take(second(), { live: true })).id).toBe(captured.id);
  expect(facts(second())).toEqual(before);
});

test('no bit with which a program runs as another user, or that is for a directory alone, comes back', async () => {
  put('program', 'x');
  mkdirSync(at('shared'));
  chmodSync(at('program'), 0o6755);
  chmodSync(at('shared'), 0o3777);
  const { id } = await take();
  await bring(id, second());
  expect([lstatSync(at('program', second())).mode & 0o7777, lstatSync(at('shared', second())).mode & 0o7777]).toEqual([
    0o755, 0o777,
  ]);
  // Nor does it stay in a directory that is brought to the snapshot.
  chmodSync(at('program', second()), 0o4755);
  await bring(id, second());
  expect(lstatSync(at('program', second())).mode & 0o7777).toBe(0o755);
});

test('what stands gets the permissions and times of the snapshot, and another name of it keeps its own', async () => {
  put('a', 'same');
  utimesSync(at('a'), 1_000, 1_000);
  const { id } = await take();
  await bring(id, second());
  const outside = join(directory, 'other-name');
  spawnSync('ln', [at('a', second()), outside]);
  chmodSync(at('a', second()), 0o600);
  utimesSync(at('a', second()), 2_000, 2_000);
  await bring(id, second());
  expect(facts(second())).toEqual({ a: '644 1000000000' });
  expect(lstatSync(outside)).toMatchObject({ mtimeMs: 2_000_000 });
});

test.each([
  ['content, with the size and the time that it had', () => writeFileSync(at('a'), 'two'), 'two'],
  ['permissions alone', () => chmodSync(at('a'), 0o600), 'one'],
  ['the time alone', () => utimesSync(at('a'), 2_000, 2_000), 'one'],
])('a change is captured: %s', async (what, change, text) => {
  put('a', 'one');
  utimesSync(at('a'), 1_000, 1_000);
  await new Promise((resolve) => setTimeout(resolve, 50));
  const first = await take();
  change();
  if (what.startsWith('content')) utimesSync(at('a'), 1_000, 1_000);
  const { id, root: after } = await take(root, { known: first.root });
  expect(id).not.toBe(first.id);
  const entry = after.entries.get('a');
  expect(contents.get(entry?.kind === 'file' ? entry.sha256 : '')?.toString()).toBe(text);
});

describe('make says what it said before', () => {
  const make = (of: string, ...args: string[]) => spawnSync('make', args, { cwd: of, encoding: 'utf8' }).status;
  beforeEach(() => {
    put('Makefile', 'prog: sub/a.c\n\tcat sub/a.c > prog\n');
    put('sub/a.c', 'one\n');
    expect(make(root)).toBe(0);
  });

  test.each([
    ['built', () => undefined, 0],
    // In the same millisecond.
    ['changed since', () => utimesSync(at('sub/a.c'), ...after(lstatSync(at('prog')).mtimeMs)), 1],
    ['built anew since', () => (writeFileSync(at('sub/a.c'), 'two\n'), make(root)), 0],
  ])('%s', async (_, change, expected) => {
    change();
    expect(make(root, '-q')).toBe(expected);
    // The order of writing is that of names, in which the program is older than what it is made of, or newer.
    await bring((await take()).id, second());
    expect(make(second(), '-q')).toBe(expected);
  });

  function after(ms: number): [number, number] {
    return [(ms + 0.01) / 1000, (ms + 0.01) / 1000];
  }
});

describe('a snapshot of an earlier version', () => {
  const sha256Of = (text: string) => createHash('sha256').update(text).digest('hex');
  const add = (text: string): string => {
    contents.set(sha256Of(text), Buffer.from(text));
    return sha256Of(text);
  };
  /** Of the form that manifests had. */
  const old = () => {
    const file = (name: string, executable: boolean) =>
      `{"kind":"file","name":"${name}","sha256":"${add(name)}","sizeBytes":1,"executable":${executable}}`;
    const inner = add(`{"version":2,"entries":[${file('x', true)}]}`);
    return add(
      `{"version":2,"entries":[${file('a', false)},{"kind":"link","name":"l","target":"a"},{"kind":"directory","name":"s","sha256":"${inner}"}]}`,
    );
  };

  test('gives one time to all, also to what stands, which later ones keep', async () => {
    const id = old();
    put('a', 'a', 0o600);
    await bring(id, root);
    const before = facts(root);
    expect(new Set(Object.values(before).map((fact) => fact.split(' ')[1])).size).toBe(1);
    expect(Object.values(before).map((fact) => fact.split(' ')[0])).toEqual(['600', 'link', '755', '755']);
    const known = await bring(id, second());
    const times = facts(second());
    const next = await take(second(), { known });
    expect(next.id).not.toBe(id);
    const snapshot = await readSnapshot(next.id ?? '', (sha256) =>
      Promise.resolve(contents.get(sha256) ?? Buffer.alloc(0)),
    );
    for (const { entry } of entriesOf(snapshot)) expect(entry.mtimeUs).toBeDefined();
    await bring(next.id, root);
    expect(facts(root)).toEqual(times);
  });
});
