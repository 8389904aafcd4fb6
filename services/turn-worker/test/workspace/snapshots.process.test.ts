import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { WorkspaceEntry } from '@suzumio/protocol/workspace-manifest';
import { entriesOf, readSnapshot } from '@suzumio/protocol/workspace-snapshot';
import fc, { caseCount } from '../../../../test/support/fast-check.js';
import { cachesIn, isCache, removeCaches } from '../../src/attempt/host-caches.js';
import { removeTree } from '../../src/files/remove-tree.js';
import { treeSize } from '../../src/files/tree-size.js';
import { upload } from '../../src/workspace/content-exchange.js';
import { WorkspaceThreads } from '../../src/workspace/workspace-threads.js';
import { type Workspace, Workspaces } from '../../src/workspace/workspaces.js';
import { Repositories } from '../../src/git/repositories.js';
import { whileLeased } from '../support/leased.js';
import { gitIn, TestRepository } from '../support/repository.js';

const agent = { cell: 'cell-1', project: 'paper', epoch: 1, agent: 'writer' };
const bounds = { maxBytes: 1_000_000, maxFileBytes: 500_000, maxEntries: 100 };

/** Content by hash, as a ToolHost keeps it. */
class Store {
  readonly contents = new Map<string, Buffer>();
  fetched: string[] = [];
  put: string[] = [];

  readonly fetch = (sha256: string): Promise<Readable> => {
    this.fetched.push(sha256);
    const content = this.contents.get(sha256);
    return content ? Promise.resolve(Readable.from([content])) : Promise.reject(new Error(`no content ${sha256}`));
  };

  add(content: string | Buffer): string {
    const bytes = Buffer.from(content);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    this.contents.set(sha256, bytes);
    return sha256;
  }

  file(path: string, text: string, executable = false): WorkspaceEntry {
    return { kind: 'file', path, sha256: this.add(text), sizeBytes: Buffer.byteLength(text), executable };
  }

  manifest(...entries: unknown[]): string {
    return this.add(JSON.stringify({ version: 1, entries }));
  }

  readonly client = {
    hasContent: (sha256: string) => Promise.resolve(this.contents.has(sha256)),
    putContent: async (sha256: string, content: Buffer | { stream: () => Readable | AsyncIterable<Uint8Array> }) => {
      const bytes = Buffer.isBuffer(content) ? content : await buffer(content.stream());
      this.put.push(sha256);
      expect(this.add(bytes)).toBe(sha256);
    },
  };
}

let directory: string;
let store: Store;

beforeEach(async () => {
  directory = await mkdtemp('/tmp/suzumio-workspace-');
  store = new Store();
});

afterEach(() => removeTree(directory));

const thread = new URL('../../dist/workspace/workspace-thread.js', import.meta.url);
let threads = new WorkspaceThreads(thread);
afterAll(() => threads.close());

/** What another process knows: only what is written down. */
async function restart(): Promise<void> {
  await threads.close();
  threads = new WorkspaceThreads(thread);
}

function open(
  worker = 'w',
  boot = 'boot-1',
  ignored: readonly string[] = [],
  tracked: readonly string[] = [],
): Promise<Workspace> {
  return new Workspaces({ workerDir: join(directory, worker), bounds, boot, threads }).open(agent, undefined, {
    ignored,
    tracked,
  });
}

/** What is in the directory, whatever is known of it. */
async function capture(workspace: Workspace) {
  await workspace.expectWrites();
  return workspace.capture({ store: (content) => upload(content, store.client) });
}

/** The workspace as an attempt that may write in it begins with it. */
async function begin(workspace: Workspace, from: string | null): Promise<void> {
  await workspace.bringTo(from, store.fetch);
  await workspace.expectWrites();
}

/** An attempt that ends well: the workspace at `from`, some work, the snapshot uploaded and taken. */
async function attempt(
  workspace: Workspace,
  from: string | null,
  work: (root: string) => Promise<unknown>,
): Promise<string | null> {
  await begin(workspace, from);
  await work(workspace.directory);
  const { id } = await capture(workspace);
  await workspace.settle(id);
  return id;
}

