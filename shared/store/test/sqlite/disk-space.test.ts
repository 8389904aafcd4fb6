import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { DiskSpace, freeSpaceAt } from '@suzumio/store/sqlite/disk-space';

test('the system is asked for the room once in a turn of the event loop, and anew in the next', async () => {
  let free = 100;
  let asked = 0;
  const disk = new DiskSpace('/data', { reserve: { files: 50, rows: 20, mail: 10 } }, () => {
    asked += 1;
    return { bytes: free, files: Infinity };
  });
  disk.require('files');
  disk.require('mail');
  expect(asked).toBe(1);
  free = 49;
  await nextTurn();
  expect(() => disk.require('files')).toThrow(expect.objectContaining({ code: 'disk-reserve' }));
  expect(disk.isShortFor('rows')).toBe(false);
  expect(asked).toBe(2);
});

test('it is short of files before it is short of bytes, where those are small', () => {
  const reserve = { files: 64 * 1024, rows: 32 * 1024, mail: 16 * 1024 };
  const disk = new DiskSpace('/data', { reserve }, () => ({ bytes: 1e12, files: 3 }));
  expect((['files', 'rows', 'mail'] as const).map((use) => disk.isShortFor(use))).toEqual([true, false, false]);
  expect(() => disk.require('files')).toThrow(
    expect.objectContaining({
      code: 'disk-reserve',
      message: expect.stringContaining(
        'has room for 3 more files, and keeps 4 from files (policy: storage.reserve.files)',
      ),
      details: { for: 'files', freeFiles: 3, reserveFiles: 4 },
    }),
  );
});

test('the files that a file system has room for are asked of it', () => {
  expect(freeSpaceAt('/').bytes).toBeGreaterThan(0);
  expect(freeSpaceAt('/').files).toBeGreaterThan(0);
});
