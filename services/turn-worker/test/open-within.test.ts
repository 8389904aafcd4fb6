import { mkdir, mkdtemp, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openFileWithin } from '../src/files/open-within.js';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp('/tmp/suzumio-within-');
  await mkdir(`${directory}/root/a/b`, { recursive: true });
  await writeFile(`${directory}/root/a/b/file`, 'inside');
  await mkdir(`${directory}/outside/b`, { recursive: true });
  await writeFile(`${directory}/outside/b/file`, 'outside');
});

afterEach(() => rm(directory, { recursive: true }));

async function read(path: string): Promise<string> {
  const file = await openFileWithin(`${directory}/root`, path);
  try {
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

describe('a file that a stranger may move', () => {
  test('is opened where it is one', async () => {
    expect(await read('a/b/file')).toBe('inside');
    await expect(read('a/b/none')).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(read('a/b')).rejects.toThrow('is a directory');
    await expect(read('a/b/file/x')).rejects.toMatchObject({ code: 'ENOTDIR' });
  });

  test.each([
    ['at the end of the way', 'a/b/link', '../../../outside/b/file'],
    ['on the way', 'a/link/file', '../../outside/b'],
    ['at its beginning', 'link/b/file', '../outside'],
  ])('is not followed through a link %s', async (_name, path, target) => {
    const link = path.slice(0, path.indexOf('link') + 4);
    await symlink(target, `${directory}/root/${link}`);
    await expect(read(path)).rejects.toThrow();
  });

  test('is the one inside or none, while its directory and a link change places', async () => {
    const [a, aside] = [`${directory}/root/a`, `${directory}/root/aside`];
    const over = new AbortController();
    const swapping = (async () => {
      while (!over.signal.aborted) {
        await rename(a, aside);
        await symlink('../outside', a);
        await unlink(a);
        await rename(aside, a);
      }
    })();
    const outcomes = new Set<string>();
    for (let i = 0; i < 2_000; i += 1) outcomes.add(await read('a/b/file').catch(() => 'none'));
    over.abort();
    await swapping;
    expect([...outcomes].filter((outcome) => !['inside', 'none'].includes(outcome))).toEqual([]);
    expect(outcomes).toContain('inside');
  });
});