const write = (path: string, text: string) => async (root: string) => {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
};

describe('a worker whose directory has lost a part', () => {
  const parts = ['snapshots', 'snapshots/cell-1', 'snapshots/cell-1/paper.1', 'artifacts', 'downloads', 'workspaces'];
  test.each(parts)('goes on without %s', async (part) => {
    const kept = await attempt(await open(), null, write('a/b', 'one'));
    await rm(join(directory, 'w', part), { recursive: true });
    const workspace = await open();
    const next = await attempt(workspace, kept, write('c', 'two'));
    expect(await readFile(join(workspace.directory, 'a/b'), 'utf8')).toBe('one');
    await rm(join(directory, 'w', part), { recursive: true });
    expect(await attempt(await open(), next, () => Promise.resolve())).toBe(next);
  });
});

describe('a workspace', () => {
  test('that is empty has no snapshot', async () => {
    expect(await attempt(await open(), null, () => Promise.resolve())).toBeNull();
  });

  test('is the same on another worker, with links and permissions', async () => {
    const id = await attempt(await open(), null, async (root) => {
      await write('src/run.sh', '#!/bin/sh')(root);
      await chmod(join(root, 'src/run.sh'), 0o755);
      await mkdir(join(root, 'empty'));
      await symlink('../../etc/passwd', join(root, 'src/link'));
      await write('src/größe 1.txt', 'ä')(root);
    });
    const other = await open('w2');
    await other.bringTo(id, store.fetch);
    const at = (path: string) => join(other.directory, path);
    expect((await lstat(at('src/run.sh'))).mode & 0o111).toBe(0o111);
    expect((await lstat(at('empty'))).isDirectory()).toBe(true);
    expect(await readlink(at('src/link'))).toBe('../../etc/passwd');
    expect(await readFile(at('src/größe 1.txt'), 'utf8')).toBe('ä');
    expect((await capture(other)).id).toBe(id);
  });

  test('costs nothing where it already is what it should be', async () => {
    const workspace = await open();
    const id = await attempt(workspace, null, write('a', 'a'));
    // Whatever stands in the directory: it is known to be there, and is not looked at.
    await rm(join(workspace.directory, 'a'));
    store.fetched = [];
    await (await open()).bringTo(id, store.fetch);
    expect(store.fetched).toEqual([]);
  });

  test('is not looked at where nothing may have written in it', async () => {
    const id = await attempt(await open(), null, write('a', 'a'));
    const dead = { run: () => Promise.reject(new Error('a thread was asked')) } as unknown as WorkspaceThreads;
    const workspaces = new Workspaces({ workerDir: join(directory, 'w'), bounds, boot: 'boot-1', threads: dead });
    for (let turn = 1; turn <= 2; turn += 1) {
      const workspace = await workspaces.open(agent, undefined);
      await workspace.bringTo(id, store.fetch);
      expect((await workspace.capture({ store: () => Promise.reject(new Error('nothing is new')) })).id).toBe(id);
      await workspace.settle(id);
    }
    const written = await workspaces.open(agent, undefined);
    await written.bringTo(id, store.fetch);
    await Promise.all([written.expectWrites(), written.expectWrites()]);
    await expect(capture(written)).rejects.toThrow('a thread was asked');
    // Another process knows as little.
    await expect((await workspaces.open(agent, undefined)).bringTo(id, store.fetch)).rejects.toThrow('was asked');
  });

  test('is not opened to writes before that is on record', async () => {
    const id = await attempt(await open(), null, write('a', 'a'));
    const workspace = await open();
    await workspace.bringTo(id, store.fetch);
    const records = join(directory, 'w/snapshots/cell-1');
    await rename(records, `${records}-away`);
    await expect(workspace.expectWrites()).rejects.toMatchObject({ code: 'ENOENT' });
    await rename(`${records}-away`, records);
    await workspace.expectWrites();
    await write('a', 'torn')(workspace.directory);
    const again = await open();
    await again.bringTo(id, store.fetch);
    expect(await readFile(join(again.directory, 'a'), 'utf8')).toBe('a');
  });

  test('has what is known of it written down only where that has changed', async () => {
    const tree = join(directory, 'w/snapshots/cell-1/paper.1/writer.tree');
    // Without files: whether one is read again depends on the file system's clock.
    const id = await attempt(await open(), null, async (root) => {
      await mkdir(join(root, 'd/d'), { recursive: true });
      await symlink('d', join(root, 'l'));
    });
    const { ino } = await lstat(tree);
    expect(await attempt(await open(), id, () => Promise.resolve())).toBe(id);
    expect((await lstat(tree)).ino).toBe(ino);
    const changed = await attempt(await open(), id, (root) => mkdir(join(root, 'd/e')));
    expect(changed).not.toBe(id);
    const [head = ''] = (await readFile(tree, 'utf8')).split('\n');
    expect(JSON.parse(head)).toMatchObject({ snapshot: changed });
  });

  test('is brought back after an attempt that did not end well', async () => {
    const id = await attempt(await open(), null, async (root) => {
      await write('kept', 'kept')(root);
      await write('changed', 'before')(root);
      await write('removed', 'removed')(root);
      await write('turned/into/file', 'x')(root);
    });
    const failed = await open();
    await begin(failed, id);
    await writeFile(join(failed.directory, 'changed'), 'after!');
    await rm(join(failed.directory, 'removed'));
    await rm(join(failed.directory, 'turned'), { recursive: true });
    await symlink('/etc', join(failed.directory, 'turned'));
    await write('new/file', 'new')(failed.directory);
    execFileSync('mkfifo', [join(failed.directory, 'pipe')]);
    store.fetched = [];
    await restart();
    const again = await open();
    await again.bringTo(id, store.fetch);
    expect((await capture(again)).id).toBe(id);
    // The three files that were not as they should be. The manifests are known.
    expect(store.fetched).toHaveLength(3);
    expect((await lstat('/etc')).isDirectory()).toBe(true);
  });

  test('is brought back where a program of the host holds a lease on one of its files', async () => {
    const workspace = await open();
    const id = await attempt(workspace, null, write('a.txt', 'one'));
    await begin(workspace, id);
    await write('a.txt', 'two')(workspace.directory);
    const file = join(workspace.directory, 'a.txt');
    await whileLeased(file, 'keeps it', () => workspace.bringTo(id, store.fetch));
    expect(await readFile(file, 'utf8')).toBe('one');
  });

  test('notices a change that keeps size and modification time', async () => {
    const workspace = await open();
    const past = new Date(1_700_000_000_000);
    const first = await attempt(workspace, null, async (root) => {
      await write('a', 'one')(root);
      await utimes(join(root, 'a'), past, past);
    });
    const second = await attempt(workspace, first, async (root) => {
      await write('a', 'two')(root);
      await utimes(join(root, 'a'), past, past);
    });
    expect(second).not.toBe(first);
  });

  test('is uploaded as far as it is new', async () => {
    const workspace = await open();
    const first = await attempt(workspace, null, async (root) => {
      await write('a', 'a')(root);
      await write('b', 'b')(root);
    });
    expect(store.put).toHaveLength(3);
    store.put = [];
    await attempt(workspace, first, write('c', 'c'));
    expect(store.put).toHaveLength(2);
  });

  test('is uploaded anew where only a failed attempt had had the content', async () => {
    const workspace = await open();
    const first = await attempt(workspace, null, write('a', 'a'));
    await begin(workspace, first);
    await write('b', 'lost')(workspace.directory);
    await capture(workspace);
    const again = await attempt(await open(), first, write('b', 'lost'));
    const other = await open('w2');
    await other.bringTo(again, store.fetch);
    expect(await readFile(join(other.directory, 'b'), 'utf8')).toBe('lost');
  });

  test('whose snapshot an earlier version made, a flat list, uploads the manifests of its directories alone', async () => {
    const flat = store.manifest(
      { kind: 'directory', path: 'a' },
      { kind: 'directory', path: 'a-b' },
      store.file('a/x', 'text'),
      { kind: 'link', path: 'l', target: 'a' },
    );
    const workspace = await open();
    const id = await attempt(workspace, flat, () => Promise.resolve());
    expect(id).not.toBe(flat);
    expect(store.put).toHaveLength(3);
    store.put = [];
    expect(await attempt(await open(), id, () => Promise.resolve())).toBe(id);
    expect(store.put).toEqual([]);
    const other = await open('w2');
    await other.bringTo(id, store.fetch);
    expect(await readFile(join(other.directory, 'a/x'), 'utf8')).toBe('text');
    await other.bringTo(flat, store.fetch);
    store.put = [];
    // But for the one time of all, it is the same.
    await capture(other);
    expect(store.put).toHaveLength(3);
  });

  test('is read anew where the clock was set back', async () => {
    const workspace = await open();
    const id = await attempt(workspace, null, write('a', 'one'));
    await restart();
    // What is known is of a moment to come, and claims of the file what is not so.
    const tree = join(directory, 'w/snapshots/cell-1/paper.1/writer.tree');
    const [head = ''] = (await readFile(tree, 'utf8')).split('\n');
    const known = JSON.parse(head) as { atMs: number };
    const { ino, dev, size, mtimeMs, ctimeMs } = await lstat(join(workspace.directory, 'a'));
    const seen = { ino, dev, size, mtimeMs, ctimeMs, sure: true };
    const wrong = ['f', 'a', [null, null], createHash('sha256').update('two').digest('hex'), 3, false, seen];
    const written = (of: object) =>
      `${JSON.stringify({ ...known, ...of, root: [null, 1] })}\n${JSON.stringify(wrong)}\n`;
    await writeFile(tree, written({}));
    const one = createHash('sha256').update('one').digest('hex');
    const fetchedAt = async (atMs: number) => {
      await restart();
      await writeFile(tree, written({ atMs, snapshot: null }));
      store.fetched = [];
      const again = await open();
      await again.expectWrites();
      await again.bringTo(id, store.fetch);
      return store.fetched.includes(one);
    };
    // Where it is not, the file is read, and found to be as it should be.
    expect(await fetchedAt(known.atMs + 3_600_000)).toBe(false);
    expect(await fetchedAt(known.atMs)).toBe(true);
  });

  test('is fetched again where somebody removed its directory', async () => {
    const workspace = await open();
    const id = await attempt(workspace, null, write('a', 'a'));
    await rm(workspace.directory, { recursive: true });
    const again = await open();
    await again.bringTo(id, store.fetch);
    expect(await readFile(join(again.directory, 'a'), 'utf8')).toBe('a');
  });

  test('is looked at file by file after the machine was started anew', async () => {
    const id = await attempt(await open(), null, write('a', 'whole'));
    await writeFile(join((await open()).directory, 'a'), 'torn!');
    await (await open('w', 'boot-2')).bringTo(id, store.fetch);
    expect(await readFile(join((await open()).directory, 'a'), 'utf8')).toBe('whole');
  });

  test.each([
    ['bytes', 'workspace.maxBytes', (root: string) => write('big', 'x'.repeat(1_000_001))(root)],
    [
      'entries',
      'workspace.maxFiles',
      (root: string) => Promise.all(Array.from({ length: 101 }, (_, i) => write(`f${i}`, '')(root))),
    ],
    ['a path', '1024 characters', (root: string) => write(`${'a'.repeat(200)}/`.repeat(6) + 'x', '')(root)],
  ])('has bounds: %s', async (_what, limit, work) => {
    const workspace = await open();
    await begin(workspace, null);
    await work(workspace.directory);
    await expect(capture(workspace)).rejects.toMatchObject({
      name: 'WorkspaceTooLarge',
      message: expect.stringContaining(limit),
    });
    // And what is beyond them does not stand in the way of the next attempt.
    const id = await attempt(await open(), store.manifest(store.file('a', 'a')), () => Promise.resolve());
    expect(id).not.toBeNull();
  });

  test('is not restored where its disk takes two of its names for one: none of them is written over', async () => {
    const id = store.manifest(...['README', 'readme'].map((name) => store.file(name, name)));
    const workspace = await open();
    // On such a disk the second name is there as soon as the first one is.
    const fetch = async (sha256: string) => {
      if (sha256 === store.add('readme')) await writeFile(join(workspace.directory, 'readme'), 'README');
      return store.fetch(sha256);
    };
    await expect(workspace.bringTo(id, fetch)).rejects.toMatchObject({
      name: 'SnapshotInvalid',
      message: expect.stringContaining('readme and another name'),
    });
    expect(await readFile(join(workspace.directory, 'readme'), 'utf8')).toBe('README');
  });

  test('is restored with more than it may have by now, so that its agent can remove some', async () => {
    const id = store.manifest(...['a', 'b', 'c'].map((name) => store.file(name, name)));
    const lower = { ...bounds, maxEntries: 2 };
    const elsewhere = new Workspaces({ workerDir: join(directory, 'v'), bounds, boot: 'boot-1', threads });
    const workspace = await elsewhere.open(agent, undefined, { bounds: lower });
    await begin(workspace, id);
    await expect(capture(workspace)).rejects.toMatchObject({ name: 'WorkspaceTooLarge' });
    await rm(join(workspace.directory, 'c'));
    expect(await capture(workspace)).not.toBeNull();
  });

  test('has no directory whose manifest nobody would read', async () => {
    const workspace = await open();
    await begin(workspace, null);
    const target = 'x'.repeat(4095);
    const links = Array.from({ length: 16_500 }, (_, at) => symlink(target, join(workspace.directory, `l${at}`)));
    await Promise.all(links);
    const all = { bounds: { ...bounds, maxEntries: 20_000 } };
    const large = new Workspaces({ workerDir: join(directory, 'w'), bounds, boot: 'boot-1', threads });
    await expect(capture(await large.open(agent, undefined, all))).rejects.toMatchObject({
      name: 'WorkspaceTooLarge',
      message: expect.stringContaining('links with more than'),
    });
  });

  test('takes no file that a ToolHost would not store, and names it', async () => {
    const workspace = await open();
    await begin(workspace, null);
    await write('data/large.bin', 'x'.repeat(500_001))(workspace.directory);
    await expect(capture(workspace)).rejects.toMatchObject({
      name: 'WorkspaceTooLarge',
      message: expect.stringMatching(/data\/large\.bin.* 500001 bytes.*500000/),
    });
  });
});

