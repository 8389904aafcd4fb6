import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type CaptureScope, captureScope } from '@suzumio/protocol/ignored-roots';
import { OpenDirectory } from '../../src/files/open-directory.js';
import { type Captured, capture } from '../../src/workspace/capture.js';
import { FileClock } from '../../src/workspace/file-clock.js';
import type { KnownDirectory, KnownEntry } from '../../src/workspace/known-tree.js';
import { type Content, FileReader } from '../../src/workspace/read-file.js';
import { whileLeased } from '../support/leased.js';

const bounds = { maxBytes: 10_000_000, maxFileBytes: 5_000_000, maxEntries: 1_000 };

let directory: string;
let root: string;
let staging: string;
let stored: Content[];
/** What was stored with what it was when that was asked for. */
let texts: Map<string, string>;
/** What happens while content is stored: files may change then. */
let meanwhile: (content: Content) => void;

beforeEach(() => {
  directory = mkdtempSync('/tmp/suzumio-captures-');
  [root, staging] = [join(directory, 'workspace'), join(directory, 'staging')];
  for (const path of [root, staging]) mkdirSync(path);
  stored = [];
  texts = new Map();
  meanwhile = () => undefined;
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const at = (path: string) => join(root, path);
const put = (path: string, text: string | Buffer) => {
  mkdirSync(join(at(path), '..'), { recursive: true });
  writeFileSync(at(path), text);
};

async function take(
  options: {
    live?: boolean;
    known?: KnownDirectory;
    clock?: FileClock;
    of?: typeof bounds;
    leasePatienceMs?: number;
    scope?: CaptureScope;
  } = {},
): Promise<Captured> {
  stored = [];
  const { live = true, known, clock = FileClock.read(staging, live), of = bounds, leasePatienceMs, scope } = options;
  const store = (content: Content) => {
    texts.set(
      content.sha256,
      'bytes' in content ? Buffer.from(content.bytes).toString() : readFileSync(content.file, 'utf8'),
    );
    stored.push(content);
    meanwhile(content);
  };
  return capture(root, {
    bounds: of,
    live,
    clock,
    known,
    staging,
    store,
    check: () => undefined,
    leasePatienceMs,
    ...(scope && { scope }),
  });
}

const entryAt = ({ root: top }: Captured, path: string): KnownEntry | undefined =>
  path
    .split('/')
    .reduce<KnownEntry | undefined>(
      (entry, name) => (entry?.kind === 'directory' ? entry.entries.get(name) : undefined),
      top,
    );
const textAt = (captured: Captured, path: string) => {
  const entry = entryAt(captured, path);
  return entry?.kind === 'file' ? texts.get(entry.sha256) : entry;
};
const seenAt = (captured: Captured, path: string) => {
  const entry = entryAt(captured, path);
  return entry?.kind === 'file' ? entry.seen : undefined;
};

/** So long that no later change has the same time. */
const settle = () => sleep(60);
/** A clock that says that more time has passed. */
const later = (ms: number, live: boolean) => {
  const now = FileClock.read(staging, live);
  return Object.assign(Object.create(FileClock.prototype) as FileClock, now, { nowMs: now.nowMs + ms });
};

describe('a live capture', () => {
  test('counts small files and directories by the blocks that they take', async () => {
    const of = { ...bounds, maxBytes: 11 * 4096 };
    for (let n = 0; n < 10; n += 1) put(`d/${n}`, String(n));
    await take({ of });
    put('e', '');
    const tooLarge = { name: 'WorkspaceTooLarge', message: expect.stringContaining('workspace.maxBytes') };
    await expect(take({ of })).rejects.toMatchObject(tooLarge);
    // So do those of an ignored directory that the workspace began with.
    const { root: known } = await take();
    const scope = captureScope(['d'], []);
    await take({ known, scope, of: { ...bounds, maxBytes: 12 * 4096 } });
    await expect(take({ known, scope, of })).rejects.toMatchObject(tooLarge);
  });

  test('stores what of a workspace is new: files and the directories on their way', async () => {
    put('a/b/x', 'x');
    put('a/y', 'y');
    put('c/z', 'z');
    await settle();
    const first = await take();
    expect(stored).toHaveLength(7);
    put('a/b/x', 'changed');
    const second = await take({ known: first.root });
    expect(stored.map(({ sha256 }) => texts.get(sha256)).filter((text) => !text?.includes('version'))).toEqual([
      'changed',
    ]);
    expect(stored).toHaveLength(4);
    expect(second.id).not.toBe(first.id);
    await take({ known: second.root });
    expect(stored).toEqual([]);
  });

  test('does not hold the output of commands and half written files, and changes nothing', async () => {
    put('.suzumio/output', 'of a command');
    put('.suzumio-1.tmp', 'half written');
    put('sub/.suzumio-2.tmp', 'half written');
    put('sub/.suzumio', 'of the agent');
    execFileSync('mkfifo', [at('pipe')]);
    writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff])]), 'no text');
    const captured = await take();
    expect([...captured.root.entries.keys()]).toEqual(['sub']);
    expect(entryAt(captured, 'sub/.suzumio-2.tmp')).toBeUndefined();
    expect(textAt(captured, 'sub/.suzumio')).toBe('of the agent');
    expect(captured.leftOut?.count).toBe(2);
    expect(captured).not.toHaveProperty('ignoredFiles');
    expect(existsSync(at('.suzumio/output')) && existsSync(at('sub/.suzumio-2.tmp'))).toBe(true);
    expect(lstatSync(at('pipe')).isFIFO()).toBe(true);
    expect(existsSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff])]))).toBe(true);
  });

  test('holds a name with a replacement character, which is text', async () => {
    put('\uFFFD', 'a');
    expect([...(await take()).root.entries.keys()]).toEqual(['\uFFFD']);
  });

  test.each([
    ['small', 100],
    ['large', 600_000],
  ])('stores the bytes that it hashed, though a %s file changes', async (_, size) => {
    put('file', 'a'.repeat(size));
    meanwhile = () => writeFileSync(at('file'), 'b'.repeat(size));
    const captured = await take();
    expect(textAt(captured, 'file')).toBe('a'.repeat(size));
  });

  test('leaves nothing of what it did not store', async () => {
    put('one', 'a'.repeat(600_000));
    put('two', 'a'.repeat(600_000));
    const captured = await take();
    const kept = stored.flatMap((content) => ('file' in content ? [basename(content.file)] : []));
    expect(kept).toHaveLength(1);
    expect(readdirSync(staging).sort()).toEqual(['clock', ...kept]);
    expect(textAt(captured, 'one')).toBe(textAt(captured, 'two'));
  });

  test('has a directory that was swapped for a link while it was walked neither as what it leads to nor as it was', async () => {
    mkdirSync(join(directory, 'outside'));
    writeFileSync(join(directory, 'outside/secret'), 'of the host');
    put('a', 'first');
    put('b/x', 'inside');
    meanwhile = () => {
      if (lstatSync(at('b')).isSymbolicLink()) return;
      renameSync(at('b'), join(directory, 'away'));
      symlinkSync(join(directory, 'outside'), at('b'));
    };
    const captured = await take();
    expect(entryAt(captured, 'b')).toMatchObject({ kind: 'link', target: join(directory, 'outside') });
    expect([...texts.values()].join()).not.toContain('of the host');
  });

  test('goes on in the directory that it is in when that is swapped for a link', async () => {
    mkdirSync(join(directory, 'outside'));
    for (const name of ['1', '2']) writeFileSync(join(directory, 'outside', name), 'of the host');
    put('b/1', 'one');
    put('b/2', 'two');
    meanwhile = () => {
      if (lstatSync(at('b')).isSymbolicLink()) return;
      renameSync(at('b'), at('c'));
      symlinkSync(join(directory, 'outside'), at('b'));
    };
    const captured = await take();
    expect(textAt(captured, 'b/2')).toBe('two');
    expect([...texts.values()].join()).not.toContain('of the host');
  });

  test('is refused beyond its bounds before more is read', async () => {
    for (let n = 0; n <= 1_000; n += 1) put(`f${String(n)}`, '');
    await expect(take()).rejects.toMatchObject({ name: 'WorkspaceTooLarge' });
  });

  test('is refused beyond its bounds before much of it is stored', async () => {
    for (let n = 0; n < 10; n += 1) {
      put(`f${String(n)}`, '');
      truncateSync(at(`f${String(n)}`), 30_000_000 + n);
    }
    const of = { ...bounds, maxBytes: 200_000_000, maxFileBytes: 40_000_000 };
    await expect(take({ of })).rejects.toMatchObject({ name: 'WorkspaceTooLarge' });
    expect(stored).toHaveLength(2);
  });

  test('ends when it is told to', async () => {
    put('a', 'a');
    const enough = new Error('enough');
    const check = () => {
      throw enough;
    };
    const clock = FileClock.read(staging, true);
    await expect(
      capture(root, { bounds, live: true, clock, known: undefined, staging, store: () => undefined, check }),
    ).rejects.toBe(enough);
  });
});

