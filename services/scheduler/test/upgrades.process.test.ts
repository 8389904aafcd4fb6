import { expect, test } from '@jest/globals';
import { silentLogger } from '@suzumio/runtime/observability/logger';
import { createInProcessTransport } from '@suzumio/runtime/queue/in-process-transport';
import { teamYaml } from '../../../test/support/cell.js';
import { counted } from '../../../test/support/counted.js';
import { holdDatabase, makeOld } from '../../../test/support/old-project.js';
import { eventually } from '../../../test/support/poll.js';
import { benches } from './bench.js';

const bench = benches(() => createInProcessTransport({ logger: silentLogger() }));

test.each(['running', 'stopped'] as const)(
  'a large project of an earlier version, which the catalog calls %s, keeps nobody waiting while it is migrated, and has its turn then',
  async (status) => {
    const { testing, metrics, mail, work, scheduler, jobs, logs } = await bench();
    const old = await testing.create();
    const other = await testing.create(teamYaml.replace('name: team', 'name: other'));
    const release = holdDatabase(await makeOld(testing, old));
    if (status === 'stopped') {
      await testing.cell.catalog.projects.noteStatus(old, () => ({ status, settled: true }));
    }
    await work();
    await scheduler({ sweepIntervalMs: 5 });
    await mail(other, 'ada');
    await eventually('the other one has its turn', () => jobs.length === 1);
    expect(jobs[0]?.project).toBe(other);
    const mailed = mail(old, 'ada');
    release();
    await mailed;
    await eventually('the old one has its turn', () => jobs.length === 2);
    expect(jobs[1]).toMatchObject({ project: old, delivery: 1 });
    expect(await counted(metrics, 'suzumio_scheduling_failures_total')).toBe(0);
    expect(logs().filter(({ level }) => level === 'error')).toEqual([]);
  },
);