describe('a snapshot that lies', () => {
  const cases: [string, () => string][] = [
    ['is not JSON', () => store.add('{')],
    ['is not a manifest', () => store.add('{"version":2}')],
    ['leads out of the workspace', () => store.manifest({ kind: 'directory', path: '..' })],
    [
      'leads out of the workspace on the way',
      () => store.manifest({ kind: 'directory', path: 'a' }, store.file('a/../../x', '')),
    ],
    ['is absolute', () => store.manifest(store.file('/etc/x', ''))],
    ['writes through a link', () => store.manifest({ kind: 'link', path: 'a', target: '/tmp' }, store.file('a/x', ''))],
    ['writes through a file', () => store.manifest(store.file('a', ''), store.file('a/x', ''))],
    ['has a path twice', () => store.manifest(store.file('a', '1'), store.file('a', '2'))],
    ['is not sorted', () => store.manifest(store.file('b', ''), store.file('a', ''))],
    ['is larger than allowed', () => store.manifest({ ...store.file('a', 'a'), sizeBytes: 2_000_000 })],
    ['says another size', () => store.manifest({ ...store.file('a', 'aa'), sizeBytes: 1 })],
    ['says another size, larger', () => store.manifest({ ...store.file('a', 'aa'), sizeBytes: 3 })],
  ];
  test.each(cases)('%s', async (_how, snapshot) => {
    const workspace = await open();
    await expect(workspace.bringTo(snapshot(), store.fetch)).rejects.toMatchObject({ name: 'SnapshotInvalid' });
    expect((await capture(workspace)).id).toBeNull();
  });

  test('has content that is not what its id says', async () => {
    const snapshot = store.manifest(store.file('a', 'right'));
    const wrong = (sha256: string) =>
      sha256 === snapshot ? store.fetch(sha256) : Promise.resolve(Readable.from([Buffer.from('wrong')]));
    await expect((await open()).bringTo(snapshot, wrong)).rejects.toMatchObject({ name: 'SnapshotInvalid' });
    const other = () => Promise.resolve(Readable.from([Buffer.from('{"version":1,"entries":[]}')]));
    await expect((await open()).bringTo(snapshot, other)).rejects.toMatchObject({ name: 'SnapshotInvalid' });
  });
});