describe('what cannot be read while the turn runs', () => {
  const isRoot = process.geteuid?.() === 0;
  const agent = 1000;
  /** Captures as a worker that is not root, and whose files the agent's are. */
  const takeAsAgent = async (options: Parameters<typeof take>[0] = {}) => {
    if (!isRoot) return take(options);
    const own = ['.', ...readdirSync(root, { recursive: true }).map(String)].map(at);
    for (const path of [directory, staging, ...own, ...readdirSync(staging).map((name) => join(staging, name))]) {
      if (!roots.has(path) && lstatSync(path).uid !== agent) chownSync(path, agent, agent);
    }
    process.seteuid?.(agent);
    try {
      return await take(options);
    } finally {
      process.seteuid?.(0);
    }
  };
  /** What is the agent's neither to read nor to change. */
  const roots = new Set<string>();
  const putOfRoot = (path: string, text: string) => {
    put(path, text);
    if (isRoot) roots.add(at(path));
    chmodSync(at(path), 0o600);
  };
  beforeEach(() => roots.clear());

  test('for its mode alone is read, and its mode stays', async () => {
    put('open', 'open');
    put('secret', 'secret');
    put('closed/a', 'a');
    put('listed/b', 'b');
    chmodSync(at('secret'), 0o200);
    chmodSync(at('closed'), 0o000);
    chmodSync(at('listed'), 0o600);
    const captured = await takeAsAgent();
    expect(['open', 'secret', 'closed/a', 'listed/b'].map((path) => textAt(captured, path))).toEqual([
      'open',
      'secret',
      'a',
      'b',
    ]);
    if (!isRoot) return;
    expect(['open', 'secret', 'closed', 'listed'].map((path) => lstatSync(at(path)).mode & 0o777)).toEqual([
      0o644, 0o200, 0o000, 0o600,
    ]);
  });

  test('is as it was, where it has not changed since; else nothing is captured without it', async () => {
    if (!isRoot) return;
    put('open', 'open');
    put('known', 'known');
    await takeAsAgent();
    await settle();
    const first = await takeAsAgent();
    roots.add(at('known'));
    put('open', 'changed');
    const second = await takeAsAgent({ known: first.root });
    expect([textAt(second, 'open'), textAt(second, 'known')]).toEqual(['changed', 'known']);
    // It may have changed with that: its time of modification can be set.
    chownSync(at('known'), 0, 0);
    chmodSync(at('known'), 0o600);
    await expect(takeAsAgent({ known: second.root })).rejects.toThrow(/^The file "known" cannot be read/);
    rmSync(at('known'));
    putOfRoot('sub/new', 'new');
    await expect(takeAsAgent({ known: second.root })).rejects.toThrow(/^The file "sub\/new" cannot be read/);
    // Nothing of it would stay anyway.
    rmSync(at('sub'), { recursive: true });
    putOfRoot('.suzumio/output', 'of a command');
    expect((await takeAsAgent({ known: second.root })).root.entries.size).toBe(1);
  });

  test('was as a program holds a lease on it, and is waited for until the program gives it back', async () => {
    put('a', 'a');
    await whileLeased(at('a'), 'gives it back', async () => {
      const captured = await take();
      expect(textAt(captured, 'a')).toBe('a');
    });
  });

  test('is as it was while a program keeps its lease, unless it has changed', async () => {
    put('a', 'a');
    put('b', 'b');
    await settle();
    const first = await take();
    await whileLeased(at('a'), 'keeps it', async () => {
      const second = await take({ known: first.root, leasePatienceMs: 0, clock: later(61_000, true) });
      expect([textAt(second, 'a'), textAt(second, 'b')]).toEqual(['a', 'b']);
      await expect(take({ leasePatienceMs: 0 })).rejects.toThrow(/^The file "a" cannot be read now/);
    });
  });
});

