import { expect, test } from '@jest/globals';
import { createInProcessTransport } from '@suzumio/runtime/queue/in-process-transport';
import { silentLogger } from '@suzumio/runtime/observability/logger';
import { ContentStore } from '@suzumio/store/content/content-store';
import { counted } from '../../../test/support/counted.js';
import { eventually } from '../../../test/support/poll.js';
import { benches } from './bench.js';

const bench = benches(() => createInProcessTransport({ logger: silentLogger() }));

test('each sweep says how many turns of the cell wait and run, and how many jobs are on the queue', async () => {
  const { testing, transport, metrics, mail, turns, claim, scheduler } = await bench();
  const project = await testing.create();
  const figures = async () =>
    Object.fromEntries(
      await Promise.all(
        ['turns_queued', 'turns_running', 'turn_jobs_waiting'].map(
          async (name) => [name, await counted(metrics, `suzumio_${name}`)] as const,
        ),
      ),
    );
  await transport.announce({ worker: 'w', slots: 4 });
  await mail(project, 'ada');
  await mail(project, 'ben');
  await scheduler({ sweepIntervalMs: 20 });
  const waiting = { turns_queued: 2, turns_running: 0, turn_jobs_waiting: 2 };
  await eventually('both turns wait', async () => JSON.stringify(await figures()) === JSON.stringify(waiting));

  await claim(project, (await turns(project))[0]?.id ?? '');
  await eventually('one of them runs', async () => (await figures())['turns_running'] === 1);
  expect(await figures()).toEqual({ turns_queued: 1, turns_running: 1, turn_jobs_waiting: 2 });
});

test('the length of a queue that is away is not shown', async () => {
  const { transport, metrics, scheduler } = await bench();
  const shown = async () => (await metrics.registry.metrics()).includes('\nsuzumio_turn_jobs_waiting{');
  let away = false;
  const turnJobs = transport.turnJobs.bind(transport);
  transport.turnJobs = () => (away ? Promise.reject(new Error('away')) : turnJobs());
  await scheduler({ sweepIntervalMs: 20 });
  await eventually('it is shown', shown);
  away = true;
  await eventually('it is not shown any more', async () => !(await shown()));
});

test('the figures of projects are those of their last change, and of what waits for a person', async () => {
  const { testing, metrics, scheduler } = await bench();
  const project = await testing.create();
  const content = new ContentStore(testing.cell.directory.projectDir(project));
  await testing.store(project, (store) =>
    store.content.put(content, [Buffer.alloc(1234)], { owner: 'ada', kind: 'snapshots' }),
  );
  await testing.write(project, () => undefined);
  await scheduler({ sweepIntervalMs: 20, figuresMs: 20 });
  await eventually(
    'the snapshots are told of',
    async () => (await counted(metrics, 'suzumio_stored_bytes', { kind: 'snapshots' })) === 4096,
  );
  expect(await counted(metrics, 'suzumio_stored_bytes', { kind: 'rows' })).toBeGreaterThan(100);
  expect(await counted(metrics, 'suzumio_projects_over_quota')).toBe(0);
  expect(await counted(metrics, 'suzumio_disk_free_bytes')).toBeGreaterThan(0);
  expect(await counted(metrics, 'suzumio_disk_short', { use: 'mail' })).toBe(0);
});
