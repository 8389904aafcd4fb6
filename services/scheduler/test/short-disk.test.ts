import { expect, test } from '@jest/globals';
import { defaultStorageLimits } from '@suzumio/contract/model/storage';
import { createInProcessTransport } from '@suzumio/runtime/queue/in-process-transport';
import { silentLogger } from '@suzumio/runtime/observability/logger';
import { startTurns } from '@suzumio/store/turns/start-turns';
import { teamYaml } from '../../../test/support/cell.js';
import { eventually } from '../../../test/support/poll.js';
import { benches } from './bench.js';

const bench = benches(() => createInProcessTransport({ logger: silentLogger() }));
const { reserve } = defaultStorageLimits;

test('while there is no room for files, turns that need it neither begin nor are delivered; those of handlers begin', async () => {
  let free = reserve.files - 1;
  const { testing, jobs, work, mail, turns, scheduler } = await bench({ freeBytes: () => free });
  const external = 'cat: { role: watcher, prompt: Watch., tools: [], backend: external';
  const project = await testing.create(teamYaml.replace('cat: { role: watcher, prompt: Watch., tools: []', external));
  await mail(project, 'ada');
  await testing.write(project, (tx) => startTurns(tx));
  await mail(project, 'ben');
  await mail(project, 'cat');
  await work();
  await scheduler({ sweepIntervalMs: 20 });
  const agents = async () => (await turns(project)).map(({ agent_id }) => agent_id).sort();
  await eventually('the turn of a handler begins', async () => (await agents()).includes('cat'), { show: agents });
  expect(await agents()).toEqual(['ada', 'cat']);
  expect(jobs).toEqual([]);

  free = reserve.files;
  await eventually('there is room again', () => jobs.length === 2, { show: () => jobs });
  expect(await agents()).toEqual(['ada', 'ben', 'cat']);
});