test('whatever agents do, and wherever their attempts fail, a worker and a new worker see the same files', async () => {
  const name = fc.constantFrom('a', 'b', 'd', 'd/a', 'd/b', 'd/d', 'd/d/a');
  const act = fc.oneof(
    fc.record({ do: fc.constant('write' as const), path: name, text: fc.string({ maxLength: 3 }) }),
    fc.record({ do: fc.constant('link' as const), path: name, text: fc.constantFrom('a', 'd', '/etc', '..') }),
    fc.record({ do: fc.constant('directory' as const), path: name, text: fc.constant('') }),
    fc.record({ do: fc.constant('remove' as const), path: name, text: fc.constant('') }),
  );
  type Act = { do: 'write' | 'link' | 'directory' | 'remove'; path: string; text: string };
  const carryOut = async (root: string, { do: what, path, text }: Act) => {
    const at = join(root, path);
    // Where something is in the way, the agent goes on with its next act; it never leaves its workspace.
    const parent = await lstat(dirname(at)).catch(() => undefined);
    if (!parent?.isDirectory()) return;
    await rm(at, { recursive: true, force: true });
    if (what === 'write') await writeFile(at, text);
    if (what === 'link') await symlink(text, at);
    if (what === 'directory') await mkdir(at);
  };
  const turn = fc.record({
    acts: fc.array(act, { maxLength: 5 }),
    fails: fc.boolean(),
    restarts: fc.integer({ min: 0, max: 15 }).map((n) => n === 0),
  });
  const turns = fc.array(turn, { maxLength: 5 });
  let run = 0;
  await fc.assert(
    fc.asyncProperty(turns, async (list) => {
      run += 1;
      store = new Store();
      let current: string | null = null;
      for (const { acts, fails, restarts } of list) {
        if (restarts) await restart();
        const workspace = await open(`run-${run}`);
        const work = async (root: string) => {
          for (const one of acts) await carryOut(root, one);
        };
        if (fails) {
          await begin(workspace, current);
          await work(workspace.directory);
        } else {
          current = await attempt(workspace, current, work);
        }
      }
      const [here, elsewhere] = [await open(`run-${run}`), await open(`run-${run}-elsewhere`)];
      await here.bringTo(current, store.fetch);
      await elsewhere.bringTo(current, store.fetch);
      expect((await capture(here)).id).toBe(current);
      expect((await capture(elsewhere)).id).toBe(current);
    }),
    { numRuns: caseCount(60) },
  );
});

