import { afterEach, describe, expect, test } from '@jest/globals';
import { type TurnJob, turnJobId } from '@suzumio/protocol/turn-job';
import type { WorkerPresence } from '@suzumio/protocol/worker-presence';
import type { Transport } from '@suzumio/runtime/queue/transport';
import { eventually } from '../../../../test/support/poll.js';
import { fleetSlots, gate, noteIn, turnJob } from './jobs.js';

/** What every transport promises. `open` makes one that shares nothing with those before it. */
export function transportContract(open: () => Promise<Transport> | Transport): void {
  describe('promises of every transport', () => contractTests(open));
}

function contractTests(open: () => Promise<Transport> | Transport): void {
  let transport: Transport;
  const opened = async () => {
    transport = await open();
    await eventually('the queue answers', () => transport.healthy());
  };
  afterEach(() => transport.close());

  describe('wakes', () => {
    test('a wake reaches the consumer with its project', async () => {
      await opened();
      const seen: string[] = [];
      transport.consumeWakes(noteIn(seen, (project) => project));
      transport.wake('newsroom');
      await eventually('the wake arrives', () => seen.length > 0);
      expect(seen).toEqual(['newsroom']);
    });

    test('wakes that wait are one', async () => {
      await opened();
      for (let i = 0; i < 20; i += 1) transport.wake('newsroom');
      transport.wake('last');
      const seen: string[] = [];
      transport.consumeWakes(noteIn(seen, (project) => project));
      await eventually('both projects wake', () => seen.includes('last') && seen.includes('newsroom'));
      await settle(transport);
      expect(seen.toSorted()).toEqual(['last', 'newsroom']);
    });

    test('wakes during a run cause exactly one more run, and never two at once', async () => {
      await opened();
      const first = gate();
      let runs = 0;
      let atOnce = 0;
      let most = 0;
      const handler = async () => {
        runs += 1;
        most = Math.max(most, ++atOnce);
        if (runs === 1) await first.opened;
        atOnce -= 1;
      };
      transport.consumeWakes(handler);
      transport.consumeWakes(handler);
      transport.wake('newsroom');
      await eventually('the first run starts', () => runs === 1);
      for (let i = 0; i < 10; i += 1) transport.wake('newsroom');
      await settle(transport);
      expect(runs).toBe(1);
      first.open();
      await eventually('the second run', () => runs === 2);
      await settle(transport);
      expect({ runs, most }).toEqual({ runs: 2, most: 1 });
    });

    test('a handler that fails does not end the consumer, nor swallow the next wake', async () => {
      await opened();
      let runs = 0;
      transport.consumeWakes(() => {
        runs += 1;
        return runs === 1 ? Promise.reject(new Error('the first run fails')) : Promise.resolve();
      });
      transport.wake('newsroom');
      await eventually('the first run', () => runs === 1);
      await settle(transport);
      transport.wake('newsroom');
      await eventually('the second run', () => runs === 2);
    });
  });

  describe('comparisons of commits', () => {
    test('each is in the queue once, and they are taken one at a time, beside turns', async () => {
      await opened();
      const job = (diff: number) => ({ cell: 'cell', project: 'newsroom', epoch: 1, diff });
      for (const diff of [1, 2, 2, 3]) await transport.addRepositoryDiff(job(diff));
      await transport.addTurnJob(turnJob(1));
      const first = gate();
      const seen: unknown[] = [];
      const consumer = transport.consumeRepositoryDiffs(async (taken) => {
        seen.push(taken);
        await first.opened;
      });
      await eventually('the first is taken', () => seen.length === 1);
      await settle(transport);
      expect(seen).toEqual([job(1)]);
      expect((await transport.turnJobs()).waiting).toBe(1);
      await consumer.pause();
      first.open();
      await settle(transport);
      expect(seen).toHaveLength(1);
      consumer.resume();
      await eventually('the others are taken', () => seen.length === 3);
      expect(seen).toEqual([job(1), job(2), job(3)]);
    });
  });

  describe('turn jobs', () => {
    test('a job arrives as it was added, and lives until its handler is done', async () => {
      await opened();
      const job = turnJob(1, { priority: 'P2', delivery: 3 });
      const seen: TurnJob[] = [];
      const done = gate();
      expect((await transport.turnJobs()).waiting).toBe(0);
      await transport.addTurnJob(job);
      expect((await transport.turnJobs()).waiting).toBe(1);
      expect(await transport.liveTurnJobs([job, turnJob(2)])).toEqual(new Set([turnJobId(job)]));
      transport.consumeTurns({ concurrency: 1 }, async (taken) => {
        seen.push(taken);
        await done.opened;
      });
      await eventually('the job arrives', () => seen.length === 1);
      expect(seen).toEqual([job]);
      expect((await transport.liveTurnJobs([job])).size).toBe(1);
      expect(await transport.turnJobs()).toEqual({ waiting: 0, active: 1, delayed: 0 });
      expect(await transport.turnJobsAhead(job)).toBeUndefined();
      done.open();
      await eventually('the job is gone', async () => (await transport.liveTurnJobs([job])).size === 0);
    });

    test('jobs are taken in the order in which they came, however urgent', async () => {
      await opened();
      const priorities = ['P3', 'P1', 'P0', 'P2', 'P1', 'P0'] as const;
      for (const [n, priority] of priorities.entries()) await transport.addTurnJob(turnJob(n, { priority }));
      const ahead = (n: number) => transport.turnJobsAhead(turnJob(n));
      expect(await Promise.all([0, 1, 2, 3, 4, 5, 9].map(ahead))).toEqual([0, 1, 2, 3, 4, 5, undefined]);
      const seen: string[] = [];
      transport.consumeTurns(
        { concurrency: 1 },
        noteIn(seen, (job) => `${job.priority}.${Number(job.turn.slice(5))}`),
      );
      await eventually('all jobs arrive', () => seen.length === priorities.length);
      expect(seen).toEqual(['P3.0', 'P1.1', 'P0.2', 'P2.3', 'P1.4', 'P0.5']);
    });

    test('the same delivery is in the queue once; another delivery, or a finished one again, is a job', async () => {
      await opened();
      const job = turnJob(1);
      await transport.addTurnJob(job);
      await transport.addTurnJob(job);
      await transport.addTurnJob({ ...job, delivery: 2 });
      const seen: number[] = [];
      transport.consumeTurns(
        { concurrency: 1 },
        noteIn(seen, (taken) => taken.delivery),
      );
      await eventually('both deliveries', () => seen.length === 2);
      await eventually('the first is gone', async () => (await transport.liveTurnJobs([job])).size === 0);
      await transport.addTurnJob(job);
      await eventually('the first again', () => seen.length === 3);
      expect(seen).toEqual([1, 2, 1]);
    });

    test('a consumer runs as many at once as it was told, and goes on after a handler that fails', async () => {
      await opened();
      const all = gate();
      let atOnce = 0;
      let done = 0;
      transport.consumeTurns({ concurrency: 3 }, async (job) => {
        atOnce += 1;
        await all.opened;
        atOnce -= 1;
        done += 1;
        if (job.turn === turnJob(0).turn) throw new Error('this one fails');
      });
      for (let n = 0; n < 5; n += 1) await transport.addTurnJob(turnJob(n));
      await eventually('three run', () => atOnce === 3);
      await settle(transport);
      expect(atOnce).toBe(3);
      all.open();
      await eventually('all are done', () => done === 5);
    });

    test('a paused consumer finishes what runs, takes nothing, and takes again after resume', async () => {
      await opened();
      const first = gate();
      const seen: string[] = [];
      const finished: string[] = [];
      const consumer = transport.consumeTurns({ concurrency: 2 }, async (job) => {
        seen.push(job.turn);
        if (job.turn === turnJob(1).turn) await first.opened;
        finished.push(job.turn);
      });
      await transport.addTurnJob(turnJob(1));
      await eventually('the first job runs', () => seen.length === 1);
      await consumer.pause();
      await transport.addTurnJob(turnJob(2));
      await settle(transport);
      expect(seen).toEqual([turnJob(1).turn]);
      first.open();
      await eventually('the first job ends', () => finished.length === 1);
      expect((await transport.liveTurnJobs([turnJob(2)])).size).toBe(1);
      consumer.resume();
      await eventually('the second job', () => finished.length === 2);
    });

    test('a closed consumer waits for what runs and leaves the rest to others', async () => {
      await opened();
      const first = gate();
      const seen: string[] = [];
      const consumer = transport.consumeTurns({ concurrency: 1 }, async (job) => {
        seen.push(job.turn);
        await first.opened;
        seen.push('done');
      });
      await transport.addTurnJob(turnJob(1));
      await transport.addTurnJob(turnJob(2));
      await eventually('the first job runs', () => seen.length === 1);
      const closed = consumer.close().then(() => seen.push('closed'));
      await settle(transport);
      expect(seen).toEqual([turnJob(1).turn]);
      first.open();
      await closed;
      expect(seen).toEqual([turnJob(1).turn, 'done', 'closed']);
      const others: string[] = [];
      transport.consumeTurns(
        { concurrency: 1 },
        noteIn(others, (job) => job.turn),
      );
      await eventually('another consumer takes the rest', () => others.length === 1);
      expect(others).toEqual([turnJob(2).turn]);
    });
  });

  describe('places in the queue', () => {
    const taken = async (...places: string[]) => {
      const { held, free } = await transport.takePlaces(places);
      return { held: [...held], free };
    };

    test('as many are held at a time as the fleet has slots, in the order in which they were asked for', async () => {
      await opened();
      await transport.announce({ worker: 'one', slots: 2 });
      await transport.announce({ worker: 'two', slots: 1 });
      expect(await taken()).toEqual({ held: [], free: 3 });
      expect(await taken('a/1', 'a/2')).toEqual({ held: ['a/1', 'a/2'], free: 1 });
      expect(await taken('b/1', 'b/2')).toEqual({ held: ['b/1'], free: 0 });
      transport.givePlacesBack(['a/1', 'a/9']);
      await eventually('one is free', async () => (await taken()).free === 1);
      expect(await taken('b/2', 'b/3')).toEqual({ held: ['b/2'], free: 0 });
    });

    test('one that is held already is taken without another', async () => {
      await opened();
      await transport.announce({ worker: 'one', slots: 1 });
      expect(await taken('a/1')).toEqual({ held: ['a/1'], free: 0 });
      expect(await taken('a/1', 'a/2')).toEqual({ held: ['a/1'], free: 0 });
    });

    test('never more are held, however many ask at once', async () => {
      await opened();
      await transport.announce({ worker: 'one', slots: 5 });
      const all = await Promise.all(Array.from({ length: 20 }, (_, n) => taken(`p${n}/1`, `p${n}/2`)));
      expect(all.flatMap(({ held }) => held)).toHaveLength(5);
    });

    test('a fleet of which nobody has heard yet has a few, and one that is silent has as many as it had', async () => {
      await opened();
      expect((await taken()).free).toBe(4);
      await transport.announce({ worker: 'one', slots: 9 });
      expect((await taken()).free).toBe(9);
      await transport.depart('one');
      expect((await taken()).free).toBe(9);
    });

    test('those that have been held for long are found', async () => {
      await opened();
      await taken('a/1');
      expect(await transport.heldPlaces(60_000)).toEqual([]);
      expect(await transport.heldPlaces(0)).toEqual(['a/1']);
    });
  });

  describe('hints and the fleet', () => {
    test('a hint reaches every listener until it leaves', async () => {
      await opened();
      const first: number[] = [];
      const second: number[] = [];
      transport.onHint((hint) => first.push(hint.seq));
      const leave = transport.onHint((hint) => second.push(hint.seq));
      let seq = 0;
      await eventually('both hear a hint', () => {
        transport.hint({ project: 'newsroom', seq: (seq += 1) });
        return first.length > 0 && second.length > 0;
      });
      leave();
      const heard = second.length;
      const last = (seq += 1);
      transport.hint({ project: 'newsroom', seq: last });
      await eventually('the one that stayed hears the last', () => first.includes(last));
      expect(second.slice(heard)).not.toContain(last);
    });

    test('the fleet is what its workers last said', async () => {
      await opened();
      expect(await fleetSlots(transport)).toBe(0);
      await transport.announce({ worker: 'one', slots: 2 });
      await transport.announce({ worker: 'two', slots: 3 });
      expect(await fleetSlots(transport)).toBe(5);
      await transport.announce({ worker: 'one', slots: 0 });
      expect(await fleetSlots(transport)).toBe(3);
    });

    test('whoever asks is told all that a worker said, until it goes', async () => {
      await opened();
      const busy: WorkerPresence = {
        worker: 'one',
        slots: 2,
        state: 'ready',
        cells: ['main'],
        backends: ['docker'],
        images: ['runner:1'],
      };
      await transport.announce(busy);
      await transport.announce({ worker: 'two', slots: 0, state: 'draining' });
      expect((await transport.fleet()).sort((a, b) => a.worker.localeCompare(b.worker))).toEqual([
        busy,
        { worker: 'two', slots: 0, state: 'draining' },
      ]);
      await transport.depart('two');
      await transport.depart('never-there');
      expect(await transport.fleet()).toEqual([busy]);
    });
  });

  test('closing twice, and using it afterwards, harms nobody', async () => {
    await opened();
    await transport.close();
    await transport.close();
    transport.wake('newsroom');
    transport.hint({ project: 'newsroom', seq: 1 });
    expect(await transport.healthy()).toBe(false);
  });
}

/** Gives whatever was sent before the time to arrive: a few round trips through the same transport. */
async function settle(transport: Transport): Promise<void> {
  for (let i = 0; i < 5; i += 1) {
    await transport.healthy();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
