import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { defaultStorageLimits } from '@suzumio/contract/model/storage';
import { type SmallDisk, smallDisk } from '../../../test/support/small-disk.js';
import { toolhostBench, type ToolhostBench } from './toolhost-client.js';

const mib = 1024 ** 2;
/** Room for 1,024 files, 512 and 256, in a disk that has plenty of bytes. */
const reserve = { files: 16 * mib, rows: 8 * mib, mail: 4 * mib };

let disk: SmallDisk;
let bench: ToolhostBench;
beforeEach(async () => {
  disk = await smallDisk(256 * mib, 3_000);
  bench = await toolhostBench({}, {}, { parent: disk.path, storage: { ...defaultStorageLimits, reserve } });
});
afterEach(async () => {
  await disk.empty();
  await bench.close();
  await disk.close();
});

test('where few more files can be made, turns are not begun, then calls are refused, and all goes on when there is room', async () => {
  const project = await bench.testing.create();
  const begun = await bench.begin(project, 'ada');
  const next = await bench.queueTurn(project, 'ben');
  let step = 0;
  const call = () => begun.tool('artifacts.list', {}, { step: `${String((step += 1))}.0` });
  const capture = async () => {
    const { attempt, leaseToken } = begun.answer;
    const path = `projects/${project}/turns/${begun.turn}/attempts/${String(attempt)}/capture`;
    return bench.post(`${bench.toolhost.workerUrl}/${path}`, leaseToken, { number: 1, snapshot: null, steps: ['1.0'] });
  };
  const reserved = { status: 507, body: { code: 'disk-reserve' } };

  await disk.fillFiles(1_000);
  const refused = await bench.claim(project, next);
  expect(refused).toMatchObject(reserved);
  expect(refused.body['detail']).toContain('has room for');
  expect(await call()).toMatchObject({ status: 200 });

  await disk.fillFiles(500);
  expect(await capture()).toMatchObject(reserved);
  expect(await call()).toMatchObject(reserved);

  await disk.fillFiles(0);
  expect(await begun.report('heartbeat')).toMatchObject({ status: 200, body: { cancel: false } });
  expect(await begun.report('complete', { output: { text: 'Done.' } })).toMatchObject({ status: 200 });

  await disk.empty();
  expect(await bench.claim(project, next)).toMatchObject({ status: 200 });
});
