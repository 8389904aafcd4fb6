import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { LookRequest } from '@suzumio/protocol/repository';
import { Git } from '../../src/git/git.js';
import { type Looked, packNews } from '../../src/git/pack-news.js';
import { Repositories, type RepositoriesOptions } from '../../src/git/repositories.js';
import { eventually } from '../../../../test/support/poll.js';
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

function look(request: Partial<LookRequest> = {}, signal = new AbortController().signal): Promise<Found> {
  const asked = { git: origin.path, branch: 'suzumio/developer', known: [first], ...request };
  const how = { check: () => undefined, signal };
  return by.look(asked, how, ({ pack, ...looked }) =>
    Promise.resolve({ ...looked, alone: pack?.alone, pack: pack && readFileSync(pack.file) }),
  );
}

async function refusal(request: Partial<LookRequest> = {}): Promise<string> {
  return refusalOf(look(request));
}

async function refusalOf(looking: Promise<unknown>): Promise<string> {
  return looking.then(
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
    await look();
    by = repositories({ lookMs: 1 });
    expect(await refusal()).toMatch(/^repository-unavailable: .* could not be fetched within 1 ms/);
    expect(existsSync(join(workerGit(), 'news'))).toBe(true);
    expect(readdirSync(join(workerGit(), 'news'))).toEqual([]);
  });
});

