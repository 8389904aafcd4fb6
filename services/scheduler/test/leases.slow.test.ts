import { existsSync } from 'node:fs';
import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { silentLogger } from '@suzumio/runtime/observability/logger';
import { ContentStore } from '@suzumio/store/content/content-store';
import { createInProcessTransport } from '@suzumio/runtime/queue/in-process-transport';
import { entryOf, teamYaml } from '../../../test/support/cell.js';
import { eventually } from '../../../test/support/poll.js';
import { counted } from '../../../test/support/counted.js';
import { gate } from '../../../shared/runtime/test/queue/jobs.js';
import { type Bench, benches, start } from './bench.js';
import { roundsIn } from './rounds.js';

const leaseMs = 2_000;

describe('leases', () => {
  const bench = benches(() => createInProcessTransport({ logger: silentLogger() }));

  /** A turn that a worker has claimed and does not speak of any more. */
  async function abandoned({ testing, mail, jobs, work, claim, scheduler }: Bench) {
    const project = await testing.create();
    await mail(project, 'ada');
    await work();
    await scheduler({ leaseMs, leaseCheckMs: 5, sweepIntervalMs: 5 });
    await eventually('the job arrives', () => jobs.length === 1);
    const turn = jobs[0]?.turn ?? '';
    await claim(project, turn, leaseMs);
    return { project, turn };
  }
  const toolhost = ({ testing }: Bench) =>
    testing.cell.catalog.processes.enlist({ service: 'toolhost', cell: 'main', transport: 'test' });
  const checks = ({ metrics }: Bench) => roundsIn(metrics, 'leases');
  const sweeps = ({ metrics }: Bench) => roundsIn(metrics, 'sweep');
  async function afterMoreSweeps(bench: Bench) {
    const before = await sweeps(bench);
    await eventually('projects were looked at again', async () => (await sweeps(bench)) > before + 1);
  }
  async function afterMoreChecks(bench: Bench) {
    const before = await checks(bench);
    await eventually('leases were judged again', async () => (await checks(bench)) > before + 1);
  }

  test('a lease that ran out ends the attempt, and the turn is delivered again at once', async () => {
    const made = await bench();
    const { advance, turns, jobs, metrics } = made;
    const delist = await toolhost(made);
    const { project, turn } = await abandoned(made);
    advance(leaseMs - 1);
    await afterMoreChecks(made);
    expect(await turns(project)).toMatchObject([{ status: 'running', attempt: 1 }]);
    advance(1);
    await eventually('the next delivery', () => jobs.length === 2);
    expect(jobs[1]).toMatchObject({ turn, delivery: 2 });
    expect(await turns(project)).toMatchObject([{ status: 'queued', attempt: 1 }]);
    expect(await counted(metrics, 'suzumio_leases_expired_total')).toBe(1);
    await delist();
  });

  test('a clock that steps back by an hour puts no lease off: a worker that died has a lease from then on', async () => {
    const made = await bench();
    const { testing, advance, turns, jobs } = made;
    const delist = await toolhost(made);
    const { project, turn } = await abandoned(made);
    advance(-3_600_000);
    await eventually(
      'the ToolHost beats again',
      () => testing.cell.catalog.processes.toolhostServingSince() === start - 3_600_000,
    );
    await afterMoreChecks(made);
    await eventually('the lease is shortened', async () => {
      const [row] = await testing.rows<{ until: number }>(project, 'SELECT lease_until_ms AS until FROM turn_attempts');
      return row?.until === start - 3_600_000 + leaseMs;
    });
    expect(await turns(project)).toMatchObject([{ status: 'running' }]);
    advance(leaseMs);
    await eventually('the next delivery', () => jobs.length === 2);
    expect(jobs[1]).toMatchObject({ turn, delivery: 2 });
    await delist();
  });

  test('no lease is judged while no ToolHost serves, nor in the first lease of its service', async () => {
    const made = await bench();
    const { advance, turns, jobs } = made;
    const { project } = await abandoned(made);
    advance(2 * leaseMs);
    await afterMoreChecks(made);
    expect(await turns(project)).toMatchObject([{ status: 'running' }]);

    const delist = await toolhost(made);
    advance(leaseMs - 1);
    await afterMoreChecks(made);
    expect(await turns(project)).toMatchObject([{ status: 'running' }]);

    advance(1);
    await eventually('the next delivery', () => jobs.length === 2);
    await delist();
  });

  test('a deleted project is looked at no more, and the next one of its name from its first mail on', async () => {
    const made = await bench();
    const { testing, advance, metrics, jobs, mail } = made;
    const delist = await toolhost(made);
    const { project } = await abandoned(made);
    await testing.cell.deleteProject(project, { actor: 'test' });
    advance(leaseMs);
    await afterMoreChecks(made);
    const failures = () => counted(metrics, 'suzumio_scheduling_failures_total', { during: 'leases' });
    const before = await failures();
    await afterMoreChecks(made);
    expect(await failures()).toBe(before);
    await testing.create();
    await mail(project, 'ada');
    await eventually('the job of the new project arrives', () => jobs.length === 2);
    expect(jobs[1]).toMatchObject({ project, epoch: 2, delivery: 1 });
    await delist();
  });

  test('a queue that does not answer while it is filled keeps no lease from being judged', async () => {
    const made = await bench();
    const { testing, transport, jobs, mail, turns, claim, advance } = made;
    const takePlaces = transport.takePlaces.bind(transport);
    const answers = gate();
    let asked = 0;
    transport.takePlaces = async (wanted) => {
      if (wanted.length > 0) return takePlaces(wanted);
      asked += 1;
      await answers.opened;
      return takePlaces(wanted);
    };
    const delist = await toolhost(made);
    const { project } = await abandoned(made);
    const later = await testing.create(teamYaml.replace('name: team', 'name: later'));
    await mail(later, 'ada');
    await eventually('the second job arrives', () => jobs.length === 2);
    await testing.cell.catalog.waitingLine.join(project);
    await eventually('the queue is being filled', () => asked === 1);
    advance(leaseMs);
    await eventually('the first lease is judged', async () => (await turns(project))[0]?.status === 'queued');
    await claim(later, jobs[1]?.turn ?? '', leaseMs);
    await afterMoreSweeps(made);
    await eventually('the ToolHost has beaten since', () => {
      const { toolhost: seen } = testing.cell.catalog.factsFor(project);
      return seen.seenAtMs === start + leaseMs;
    });
    advance(leaseMs);
    await eventually('so is the second', async () => (await turns(later))[0]?.status === 'queued');
    expect(asked).toBe(1);
    answers.open();
    await eventually('both are delivered again', () => jobs.filter(({ delivery }) => delivery === 2).length === 2);
    await delist();
  });

  test('a project that cannot be opened does not keep the others waiting', async () => {
    const made = await bench();
    const { testing, mail, jobs, work, scheduler, logs, metrics } = made;
    await testing.cell.catalog.projects.add('broken', entryOf('running'));
    await mkdir(testing.cell.directory.projectDir('broken'));
    await writeFile(testing.cell.directory.projectFile('broken'), 'this is no database, whatever its name says');
    const project = await testing.create();
    await mail(project, 'ada');
    await work();
    await scheduler({ sweepIntervalMs: 5 });
    await eventually('the job arrives', () => jobs.length === 1);
    await eventually(
      'the other was tried more than once',
      async () => (await counted(metrics, 'suzumio_scheduling_failures_total', { during: 'sweep' })) > 2,
    );
    const told = logs().filter(({ level, project: named }) => level === 'error' && named === 'broken');
    expect(told).toHaveLength(1);
  });
});

