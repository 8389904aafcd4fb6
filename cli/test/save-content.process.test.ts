import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { DirectoryEntry } from '@suzumio/protocol/artifacts';
import { saveDirectory } from '../src/files/save-content.js';

let here: string;
beforeEach(async () => {
  here = await mkdtemp(join(tmpdir(), 'suzumio-save-'));
});
afterEach(() => rm(here, { recursive: true }));

const file = (path: string): DirectoryEntry => ({
  kind: 'file',
  path,
  sha256: createHash('sha256').update(path).digest('hex'),
  sizeBytes: Buffer.byteLength(path),
  executable: false,
});

test('a directory two of whose names are one on this disk is not written, and both the names and a way out are told', async () => {
  const saved = saveDirectory(join(here, 'site'), [file('README'), file('readme')], async ({ path }) => {
    // On such a disk the second name is there as soon as the first one is.
    if (path === 'readme') {
      const [being = ''] = await readdir(here);
      await writeFile(join(here, being, 'readme'), 'README');
    }
    return [Buffer.from(path)] as unknown as AsyncIterable<Uint8Array>;
  });
  await expect(saved).rejects.toMatchObject({
    code: 'invalid-request',
    message: expect.stringMatching(/"readme" .*"README".*one name on this disk.*artifacts archive/),
  });
  expect(await readdir(here)).toEqual([]);
});