test('no link is opened, though something else was there when it was listed', () => {
  mkdirSync(join(directory, 'outside'));
  writeFileSync(join(directory, 'outside/secret'), 'of the host');
  symlinkSync(join(directory, 'outside'), at('directory'));
  symlinkSync(join(directory, 'outside/secret'), at('file'));
  execFileSync('mkfifo', [at('pipe')]);
  const top = OpenDirectory.open(root);
  const reader = new FileReader(staging, bounds.maxFileBytes, () => undefined);
  try {
    expect(() => top.open('directory')).toThrow(/ENOTDIR|ELOOP/);
    expect(() => reader.read(top.at('file'), 'file')).toThrow(/ELOOP/);
    expect(() => reader.read(top.at('pipe'), 'pipe')).toThrow('is not a regular file');
    expect(() => reader.read(top.at('directory'), 'directory')).toThrow(/ELOOP/);
    expect(() => top.chmod('file', 0o777)).toThrow();
    expect(lstatSync(join(directory, 'outside/secret')).mode & 0o777).not.toBe(0o777);
  } finally {
    top.close();
  }
});

describe('a file that was read is read again', () => {
  test('where it changed, whatever its size and times of modification say', async () => {
    put('a', 'one');
    utimesSync(at('a'), 1_000, 1_000);
    await settle();
    const first = await take();
    expect(seenAt(first, 'a')).toBeDefined();
    writeFileSync(at('a'), 'two');
    utimesSync(at('a'), 1_000, 1_000);
    expect(textAt(await take({ known: first.root }), 'a')).toBe('two');
  });

  test('where another took its place', async () => {
    put('a', 'one');
    put('b', 'two');
    await settle();
    const first = await take();
    renameSync(at('b'), at('a'));
    expect(textAt(await take({ known: first.root }), 'a')).toBe('two');
  });

  test('where it was read so soon after a change that another could have the same time', async () => {
    put('a', 'one');
    expect(seenAt(await take(), 'a')).toBeUndefined();
    await settle();
    expect(seenAt(await take(), 'a')).toBeDefined();
  });

  test('once its pages were written back, for what was written through mapped memory shows nowhere before', async () => {
    put('a', 'a'.repeat(100));
    // It writes into the same page again and again, without a new time of change.
    const program = `
import mmap, sys
f = open(sys.argv[1], 'r+b')
m = mmap.mmap(f.fileno(), 0)
m[0:1] = b'b'
print('begun', flush=True)
for line in sys.stdin:
    m[0:1] = b'c'
    print('written', flush=True)
`;
    const child = spawn('python3', ['-c', program, at('a')], { stdio: ['pipe', 'pipe', 'inherit'] });
    try {
      await once(child.stdout, 'data');
      await settle();
      const first = await take();
      expect(textAt(first, 'a')).toBe(`b${'a'.repeat(99)}`);
      const before = lstatSync(at('a')).ctimeMs;
      child.stdin.write('\n');
      await once(child.stdout, 'data');
      // Another file system, or the system just wrote back, would show it: then there is nothing to be seen here.
      if (lstatSync(at('a')).ctimeMs === before && statfsSync(root).type !== 0x01021994) {
        expect(textAt(await take({ known: first.root }), 'a')).toBe(`b${'a'.repeat(99)}`);
      }
      const changed = `c${'a'.repeat(99)}`;
      expect(textAt(await take({ known: first.root, clock: later(61_000, true) }), 'a')).toBe(changed);
      expect(textAt(await take({ known: first.root, live: false }), 'a')).toBe(changed);
    } finally {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  });

  test('never, where its last change is long ago', async () => {
    put('a', 'one');
    await settle();
    const first = await take({ clock: later(61_000, true) });
    expect(seenAt(first, 'a')).toMatchObject({ sure: true });
    for (const live of [true, false]) {
      await take({ known: first.root, live, clock: later(200_000, live) });
      expect(stored).toEqual([]);
    }
  });
});

test('a capture of a workspace in which nothing runs reads and enters what forbids it, and removes what no snapshot holds', async () => {
  put('d/a', 'a');
  put('b', 'b');
  chmodSync(at('b'), 0o000);
  chmodSync(at('d'), 0o000);
  execFileSync('mkfifo', [at('pipe')]);
  put('.suzumio/output', 'of a command');
  const captured = await take({ live: false });
  expect([textAt(captured, 'd/a'), textAt(captured, 'b'), captured.leftOut]).toEqual([
    'a',
    'b',
    { count: 1, names: ['pipe'] },
  ]);
  expect([...captured.root.entries.keys()]).toEqual(['b', 'd']);
  expect([existsSync(at('pipe')), existsSync(at('.suzumio'))]).toEqual([false, false]);
});

test('a capture says what it leaves out, the first of it by name, and how much is in directories that are not captured', async () => {
  put('a', 'a');
  put(`d/\udce9${'x'.repeat(200)}`, 'text');
  for (let n = 0; n < 15; n += 1) execFileSync('mkfifo', [at(`d/pipe-${String(n).padStart(2, '0')}`)]);
  writeFileSync(Buffer.concat([Buffer.from(`${root}/d/caf`), Buffer.from([0xe9])]), 'latin1');
  put('node_modules/x/y', 'y');
  put('node_modules/x/node_modules/z', 'z');
  put('node_modules/tracked', 'tracked');
  symlinkSync('x', at('node_modules/link'));
  const scope = captureScope(['node_modules'], ['node_modules/tracked']);
  for (const live of [true, false]) {
    const { leftOut, ignoredFiles } = await take({ live, scope });
    expect(leftOut?.count).toBe(16);
    expect(leftOut?.names).toEqual(['d/caf\ufffd', ...Array.from({ length: 9 }, (_, n) => `d/pipe-0${String(n)}`)]);
    expect(ignoredFiles).toBe(live ? undefined : 3);
  }
  expect((await take({ live: false, scope })).leftOut).toBeUndefined();
});

test('a file that shrinks and grows while it is read has a length that is true', async () => {
  // It is changed between the moments at which it is opened and read only by another process.
  put('a', 'a'.repeat(400_000));
  const script = `for (;;) { try { require('fs').truncateSync(process.argv[1], Math.random() * 400000); require('fs').appendFileSync(process.argv[1], 'b'.repeat(Math.random() * 200000)); } catch {} }`;
  const child = spawn(process.execPath, ['-e', script, at('a')], { stdio: 'ignore' });
  try {
    for (let n = 0; n < 50; n += 1) {
      const captured = await take();
      const entry = entryAt(captured, 'a');
      if (entry?.kind === 'file') expect(textAt(captured, 'a')).toHaveLength(entry.sizeBytes);
      for (const content of stored) if ('file' in content) rmSync(content.file);
    }
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  truncateSync(at('a'), 10);
  appendFileSync(at('a'), 'end');
  expect(textAt(await take({ live: false }), 'a')).toHaveLength(13);
});