describe('a queue that cannot be reached', () => {
  const bench = benches(() => createInProcessTransport({ logger: silentLogger() }));

  test('is asked by a sweep for no more projects than are looked at at a time', async () => {
    const { testing, transport, metrics, mail, scheduler } = await bench();
    let asked = 0;
    transport.takePlaces = () => {
      asked += 1;
      return Promise.reject(new SuzumioError('server-unreachable', 'The queue cannot be reached now.', {}));
    };
    for (let n = 1; n <= 20; n += 1) {
      await mail(await testing.create(teamYaml.replace('name: team', `name: team-${String(n)}`)), 'ada');
    }
    await scheduler();
    await eventually('all were looked at', async () => (await roundsIn(metrics, 'sweep')) === 1);
    expect(asked).toBeGreaterThan(0);
    expect(asked).toBeLessThanOrEqual(8);
  });
});

describe('a project without mail', () => {
  const bench = benches(() => createInProcessTransport({ logger: silentLogger() }));

  test('gets no row in any table in an hour', async () => {
    const { testing, transport, scheduler, advance, metrics } = await bench();
    const project = await testing.create();
    const count = async () => {
      const tables = await testing.rows<{ name: string }>(
        project,
        `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`,
      );
      const counts: Record<string, number> = {};
      for (const { name } of tables) {
        counts[name] = (await testing.rows<{ n: number }>(project, `SELECT count(*) AS n FROM ${name}`))[0]?.n ?? -1;
      }
      return counts;
    };
    const changes = () => testing.rows<{ n: number }>(project, 'SELECT total_changes() AS n');
    const before = await count();
    const changesBefore = await changes();
    await scheduler({ sweepIntervalMs: 1, leaseCheckMs: 1 });
    const rounds = () => roundsIn(metrics, 'sweep');
    for (let minute = 1; minute <= 60; minute += 1) {
      advance(60_000);
      transport.wake(project);
      const done = await rounds();
      await eventually('another sweep', async () => (await rounds()) > done);
    }
    expect(await count()).toEqual(before);
    expect(await changes()).toEqual(changesBefore);
    expect(before).toMatchObject({ turns: 0, messages: 0, events: 2 });
  });
});

describe('content that nothing refers to any more', () => {
  const bench = benches(() => createInProcessTransport({ logger: silentLogger() }));

  test('is removed, one project a round', async () => {
    const { testing, scheduler } = await bench();
    const files: string[] = [];
    for (const name of ['team', 'crew']) {
      await testing.create(teamYaml.replace('name: team', `name: ${name}`));
      const directory = testing.cell.directory.projectDir(name);
      const content = new ContentStore(directory);
      const file = join(directory, content.pathOf(await content.putBytes(Buffer.from('old'))));
      await utimes(file, 0, 0);
      files.push(file);
    }
    await scheduler({ contentCheckMs: 5 });
    await eventually('both are gone', () => files.every((file) => !existsSync(file)));
  });
});
