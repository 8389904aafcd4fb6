import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { LookRequest } from '@suzumio/protocol/repository';
import type { Looked } from '../../src/git/pack-news.js';
import { Repositories, type RepositoriesOptions } from '../../src/git/repositories.js';
import { gitIn, TestRepository } from '../support/repository.js';

const bounds = { maxBytes: 64 * 1024 ** 2, maxFileBytes: 16 * 1024 ** 2, maxEntries: 50 };

let base: string;
let origin: TestRepository;
let first: string;
let by: Repositories;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'suzumio-look-'));
  origin = new TestRepository(join(base, 'tides'));
  first = origin.commit({ 'tides.py': 'print(1)\n' });
  by = repositories();
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

const workerGit = () => join(base, 'worker', 'git');

function repositories(options: Partial<RepositoriesOptions> = {}): Repositories {
  return new Repositories({ directory: workerGit(), bounds, cloneMs: 30_000, ...options });
}

/** What was found, with the bytes of its pack. */
type Found = Omit<Looked, 'pack'> & { alone: boolean | undefined; pack: Buffer | undefined };

function look(request: Partial<LookRequest> = {}): Promise<Found> {
  const asked = { git: origin.path, branch: 'suzumio/developer', known: [first], ...request };
  const how = { check: () => undefined, signal: new AbortController().signal };
  return by.look(asked, how, ({ pack, ...looked }) =>
    Promise.resolve({ ...looked, alone: pack?.alone, pack: pack && readFileSync(pack.file) }),
  );
}

async function refusal(request: Partial<LookRequest> = {}): Promise<string> {
  return look(request).then(
    () => 'none',
    (error: unknown) => `${(error as { code?: string }).code}: ${(error as Error).message}`,
  );
}

/** The log of a commit in a repository that has only a clone's base and some packs. */
function logOf(
  commit: string,
  packs: (Buffer | undefined)[],
  from: string | undefined,
  shallow: string[] = [],
): string {
  const path = mkdtempSync(join(base, 'reader-'));
  gitIn(path, 'init', '--quiet', '--bare', '.');
  if (from !== undefined) gitIn(path, 'fetch', '--quiet', origin.path, from);
  if (shallow.length > 0) writeFileSync(join(path, 'shallow'), shallow.map((id) => `${id}\n`).join(''));
  packs.forEach((pack, index) => {
    const file = join(path, `objects/pack/pack-${'0'.repeat(39)}${index}.pack`);
    mkdirSync(join(path, 'objects/pack'), { recursive: true });
    writeFileSync(file, pack ?? '');
    gitIn(path, 'index-pack', '--strict', file);
  });
  return gitIn(path, 'log', '--format=%s', commit);
}

