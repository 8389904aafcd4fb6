import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createOnce, DataDirectory } from '@suzumio/store/cell/data-directory';
import { children } from '../../../../test/support/child.js';

const openCell = new URL('../fixtures/open-cell.mjs', import.meta.url);

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'suzumio-data-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const startChild = children();
const mode = async (file: string) => (await stat(file)).mode & 0o777;

describe('a data directory', () => {
  test('is made where it is missing, readable by its owner only', async () => {
    const directory = new DataDirectory(join(root, 'new', 'data'));
    expect(directory.exists()).toBe(false);
    directory.prepare();
    expect(await mode(directory.projectsDir)).toBe(0o700);
    expect(await mode(directory.root)).toBe(0o700);
  });

  test('that cannot be made is refused with what to do about it', async () => {
    await writeFile(join(root, 'file'), '');
    const directory = new DataDirectory(join(root, 'file', 'data'));
    expect(() => directory.prepare()).toThrow(expect.objectContaining({ code: 'data-dir-invalid' }));
    expect(() => directory.prepare()).toThrow(/Set SUZUMIO_ROOT to a directory that you may write/);
  });

  test('names its cell once, unlike every other directory', async () => {
    const directory = new DataDirectory(await mkdtemp(join(tmpdir(), 'suzumio-data-')));
    const other = new DataDirectory(await mkdtemp(join(tmpdir(), 'suzumio-data-')));
    try {
      expect(directory.cellId()).toMatch(/^cell-[0-9a-f]{8}$/);
      expect(directory.cellId()).toBe(directory.cellId());
      expect(other.cellId()).not.toBe(directory.cellId());
    } finally {
      await Promise.all([directory, other].map(({ root }) => rm(root, { recursive: true })));
    }
  });

  test('a secret is made once, and stays', () => {
    const directory = new DataDirectory(root);
    const key = directory.cellKey();
    expect(key).toMatch(/^[0-9a-f]{64}$/);
    expect(new DataDirectory(root).cellKey()).toBe(key);
    expect(directory.workerToken()).not.toBe(key);
    expect(directory.workerToken()).toMatch(/^szm_[\w-]{43}$/);
    expect(directory.adminToken()).toMatch(/^szm_[\w-]{43}$/);
  });

  test('a secret is its owner’s alone, also where somebody opened it to others', async () => {
    const directory = new DataDirectory(root);
    directory.cellKey();
    directory.workerToken();
    expect(await mode(join(root, 'cell.key'))).toBe(0o600);
    expect(await mode(join(root, 'worker.token'))).toBe(0o600);
    await chmod(join(root, 'cell.key'), 0o644);
    directory.cellKey();
    expect(await mode(join(root, 'cell.key'))).toBe(0o600);
  });

  test('a file that is made once is left as the first made it', async () => {
    const file = join(root, 'once');
    createOnce(file, 'first');
    createOnce(file, 'second');
    expect(await readFile(file, 'utf8')).toBe('first');
    expect(await readdir(root)).toEqual(['once']);
  });

  test('several processes that begin on it at once all get it', async () => {
    const fresh = join(root, 'fresh');
    const processes = Array.from({ length: 6 }, () => startChild(openCell, fresh));
    for (const child of processes) expect(await child.line()).toBe('ready');
    for (const child of processes) child.tell('go');
    const answers = await Promise.all(processes.map((child) => child.line()));
    expect(answers[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(new Set(answers).size).toBe(1);
  });
});
