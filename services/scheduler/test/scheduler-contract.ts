import { describe, expect, test } from '@jest/globals';
import { turnJobId } from '@suzumio/protocol/turn-job';
import type { Transport } from '@suzumio/runtime/queue/transport';
import { completeTurn } from '@suzumio/store/turns/complete-turn';
import { failAttempt } from '@suzumio/store/turns/fail-attempt';
import { pauseProject } from '@suzumio/store/protection/pause';
import { labelProject } from '@suzumio/store/projects/label-project';
import { approveProject, stopProject, submitReport } from '@suzumio/store/projects/project-transitions';
import { eventually } from '../../../test/support/poll.js';
import { benches } from './bench.js';
import { roundsIn } from './rounds.js';

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
      await eventually('it has looked twice', async () => (await roundsIn(metrics, 'sweep')) >= 2);
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
      await eventually('it has looked twice', async () => (await roundsIn(metrics, 'sweep')) >= 2);
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

    test('more urgent mail for a turn whose job waits leaves the job where it is', async () => {
      const { testing, transport, jobs, work, scheduler, mail, turns } = await bench();
      const project = await testing.create();
      await mail(project, 'ada', 'P2');
      await scheduler({ sweepIntervalMs: 10 });
      await eventually('it is delivered', async () => (await turns(project))[0]?.delivery === 1);
      const turn = (await turns(project))[0]?.id ?? '';
      await eventually('its job waits', async () => (await live(transport, turn, 1)) === 1);
      await mail(project, 'ada', 'P0');
      await mail(project, 'ben');
      await eventually('another look was had', async () => (await turns(project)).length === 2);
      await work();
      await eventually('both jobs arrive', () => jobs.length === 2);
      expect(jobs).toMatchObject([{ turn, delivery: 1 }, { delivery: 1 }]);
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
    test('the turns of all projects that wait in the queue are as many as the fleet has slots', async () => {
      const { testing, transport, scheduler, mail, turns } = await bench();
      const big = await testing.create(crowd(30));
      const small = await testing.create();
      await transport.announce({ worker: 'w1', slots: 2 });
      await transport.announce({ worker: 'w2', slots: 1 });
      for (let n = 1; n <= 30; n += 1) await mail(big, `worker-${String(n)}`);
      await mail(small, 'ada');
      await scheduler({ sweepIntervalMs: 10 });
      await eventually('all turns are queued', async () => (await turns(big)).length === 30);
      await eventually('some project waits', () => !testing.cell.catalog.waitingLine.empty);
      await eventually('the queue is full', async () => (await transport.turnJobs()).waiting === 3);
      const all = [...(await turns(big)), ...(await turns(small))];
      expect(all.filter(({ delivery }) => delivery > 0).length).toBeGreaterThanOrEqual(3);
      expect((await transport.turnJobs()).waiting).toBe(3);
    });

    test('each claim makes room for one more, of the projects in turn, the most urgent of each first', async () => {
      const { testing, transport, jobs, scheduler, mail, claimed } = await bench();
      await transport.announce({ worker: 'w', slots: 1 });
      const big = await testing.create(crowd(4));
      const small = await testing.create();
      for (const n of ['1', '2', '3']) await mail(big, `worker-${n}`, 'P2');
      await scheduler();
      await eventually('a job of the crowd waits', async () => (await transport.turnJobs()).waiting === 1);
      await mail(big, 'worker-4', 'P0');
      transport.wake(big);
      await eventually('the crowd stands in line', () => testing.cell.catalog.waitingLine.has(big));
      await mail(small, 'ben', 'P3');
      await mail(small, 'ada', 'P1');
      transport.wake(small);
      await eventually('both do', () => testing.cell.catalog.waitingLine.has(small));
      transport.consumeTurns({ concurrency: 1 }, async (job) => {
        jobs.push(job);
        await claimed(job);
      });
      await eventually('all are claimed', () => jobs.length === 6);
      expect(jobs.map(({ project, priority }) => `${project} ${priority}`)).toEqual([
        'crowd P2',
        'crowd P0',
        'team P1',
        'crowd P2',
        'team P3',
        'crowd P2',
      ]);
      await eventually('nobody waits', () => testing.cell.catalog.waitingLine.empty);
    });

    test('while there is room for all, nothing is written down of it', async () => {
      const { testing, transport, scheduler, mail, turns } = await bench();
      const project = await testing.create(crowd(4));
      await transport.announce({ worker: 'w', slots: 4 });
      for (const n of ['1', '2', '3', '4']) await mail(project, `worker-${n}`);
      await scheduler({ sweepIntervalMs: 10 });
      await eventually('all jobs wait', async () => (await transport.turnJobs()).waiting === 4);
      expect((await turns(project)).map(({ delivery }) => delivery)).toEqual([1, 1, 1, 1]);
      expect(testing.cell.catalog.waitingLine.empty).toBe(true);
    });

    test('a place whose turn waits no more is found by the sweep', async () => {
      const { testing, transport, jobs, work, scheduler, mail } = await bench();
      const heldPlaces = transport.heldPlaces.bind(transport);
      transport.heldPlaces = () => heldPlaces(0);
      const project = await testing.create();
      await transport.announce({ worker: 'collector', slots: 1 });
      // Its claim was told of in vain.
      await transport.takePlaces([`${project}/cat`]);
      await mail(project, 'ada');
      await scheduler({ sweepIntervalMs: 10 });
      await work(1);
      await eventually('the job arrives', () => jobs.length === 1);
    });

    test.each(['running', 'paused'])(
      'of a job that was dropped without a claim is free again: its project is %s',
      async (is) => {
        const { testing, transport, jobs, work, scheduler, mail, advance } = await bench();
        const heldPlaces = transport.heldPlaces.bind(transport);
        transport.heldPlaces = () => heldPlaces(0);
        const [dropped, other] = [await testing.create(crowd(1)), await testing.create()];
        await mail(dropped, 'worker');
        await scheduler({ sweepIntervalMs: 10 });
        await work(1);
        await eventually('a worker takes the only job and drops it', () => jobs.length === 1);
        if (is === 'paused')
          await testing.write(dropped, (tx) => pauseProject(tx, { actor: 'ann', reason: 'A look.' }));
        await mail(other, 'ada');
        await eventually('the other project has its turn', () => jobs.some(({ project }) => project === other));
        if (is === 'paused') return;
        advance(6_000);
        await eventually('the dropped one comes again', () => jobs.some(({ delivery }) => delivery === 2));
      },
    );

    test('a project that was deleted while it waited is in nobody’s way', async () => {
      const { testing, transport, jobs, scheduler, mail, claimed } = await bench();
      await transport.announce({ worker: 'w', slots: 1 });
      const [gone, stays] = [await testing.create(crowd(2)), await testing.create()];
      for (const n of ['1', '2']) await mail(gone, `worker-${n}`);
      await scheduler({ sweepIntervalMs: 10 });
      await eventually('it waits', () => testing.cell.catalog.waitingLine.has(gone));
      await mail(stays, 'ada');
      await eventually('so does the other', () => testing.cell.catalog.waitingLine.has(stays));
      await testing.cell.deleteProject(gone, { actor: 'test' });
      expect(testing.cell.catalog.waitingLine.has(gone)).toBe(false);
      transport.consumeTurns({ concurrency: 1 }, async (job) => {
        jobs.push(job);
        await claimed(job);
      });
      await eventually('the other has its turn', () => jobs.some(({ project }) => project === stays));
    });

    test('several schedulers fill one queue, and leave no project out', async () => {
      const { testing, transport, jobs, scheduler, mail, claimed } = await bench();
      await transport.announce({ worker: 'w', slots: 2 });
      const projects = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => testing.create(crowd(4, name))));
      for (const project of projects) for (const n of ['1', '2', '3', '4']) await mail(project, `worker-${n}`);
      await Promise.all([1, 2, 3].map(() => scheduler({ sweepIntervalMs: 50 })));
      await eventually('all stand in line', () =>
        projects.every((project) => testing.cell.catalog.waitingLine.has(project)),
      );
      await eventually('the queue is full', async () => (await transport.turnJobs()).waiting === 2);
      let most = 0;
      transport.consumeTurns({ concurrency: 1 }, async (job) => {
        jobs.push(job);
        most = Math.max(most, 1 + (await transport.turnJobs()).waiting);
        await claimed(job);
      });
      await eventually('all are claimed', () => jobs.length === 20);
      expect(new Set(jobs.map(({ turn }) => turn)).size).toBe(20);
      expect(most).toBeLessThanOrEqual(2);
      // The first two were on the queue before the others came. From then on, for two rounds, nobody is passed.
      const rounds = jobs.slice(2, 12).map(({ project }) => project);
      for (let at = 0; at + 7 <= rounds.length; at += 1) {
        expect(new Set(rounds.slice(at, at + 7)).size).toBe(projects.length);
      }
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
      expect(catalog.projects.unsettled()).toEqual([project]);
      await testing.write(project, (tx) => approveProject(tx, 'test'));
      await eventually('it is settled', () => catalog.projects.unsettled().length === 0);
      expect(catalog.projects.all()).toEqual([{ id: project, status: 'completed' }]);
    });

    test('a project that runs although the catalog calls it settled is found at the start', async () => {
      const { testing, jobs, work, scheduler, mail } = await bench();
      const { catalog } = testing.cell;
      const project = await testing.create();
      await catalog.projects.noteStatus(project, () => ({ status: 'stopped', settled: true }));
      await mail(project, 'ada');
      await work();
      await scheduler();
      await eventually('the job arrives', () => jobs.length === 1);
      expect(catalog.projects.all()).toEqual([{ id: project, status: 'running' }]);
    });

    test.each(['before', 'after'])(
      'labels that the catalog was not told of arrive: changed %s the start',
      async (when) => {
        const { testing, scheduler } = await bench();
        const { catalog } = testing.cell;
        const project = await testing.create();
        const change = () =>
          testing.write(project, (tx) => labelProject(tx, { set: { env: 'live' }, remove: [], actor: 'test' }));
        if (when === 'before') await change();
        await scheduler({ sweepIntervalMs: 10 });
        if (when === 'after') await change();
        const listed = () => catalog.projects.list({ labels: [['env', 'live']], limit: 10 }).items.map(({ id }) => id);
        await eventually('the catalog has them', () => listed().length === 1);
        expect(listed()).toEqual([project]);
      },
    );
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

function crowd(count: number, name = 'crowd'): string {
  return `
name: ${name}
task: Work together.
backend: { runner: { mode: mock } }
agents: { worker: { role: worker, prompt: Work., count: ${String(count)} } }
`;
}