describe('directories that are not captured', () => {
  const ignored = ['node_modules', 'build/cache'];
  const paths = async (id: string | null) => {
    if (id === null) return [];
    const read = (sha256: string) => Promise.resolve(store.contents.get(sha256) ?? Buffer.alloc(0));
    return [...entriesOf(await readSnapshot(id, read))].map(({ path }) => path);
  };
  const write = async (workspace: Workspace, ...files: string[]) => {
    for (const file of files) {
      await mkdir(dirname(join(workspace.directory, file)), { recursive: true });
      await writeFile(join(workspace.directory, file), file);
    }
  };
  const has = (workspace: Workspace, file: string) =>
    lstat(join(workspace.directory, file)).then(
      () => true,
      () => false,
    );

  test('count towards no bound of a workspace, and stay on their host through turns and restores', async () => {
    const workspace = await open('w', 'boot-1', ignored);
    expect(workspace.isNew).toBe(true);
    expect((await open('w', 'boot-1', ignored)).isNew).toBe(false);
    await begin(workspace, null);
    await write(workspace, 'a.txt', 'web/b.txt', 'web/node_modules/x/y', 'build/cache/z', 'cache/kept');
    // More than a workspace may have.
    await write(workspace, ...Array.from({ length: 120 }, (_, number) => `node_modules/${String(number)}`));
    const captured = await capture(workspace);
    expect(await paths(captured.id)).toEqual(['a.txt', 'build', 'cache', 'cache/kept', 'web', 'web/b.txt']);

    await write(workspace, 'later.txt', 'node_modules/more');
    await begin(workspace, captured.id);
    expect(await has(workspace, 'later.txt')).toBe(false);
    for (const file of ['node_modules/0', 'node_modules/more', 'web/node_modules/x/y', 'build/cache/z']) {
      expect(await has(workspace, file)).toBe(true);
    }
    await begin(workspace, null);
    expect(await has(workspace, 'node_modules/0')).toBe(true);
    expect(await has(workspace, 'web')).toBe(false);

    const elsewhere = await open('v', 'boot-1', ignored);
    await begin(elsewhere, captured.id);
    expect(await has(elsewhere, 'a.txt')).toBe(true);
    expect(await has(elsewhere, 'node_modules')).toBe(false);
  });

  test('are directories: a file or a link of that name is captured, and never followed', async () => {
    const workspace = await open('w', 'boot-1', ignored);
    await begin(workspace, null);
    await write(workspace, 'node_modules');
    await mkdir(join(workspace.directory, 'web'));
    await symlink('/etc', join(workspace.directory, 'web', 'node_modules'));
    const captured = await capture(workspace);
    expect(await paths(captured.id)).toEqual(['node_modules', 'web', 'web/node_modules']);
    await begin(workspace, null);
    expect(await has(workspace, 'web')).toBe(false);
    expect(await has(workspace, 'node_modules')).toBe(false);
  });

  test('stay in snapshots as the workspace began with them, and are restored so elsewhere', async () => {
    const seed = await open('seed');
    await begin(seed, null);
    await write(seed, 'a.txt', 'node_modules/x/y', 'node_modules/z');
    const { id } = await capture(seed);
    const workspace = await open('w', 'boot-1', ignored);
    await begin(workspace, id);
    expect(await has(workspace, 'node_modules/x/y')).toBe(true);
    expect((await capture(workspace)).id).toBe(id);

    await write(workspace, 'a.txt', 'b.txt', 'node_modules/new');
    await rm(join(workspace.directory, 'node_modules/z'));
    const captured = await capture(workspace);
    expect(await paths(captured.id)).toEqual([
      'a.txt',
      'b.txt',
      'node_modules',
      'node_modules/x',
      'node_modules/x/y',
      'node_modules/z',
    ]);
    await begin(workspace, id);
    expect(await has(workspace, 'b.txt')).toBe(false);
    expect(await has(workspace, 'node_modules/new')).toBe(true);
    expect(await has(workspace, 'node_modules/z')).toBe(false);

    const elsewhere = await open('v', 'boot-1', ignored);
    await begin(elsewhere, captured.id);
    expect(await has(elsewhere, 'node_modules/z')).toBe(true);
    expect(await has(elsewhere, 'node_modules/new')).toBe(false);
    await rm(join(elsewhere.directory, 'node_modules'), { recursive: true });
    expect(await paths((await capture(elsewhere)).id)).toEqual(['a.txt', 'b.txt']);
  });

  test('count in a snapshot that has them', async () => {
    const seed = await open('seed');
    await begin(seed, null);
    await write(seed, ...Array.from({ length: 60 }, (_, number) => `node_modules/${String(number)}`));
    const { id } = await capture(seed);
    const workspace = await open('w', 'boot-1', ignored);
    await begin(workspace, id);
    await write(workspace, ...Array.from({ length: 60 }, (_, number) => `src/${String(number)}`));
    await expect(capture(workspace)).rejects.toThrow(/more than 100 files/);
  });

  test('are captured as far as a clone has files in them, and clean on another host', async () => {
    const origin = new TestRepository(join(directory, 'origin'));
    const fixtures = ['test/node_modules/a/x.js', 'test/node_modules/a/y.js', 'test/node_modules/z.js'];
    origin.commit(Object.fromEntries(['.gitignore', ...fixtures].map((path) => [path, `${path}\n`])));
    const repositories = new Repositories({ directory: join(directory, 'git'), bounds, cloneMs: 30_000 });
    const workspace = await open('w', 'boot-1', ignored);
    await begin(workspace, null);
    const asked = { git: origin.path, branch: 'suzumio/writer' };
    const author = { name: 'Aoi', email: 'writer@paper.invalid' };
    const { signal } = new AbortController();
    const to = { author, check: () => undefined, ignored, signal };
    const { tracked } = await repositories.clone(asked, workspace.directory, to);
    expect(tracked).toEqual(fixtures);
    workspace.track(tracked);
    const look = ['--no-optional-locks', 'status', '--porcelain'];
    const status = ({ directory: path }: Workspace) => gitIn(path, ...look);
    const cloned = await capture(workspace);
    const elsewhere = await open('v', 'boot-1', ignored, tracked);
    await begin(elsewhere, cloned.id);
    expect(status(elsewhere)).toBe('');

    await write(elsewhere, 'node_modules/cache', 'test/node_modules/a/cache', 'test/node_modules/b/cache');
    await writeFile(join(elsewhere.directory, 'test/node_modules/a/x.js'), 'changed');
    await rm(join(elsewhere.directory, 'test/node_modules/z.js'));
    const changed = ['M test/node_modules/a/x.js', ' D test/node_modules/z.js'].join('\n');
    const tracking = () => gitIn(elsewhere.directory, ...look, '--untracked-files=no');
    expect(tracking()).toBe(changed);
    const captured = await capture(elsewhere);
    expect((await paths(captured.id)).filter((path) => !path.startsWith('.git'))).toEqual([
      'test',
      'test/node_modules',
      'test/node_modules/a',
      'test/node_modules/a/x.js',
      'test/node_modules/a/y.js',
    ]);
    const third = await open('u', 'boot-1', ignored, tracked);
    await begin(third, captured.id);
    expect(status(third)).toBe(changed);

    // What is a cache stays where it is, whatever the rest is restored to.
    await begin(elsewhere, cloned.id);
    expect(tracking()).toBe('');
    for (const file of ['node_modules/cache', 'test/node_modules/a/cache', 'test/node_modules/b/cache']) {
      expect(await has(elsewhere, file)).toBe(true);
    }
    expect((await capture(elsewhere)).id).toBe(cloned.id);
    await begin(elsewhere, captured.id);
    expect(tracking()).toBe(changed);
    expect(await has(elsewhere, 'test/node_modules/a/cache')).toBe(true);
  });

  test('are captured whole where a clone has too many files in them to be named', async () => {
    const tracked = ['web/node_modules'];
    const workspace = await open('w', 'boot-1', ignored, tracked);
    await begin(workspace, null);
    await write(workspace, 'web/node_modules/a/node_modules/x', 'node_modules/y');
    const captured = await capture(workspace);
    expect(await paths(captured.id)).toEqual([
      'web',
      'web/node_modules',
      'web/node_modules/a',
      'web/node_modules/a/node_modules',
      'web/node_modules/a/node_modules/x',
    ]);
    await write(workspace, 'web/node_modules/more');
    await begin(workspace, captured.id);
    expect(await has(workspace, 'web/node_modules/more')).toBe(false);
    expect(await has(workspace, 'node_modules/y')).toBe(true);
  });

  test('are measured by themselves, and removed together', async () => {
    const workspace = await open('w', 'boot-1', ignored);
    await begin(workspace, null);
    await write(workspace, 'a.txt', 'node_modules/x', 'web/node_modules/y/z');
    const wide = { maxBytes: 1_000_000, maxEntries: 1000 };
    const leave = isCache(workspace);
    expect(await treeSize([workspace.directory], wide, { leave })).toMatchObject({ entries: 4 });
    expect(await treeSize(await cachesIn(workspace), wide)).toMatchObject({ entries: 3 });
    await removeCaches(workspace);
    expect(await has(workspace, 'web/node_modules')).toBe(false);
    expect(await has(workspace, 'a.txt')).toBe(true);
  });
});
