import { describe, expect, test } from '@jest/globals';
import { turnJobId } from '@suzumio/shared/queue/jobs';
import type { Transport } from '@suzumio/shared/queue/transport';
import { completeTurn, failAttempt } from '@suzumio/shared/store/verbs/report-attempt';
import { approveProject, stopProject, submitReport } from '@suzumio/shared/store/verbs/project-transitions';
import { eventually } from '../../../shared/test/support/poll.js';
import { benches } from './bench.js';

/** What a scheduler does over every transport. */
export function schedulerContract(connect: () => Transport): void {
  const bench = benches(connect);

  describe('mail', () => {
    test('a wake starts one turn of the agent that has mail and puts its job on the queue', async () => {
      const { testing, transport, jobs, work, scheduler, mail, turns } = await bench();
      const project = await testing.create();
      await eventually('the queue answers', () => transport.healthy());
      await scheduler();
      await work();
      await mail(project, 'ada');
      transport.wake(project);
      await eventually('the job arrives', () => jobs.length === 1);
      const [turn] = await turns(project);
      expect(turn).toMatchObject({ agent_id: 'ada', status: 'queued', delivery: 1 });
      expect(jobs).toEqual([{ cell: 'main', project, epoch: 1, turn: turn?.id, delivery: 1, priority: 'P1' }]);
    });

    test('a lost wake is healed by the sweep', async () => {
      const { testing, jobs, work, scheduler, mail } = await bench();
      const project = await testing.create();
      await scheduler({ sweepIntervalMs: 20 });
      await work();
      await mail(project, 'ada');
      await eventually('the job arrives', () => jobs.length === 1);
    });

    test('what waited before the start is found at once', async () => {
      const { testing, jobs, work, scheduler, mail } = await bench();
      const project = await testing.create();
      await mail(project, 'ada');
      await work();
      await scheduler();
      await eventually('the job arrives', () => jobs.length === 1);
    });

    test('an agent that works is left alone; its mail starts the next turn when it is quiet', async () => {
      const { testing, transport, jobs, work, scheduler, mail, turns, claim } = await bench();
      const project = await testing.create();
      await scheduler({ sweepIntervalMs: 20 });
      await work();
      await mail(project, 'ada');
      await eventually('the first job', () => jobs.length === 1);
      const first = jobs[0]?.turn ?? '';
      await claim(project, first);
      await mail(project, 'ada');
      await mail(project, 'ben');
      await eventually('ben gets a turn', () => jobs.length === 2);
      expect((await turns(project)).map((turn) => turn.agent_id)).toEqual(['ada', 'ben']);

      await testing.write(project, (tx) =>
        completeTurn(tx, { turn: first, attempt: 1 }, { output: { text: 'Done.' } }),
      );
      transport.wake(project);
      await eventually('the next job of ada', () => jobs.length === 3);
      expect((await turns(project)).map((turn) => `${turn.agent_id} ${turn.status}`)).toEqual([
        'ada completed',
        'ada queued',
        'ben queued',
      ]);
    });

    test('starts nothing while the cell is paused, and all that waits when it goes on', async () => {
      const { testing, metrics, jobs, work, scheduler, mail, turns } = await bench();
      const project = await testing.create();
      await testing.cell.catalog.pause.begin('ann', 'The bill.');
      await mail(project, 'ada');
      const running = await scheduler({ sweepIntervalMs: 20 });
      await work();
      const sweeps = async () =>
        /sweep_duration_seconds_count\{[^}]*round="sweep"[^}]*\} (\d+)/.exec(await metrics.registry.metrics());
      await eventually('it has looked twice', async () => Number((await sweeps())?.[1] ?? 0) >= 2);
      await running.stop();
      expect(await turns(project)).toEqual([]);
      await testing.cell.catalog.pause.end();
      await scheduler({ sweepIntervalMs: 20 });
      await eventually('the job arrives', () => jobs.length === 1);
    });

    test('starts nothing for whose questions the day has no room, and all that waits when it is raised', async () => {
      const { testing, metrics, jobs, work, scheduler, mail, turns } = await bench();
      const project = await testing.create(thinking);
      const { spending } = testing.cell.catalog;
      await spending.limitTo(1e9);
      await spending.spend(950_000_000);
      await mail(project, 'ada');
      const running = await scheduler({ sweepIntervalMs: 20 });
      await work();
      const sweeps = async () =>
        /sweep_duration_seconds_count\{[^}]*round="sweep"[^}]*\} (\d+)/.exec(await metrics.registry.metrics());
      await eventually('it has looked twice', async () => Number((await sweeps())?.[1] ?? 0) >= 2);
      await running.stop();
      expect(await turns(project)).toEqual([]);
      await spending.limitTo(2e9);
      await scheduler({ sweepIntervalMs: 20 });
      await eventually('the job arrives', () => jobs.length === 1);
    });

    test('a project that does not run starts nothing', async () => {
      const { testing, jobs, work, scheduler, mail, turns } = await bench();
      const stopped = await testing.create();
      const running = await testing.create(other);
      await mail(stopped, 'ada');
      await mail(running, 'eve');
      await testing.write(stopped, (tx) => stopProject(tx, 'test', { now: false }));
      await work();
      await scheduler({ sweepIntervalMs: 20 });
      await eventually('the other project works', () => jobs.length === 1);
      expect(jobs[0]?.project).toBe(running);
      expect(await turns(stopped)).toEqual([]);
    });
  });

  describe('several schedulers', () => {
    test('never start two turns of an agent, nor deliver one twice', async () => {
      const { testing, transport, jobs, work, scheduler, mail, turns } = await bench();
      const project = await testing.create(crowd(20));
      await Promise.all([1, 2, 3].map(() => scheduler({ sweepIntervalMs: 10 })));
      await work(100);
      for (let n = 1; n <= 20; n += 1) {
        await mail(project, `worker-${String(n)}`);
        transport.wake(project);
      }
      await eventually('a job for each', () => jobs.length >= 20);
      const started = await turns(project);
      expect(started).toHaveLength(20);
      expect(new Set(started.map((turn) => turn.agent_id)).size).toBe(20);
      expect(new Set(jobs.map(turnJobId)).size).toBe(jobs.length);
      expect(started.every((turn) => turn.delivery === 1)).toBe(true);
      expect(jobs).toHaveLength(20);
    });
  });

  describe('jobs', () => {
    test('a job that still waits is not added again, however old it is', async () => {
      const { testing, transport, scheduler, mail, turns, advance } = await bench();
      const project = await testing.create();
      await mail(project, 'ada');
      await scheduler({ sweepIntervalMs: 10 });
      await eventually('it is delivered', async () => (await turns(project))[0]?.delivery === 1);
      const turn = (await turns(project))[0]?.id ?? '';
      await eventually('its job waits', async () => (await live(transport, turn, 1)) === 1);
      advance(60_000);
      await mail(project, 'ben');
      await eventually('another look was had', async () => (await turns(project)).some((t) => t.agent_id === 'ben'));
      expect((await turns(project))[0]).toMatchObject({ delivery: 1 });
    });

    test('more urgent mail for a queued turn makes a new job in the place of the old one', async () => {
      const { testing, transport, jobs, work, scheduler, mail, turns } = await bench();
      const project = await testing.create();
      await mail(project, 'ada', 'P2');
      await scheduler({ sweepIntervalMs: 10 });
      await eventually('it is delivered', async () => (await turns(project))[0]?.delivery === 1);
      const turn = (await turns(project))[0]?.id ?? '';
      await eventually('its job waits', async () => (await live(transport, turn, 1)) === 1);
      await mail(project, 'ada', 'P0');
      await eventually('the new one waits', async () => (await live(transport, turn, 2)) === 1);
      await eventually('the old one is gone', async () => (await live(transport, turn, 1)) === 0);
      await work();
      await eventually('one job arrives', () => jobs.length === 1);
      expect(jobs).toMatchObject([{ delivery: 2, priority: 'P0' }]);
    });

    test('an attempt that waits out its backoff is delivered when that has passed, not before', async () => {
      const { testing, transport, jobs, work, scheduler, mail, claim, advance, turns } = await bench();
      const project = await testing.create();
      await mail(project, 'ada');
      await scheduler({ sweepIntervalMs: 10 });
      await work();
      await eventually('the first job', () => jobs.length === 1);
      const turn = jobs[0]?.turn ?? '';
      await claim(project, turn);
      await testing.write(project, (tx) =>
        failAttempt(tx, { turn, attempt: 1 }, { failure: { code: 'image-missing', message: 'No such image.' } }),
      );
      transport.wake(project);
      advance(900);
      await mail(project, 'ben');
      await eventually('another look was had', () => jobs.length === 2);
      expect((await turns(project))[0]).toMatchObject({ agent_id: 'ada', status: 'queued', delivery: 1 });
      advance(100);
      await eventually('it is due', () => jobs.length === 3);
      expect(jobs[2]).toMatchObject({ turn, delivery: 2 });
    });
  });

  describe('fairness', () => {
    test('a project with many ready agents has as many jobs in the queue as the fleet has slots', async () => {
      const { testing, transport, scheduler, mail, turns } = await bench();
      const big = await testing.create(crowd(30));
      const small = await testing.create();
      await transport.announce({ worker: 'w1', slots: 2 });
      await transport.announce({ worker: 'w2', slots: 1 });
      for (let n = 1; n <= 30; n += 1) await mail(big, `worker-${String(n)}`);
      await mail(small, 'ada');
      await scheduler({ sweepIntervalMs: 10 });
      const delivered = async (project: string) =>
        (await turns(project)).filter((turn) => turn.delivery > 0 && turn.status === 'queued').length;
      await eventually(
        'both projects have jobs',
        async () => (await delivered(small)) === 1 && (await delivered(big)) > 0,
      );
      await eventually('all turns are queued', async () => (await turns(big)).length === 30);
      expect(await delivered(big)).toBe(3);
    });

    test('each job that is claimed makes room for another', async () => {
      const { testing, jobs, work, scheduler, mail, turns, claim } = await bench();
      const project = await testing.create(crowd(5));
      for (let n = 1; n <= 5; n += 1) await mail(project, `worker-${String(n)}`);
      await scheduler({ sweepIntervalMs: 10 });
      await work(2);
      for (let n = 1; n <= 5; n += 1) {
        await eventually(`job ${String(n)}`, () => jobs.length >= n);
        await claim(project, jobs[n - 1]?.turn ?? '');
      }
      expect((await turns(project)).map((turn) => turn.status)).toEqual(Array.from({ length: 5 }, () => 'running'));
    });

    test('where no worker is known, one job waits for the first', async () => {
      const { testing, scheduler, mail, turns } = await bench();
      const project = await testing.create(crowd(5));
      for (let n = 1; n <= 5; n += 1) await mail(project, `worker-${String(n)}`);
      await scheduler({ sweepIntervalMs: 10 });
      await eventually('all turns are queued', async () => (await turns(project)).length === 5);
      await eventually('one is delivered', async () => (await turns(project)).some((turn) => turn.delivery > 0));
      expect((await turns(project)).filter((turn) => turn.delivery > 0)).toHaveLength(1);
    });
  });

  describe('settling', () => {
    test('a project that has ended is looked at no more once nothing of it runs', async () => {
      const { testing, jobs, work, scheduler, mail, claim } = await bench();
      const { catalog } = testing.cell;
      const project = await testing.create();
      await mail(project, 'ada');
      await mail(project, 'ben');
      await work();
      await scheduler({ sweepIntervalMs: 10 });
      await eventually('a job', () => jobs.length > 0);
      const turn = jobs[0]?.turn ?? '';
      await claim(project, turn);
      await testing.write(project, (tx) =>
        submitReport(tx, { path: 'reports/1.md', agent: 'ada', turn, promptSeq: 2 }),
      );
      expect(catalog.unsettledProjects()).toEqual([project]);
      await testing.write(project, (tx) => approveProject(tx, 'test'));
      await eventually('it is settled', () => catalog.unsettledProjects().length === 0);
      expect(catalog.projects()).toEqual([{ id: project, status: 'completed' }]);
    });

    test('a project that runs although the catalog calls it settled is found at the start', async () => {
      const { testing, jobs, work, scheduler, mail } = await bench();
      const { catalog } = testing.cell;
      const project = await testing.create();
      await catalog.noteStatus(project, () => ({ status: 'stopped', settled: true }));
      await mail(project, 'ada');
      await work();
      await scheduler();
      await eventually('the job arrives', () => jobs.length === 1);
      expect(catalog.projects()).toEqual([{ id: project, status: 'running' }]);
    });
  });
}

async function live(transport: Transport, turn: string, delivery: number): Promise<number> {
  return (await transport.liveTurnJobs([{ cell: 'main', epoch: 1, turn, delivery }])).size;
}

const other = `
name: other
task: Something else.
backend: { runner: { mode: mock } }
agents: { eve: { role: writer, prompt: Write. } }
`;

/** An answer of its model may cost ten cents. */
const thinking = `
name: thinking
task: Think.
backend:
  runner:
    mode: ai
    model: only
    models:
      providers: { one: { type: openai-compatible, baseURL: 'http://127.0.0.1:9/v1' } }
      presets: { only: { provider: one, model: m, maxOutputTokens: 1000, price: { input: 1, output: 100 } } }
agents: { ada: { role: thinker, prompt: Think. } }
`;

function crowd(count: number): string {
  return `
name: crowd
task: Work together.
backend: { runner: { mode: mock } }
agents: { worker: { role: worker, prompt: Work., count: ${String(count)} } }
`;
}