describe('a look at the repository of a clone', () => {
  test('finds that nothing is new', async () => {
    // What a worker has left that was killed.
    mkdirSync(join(workerGit(), 'news', 'left'), { recursive: true });
    expect(await look()).toEqual({ commit: first, ahead: 0, rewritten: false, alone: undefined, pack: undefined });
    expect(readdirSync(join(workerGit(), 'news'))).toEqual([]);
  });

  test('packs what is new, and then only what is newer', async () => {
    const second = origin.commit({ 'tides.py': 'print(2)\n' }, 'Second');
    const one = await look();
    expect(one).toMatchObject({ commit: second, ahead: 1, rewritten: false, alone: true });
    expect(logOf(second, [one.pack], first)).toBe('Second\nChange something');
    const third = origin.commit({ 'tides.py': 'print(3)\n', 'more.py': '3' }, 'Third');
    const two = await look({ known: [first, second] });
    expect(two).toMatchObject({ commit: third, ahead: 2, rewritten: false, alone: false });
    expect(logOf(third, [one.pack, two.pack], first)).toBe('Third\nSecond\nChange something');
    expect(() => logOf(third, [two.pack], first)).toThrow(/did not receive expected object|unresolved/);
    expect(readdirSync(join(workerGit(), 'news'))).toEqual([]);
  });

  test('makes the same pack on another worker, which has no mirror yet', async () => {
    origin.commit({ 'tides.py': 'print(2)\n' }, 'Second');
    const one = await look();
    rmSync(workerGit(), { recursive: true });
    by = repositories();
    expect((await look()).pack?.equals(one.pack ?? Buffer.alloc(0))).toBe(true);
  });

  test('begins at the clone again where too many packs would be needed', async () => {
    const second = origin.commit({ 'tides.py': 'print(2)\n' }, 'Second');
    const known = [first, ...Array.from({ length: 31 }, (_, n) => String(n).padStart(40, '0')), second];
    const next = origin.commit({ 'tides.py': 'print(3)\n' }, 'Next');
    const found = await look({ known });
    expect(found).toMatchObject({ commit: next, ahead: 2, rewritten: false, alone: true });
    expect(logOf(next, [found.pack], first)).toBe('Next\nSecond\nChange something');
  });

  test('says that the history was rewritten, and packs what is not known of it', async () => {
    const second = origin.commit({ 'tides.py': 'print(2)\n' }, 'Second');
    const one = await look();
    origin.git('reset', '--hard', '--quiet', first);
    const other = origin.commit({ 'tides.py': 'print(22)\n' }, 'Instead of the second');
    const two = await look({ known: [first, second] });
    expect(two).toMatchObject({ commit: other, ahead: 1, rewritten: true });
    expect(logOf(other, [one.pack, two.pack], first)).toBe('Instead of the second\nChange something');
    // On a worker that has seen nothing of before, not even the base is there.
    origin.git('checkout', '--quiet', '--orphan', 'new');
    const anew = origin.commit({ 'tides.py': 'print(0)\n' }, 'Anew');
    origin.git('branch', '--force', 'main', 'new');
    rmSync(workerGit(), { recursive: true });
    by = repositories();
    const three = await look({ known: [first, second], ref: 'main' });
    expect(three).toMatchObject({ commit: anew, ahead: undefined, rewritten: true, alone: true });
    expect(logOf(anew, [three.pack], undefined)).toBe('Anew');
  });

  test('of a shallow clone finds all of the tip that its depth reaches, and where it is cut off', async () => {
    for (let n = 2; n < 6; n += 1) origin.commit({ 'tides.py': `print(${n})\n` }, `Change ${n}`);
    const cloned = origin.git('rev-parse', 'HEAD');
    const depth = { depth: 2, known: [cloned], git: origin.path };
    await look(depth);
    const next = origin.commit({ 'tides.py': 'print(6)\n' }, 'Change 6');
    const one = await look(depth);
    expect(one).toMatchObject({ commit: next, ahead: 1, rewritten: false, alone: true, shallow: [cloned] });
    expect(logOf(next, [one.pack], undefined, one.shallow)).toBe('Change 6\nChange 5');
    for (let n = 7; n < 10; n += 1) origin.commit({ 'tides.py': `print(${n})\n` }, `Change ${n}`);
    const two = await look({ ...depth, known: [cloned, next] });
    // Too far to say how many commits there are between.
    expect(two).toMatchObject({ ahead: undefined, rewritten: false, alone: true, shallow: [expect.any(String)] });
    expect(logOf(two.commit, [two.pack], undefined, two.shallow)).toBe('Change 9\nChange 8');
  });
});

describe('a look finds nothing out, and says why, where the repository', () => {
  test('may not be looked at any more', async () => {
    const denied = new Error('policy-denied');
    const check = () => {
      throw denied;
    };
    const asked = { git: origin.path, branch: 'suzumio/developer', known: [first] };
    const how = { check, signal: new AbortController().signal };
    await expect(by.look(asked, how, () => Promise.resolve())).rejects.toBe(denied);
  });

  test('is gone, and comes back', async () => {
    await look();
    renameSync(origin.path, `${origin.path}.away`);
    expect(await refusal()).toMatch(/^repository-refused: There is no repository at /);
    renameSync(`${origin.path}.away`, origin.path);
    expect(await look()).toMatchObject({ commit: first });
  });

  test('has no such branch any more', async () => {
    origin.git('branch', 'old');
    expect(await look({ ref: 'old' })).toMatchObject({ commit: first });
    origin.git('branch', '--delete', '--force', 'old');
    expect(await refusal({ ref: 'old' })).toMatch(/^ref-unknown: /);
  });

  test('is empty now', async () => {
    await look();
    rmSync(origin.path, { recursive: true });
    new TestRepository(origin.path);
    expect(await refusal()).toMatch(/^ref-unknown: /);
  });

  test('has more files than a workspace may have, or what is not cloned', async () => {
    origin.commit(Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`f${n}`, ''])));
    expect(await refusal()).toMatch(/^repository-too-large: .* has more than 50 files and directories/);
    origin.git('reset', '--hard', '--quiet', first);
    origin.commit({ '.suzumio/x': '1' });
    expect(await refusal()).toMatch(/^repository-unsupported: /);
  });

  test('asks for a password', async () => {
    const server = createServer((_, response) => {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="tides"' }).end();
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const git = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/tides.git`;
    try {
      expect(await refusal({ git })).toMatch(/^repository-refused: .* or it is private/);
    } finally {
      server.close();
    }
  });

  test('does not answer in time', async () => {
    by = repositories({ lookMs: 1 });
    expect(await refusal()).toMatch(/^repository-unavailable: .* could not be fetched within 1 ms/);
    expect(existsSync(join(workerGit(), 'news'))).toBe(true);
    expect(readdirSync(join(workerGit(), 'news'))).toEqual([]);
  });
});
