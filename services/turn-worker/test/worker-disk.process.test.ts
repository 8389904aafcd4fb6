import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type SmallDisk, smallDisk } from '../../../test/support/small-disk.js';
import { WorkerDisk } from '../src/attempt/worker-disk.js';
import { until } from './support/until.js';

const mib = 1024 * 1024;

let small: SmallDisk;
beforeEach(async () => {
  small = await smallDisk(256 * mib, 3_000);
});
afterEach(() => small.close());

test('the reserve of a real file system holds its files, too: nothing begins or goes on in it, and all does when it is free', async () => {
  const worker = new WorkerDisk({
    path: small.path,
    minFreeBytes: 16 * mib,
    onShort: () => undefined,
    now: () => performance.now(),
  });
  await small.fillFiles(1_024);
  await worker.requireRoom();
  await small.fillFiles(1_023);
  await expect(worker.requireRoom()).rejects.toMatchObject({ code: 'disk-full' });
  let ended = 0;
  const remove = worker.add({
    measure: () => Promise.resolve({ bytes: 0, entries: 1 }),
    end: () => (ended += 1),
  });
  try {
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect([ended, worker.wasShort]).toEqual([0, false]);
    await small.fillFiles(511);
    await until(() => ended === 1, 'the attempt is ended');
    expect(worker.wasShort).toBe(true);
  } finally {
    remove();
  }
  await small.empty();
  await worker.requireRoom();
});
