import { expect, test } from '@jest/globals';
import { createInProcessTransport } from '@suzumio/shared/queue/in-process-transport';
import { silentLogger } from '@suzumio/shared/observability/logger';
import { counted } from '../../../shared/test/support/counted.js';
import { eventually } from '../../../shared/test/support/poll.js';
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
  const waitingTurnJobs = transport.waitingTurnJobs.bind(transport);
  transport.waitingTurnJobs = () => (away ? Promise.reject(new Error('away')) : waitingTurnJobs());
  await scheduler({ sweepIntervalMs: 20 });
  await eventually('it is shown', shown);
  away = true;
  await eventually('it is not shown any more', async () => !(await shown()));
});
