import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { DiskSpace } from '@suzumio/store/sqlite/disk-space';

test('the system is asked for the room once in a turn of the event loop, and anew in the next', async () => {
  let free = 100;
  let asked = 0;
  const disk = new DiskSpace('/data', { reserve: { files: 50, rows: 20, mail: 10 } }, () => {
    asked += 1;
    return free;
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