describe('a mirror', () => {
  let server: Server;
  let git: string;
  /** The paths that were asked for. */
  let asked: string[];
  /** Whether the server answers, and how. */
  let state: 'there' | 'away' | 'silent';
  /** Lets those go on whom the server was silent to. */
  let answer: (() => void)[];

  beforeEach(async () => {
    [asked, answer, state] = [[], [], 'there'];
    server = createServer((request, response) => {
      const path = (request.url ?? '').split('?')[0] ?? '';
      const file = join(origin.path, '.git', path.replace('/tides.git', ''));
      const send = () => {
        if (state === 'away') response.writeHead(503).end();
        else if (existsSync(file)) response.writeHead(200).end(readFileSync(file));
        else response.writeHead(404).end();
      };
      asked.push(path);
      if (state === 'silent') answer.push(send);
      else send();
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    git = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/tides.git`;
    origin.git('update-server-info');
  });

  afterEach(() => {
    jest.restoreAllMocks();
    server.closeAllConnections();
    server.close();
  });

  const mirrors = () => join(workerGit(), 'mirrors');
  const mirror = () => join(mirrors(), readdirSync(mirrors()).find((name) => name.endsWith('.git')) ?? '');
  const objectsAsked = () => asked.filter((path) => /objects\/(..\/|pack\/)/.test(path));

  /** Looks once, and then expects of a look that nothing is fetched that the mirror has. */
  async function expectKept(meanwhile: () => Promise<void>): Promise<void> {
    expect(await look({ git })).toMatchObject({ commit: first });
    expect(objectsAsked()).not.toEqual([]);
    await meanwhile();
    asked = [];
    expect(await look({ git })).toMatchObject({ commit: first });
    expect(asked).not.toEqual([]);
    expect(objectsAsked()).toEqual([]);
    expect(readdirSync(mirrors())).toHaveLength(1);
  }

  test('is kept where its server is away, or has no such branch', async () => {
    await expectKept(async () => {
      state = 'away';
      expect(await refusal({ git })).toMatch(/^repository-unavailable: /);
      state = 'there';
      expect(await refusal({ git, ref: 'gone' })).toMatch(/^ref-unknown: /);
    });
  });

  test('is kept where a fetch was stopped, without what that has left', async () => {
    await expectKept(async () => {
      state = 'silent';
      const stop = new AbortController();
      const looking = refusalOf(look({ git }, stop.signal));
      await eventually('Git asks', () => answer.length > 0);
      const left = ['shallow.lock', 'refs/suzumio/left.lock', 'objects/pack/tmp_pack_left'];
      for (const file of left) writeFileSync(join(mirror(), file), '');
      stop.abort(new Error('cancelled'));
      expect(await looking).toMatch(/cancelled/);
      expect(left.filter((file) => existsSync(join(mirror(), file)))).toEqual([]);
      state = 'there';
    });
  });

  test('that is damaged is fetched anew', async () => {
    await look({ git });
    const objects = readdirSync(join(mirror(), 'objects'), { recursive: true, withFileTypes: true });
    for (const one of objects) if (one.isFile()) truncateSync(join(one.parentPath, one.name), 10);
    expect(await refusal({ git })).not.toBe('none');
    expect(await look({ git })).toMatchObject({ commit: first });
  });

  test('that is not there yet is given the time of a clone', async () => {
    by = repositories({ lookMs: 1 });
    expect(await look()).toMatchObject({ commit: first });
  });

  test('is waited for no longer than an attempt goes on, and others keep their place', async () => {
    state = 'silent';
    const [one, two, three] = [new AbortController(), new AbortController(), new AbortController()];
    const looking = refusalOf(look({ git }, one.signal));
    await eventually('Git asks', () => answer.length > 0);
    const waiting = refusalOf(look({ git }, two.signal));
    const next = refusalOf(look({ git }, three.signal));
    two.abort(new Error('cancelled'));
    // The first has the mirror as long as its server is silent.
    expect(await waiting).toMatch(/cancelled/);
    expect(asked).toHaveLength(1);
    state = 'there';
    one.abort(new Error('stopped'));
    expect([await looking, await next]).toEqual([expect.stringMatching(/stopped/), 'none']);
  });

  test('is waited for in a time of its own', async () => {
    const times: { ms: number; end: AbortController }[] = [];
    jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      const end = new AbortController();
      times.push({ ms, end });
      return end.signal;
    });
    by = repositories({ cloneMs: 30_000, lookMs: 20_000 });
    state = 'silent';
    const looking = look({ git });
    await eventually('Git asks', () => answer.length > 0);
    const patient = look({ git });
    await eventually('the second waits', () => times.length === 2);
    const impatient = refusalOf(look({ git }));
    await eventually('the third waits', () => times.length === 3);
    expect(times.map(({ ms }) => ms)).toEqual([30_000, 30_000, 30_000]);
    times[2]?.end.abort(new Error('timeout'));
    expect(await impatient).toBe(
      `repository-unavailable: ${git} could not be fetched: others on this worker have been fetching it for 30000 ms.`,
    );
    state = 'there';
    for (const send of answer) send();
    expect([await looking, await patient]).toMatchObject([{ commit: first }, { commit: first }]);
    // There was a mirror by then.
    expect(times[3]?.ms).toBe(20_000);
  });

  test('whose history is cut off too often is not read, and is fetched anew', async () => {
    const depth = { depth: 1, git: origin.path };
    await look(depth);
    const ends = Array.from({ length: 30_000 }, (_, n) => `${String(n).padStart(40, '0')}\n`).join('');
    writeFileSync(join(mirror(), 'shallow'), ends);
    const own = new Git({ directory: join(base, 'other'), maxFileBytes: bounds.maxFileBytes });
    const fetched = { mirror: mirror(), reference: '', commit: first };
    const how = { directory: base, signal: new AbortController().signal };
    const asking = packNews(own, fetched, { ...depth, branch: 'suzumio/developer', known: [first] }, how);
    expect(await refusalOf(asking)).toMatch(/^repository-too-large: The history of .* is cut off at more than 1000/);
    expect(await look(depth)).toMatchObject({ commit: first });
    expect(statSync(join(mirror(), 'shallow')).size).toBeLessThan(100);
  });
});

test('a worker whose directory could not be made ready for a look is asked again', async () => {
  mkdirSync(join(base, 'worker'));
  writeFileSync(workerGit(), '');
  expect(await refusal()).toMatch(/^repository-unavailable: This worker cannot .*ENOTDIR/);
  rmSync(workerGit());
  expect(await look()).toMatchObject({ commit: first });
});
