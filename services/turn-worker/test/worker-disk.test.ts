import { afterEach, expect, test } from '@jest/globals';
import { type FreeSpace, freeSpaceOf } from '@suzumio/protocol/disk-blocks';
import type { TreeSize } from '../src/files/tree-size.js';
import { WorkerDisk } from '../src/attempt/worker-disk.js';
import { until } from './support/until.js';

const mib = 1024 * 1024;

let left: FreeSpace;
let removals: (() => void)[] = [];
afterEach(() => {
  for (const remove of removals) remove();
  removals = [];
});

function diskWith(bytes: number, files: number): WorkerDisk {
  left = { bytes, files };
  return new WorkerDisk({
    path: '/worker',
    minFreeBytes: 16 * mib,
    onShort: () => undefined,
    now: () => performance.now(),
    free: () => Promise.resolve(left),
  });
}

test('no attempt begins where there is no room for its files, however many bytes are free', async () => {
  await diskWith(1e12, 1024).requireRoom();
  await expect(diskWith(1e12, 1023).requireRoom()).rejects.toMatchObject({
    code: 'disk-full',
    message: 'The disk of /worker has less than room for 1024 files left.',
  });
  await expect(diskWith(15 * mib, 1e6).requireRoom()).rejects.toMatchObject({ code: 'disk-full' });
});

test('a file system that makes inodes as it needs them is never short of them', async () => {
  const { files } = freeSpaceOf({ bavail: 1e9, bsize: 4096, files: 0, ffree: 0 });
  await diskWith(1e12, files).requireRoom();
});

test.each([
  ['files', { files: 100 }, 'many'],
  ['bytes', { bytes: mib }, 'large'],
])('where running attempts leave too few %s, the one with most of them is ended', async (_what, taken, ended) => {
  const disk = diskWith(1e12, 1e6);
  const over: string[] = [];
  const run = (name: string, size: TreeSize) => {
    const end = () => {
      over.push(name);
      left = { bytes: 1e12, files: 1e6 };
    };
    removals.push(disk.add({ measure: () => Promise.resolve(size), end }));
  };
  run('many', { bytes: 10, entries: 5_000 });
  run('large', { bytes: 9_000, entries: 3 });
  Object.assign(left, taken);
  await until(() => over.length > 0, 'an attempt is ended');
  expect(over).toEqual([ended]);
});
