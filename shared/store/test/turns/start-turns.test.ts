import { describe, expect, test } from '@jest/globals';
import { stopProject } from '@suzumio/store/projects/project-transitions';
import { deliverableTurns, deliverTurn, forgetDelivery, redeliverAfterMs } from '@suzumio/store/turns/deliver-turn';
import { failTurn } from '@suzumio/store/turns/fail-attempt';
import { retryTurn } from '@suzumio/store/turns/retry-turn';
import { turnRow } from '@suzumio/store/rows';
import { type Team, teams } from '../team.js';

const team = teams();

describe('starting turns', () => {
  test('one for each quiet agent with mail, the most urgent first', async () => {
    const of = await team();
    await of.mail('ada', { priority: 'P2' });
    await of.mail('cat', { priority: 'P0' });
    await of.mail('cat', { priority: 'P3' });
    const turns = await of.schedule();
    expect(turns).toEqual([of.activeTurn('cat'), of.activeTurn('ada')]);
    expect(turns.map((turn) => of.turn(turn)?.priority)).toEqual(['P0', 'P2']);
    expect(of.stateOf('ada')).toBe('running');
    expect(of.stateOf('ben')).toBe('quiet');
    expect(await of.schedule()).toEqual([]);
  });

  test('no more at a time than the project allows', async () => {
    const of = await team(oneAtATime);
    for (const agent of ['worker-1', 'worker-2', 'worker-3']) await of.mail(agent);
    const [first = ''] = await of.schedule();
    expect(await of.schedule()).toEqual([]);
    await of.complete(await of.begin(first));
    expect(await of.schedule()).toHaveLength(1);
  });

  test('never a second of an agent: the database itself refuses it', async () => {
    const of = await team();
    await of.mail('ada');
    await of.schedule();
    await expect(
      of.write((tx) => {
        tx.run(
          `INSERT INTO turns (id, agent_id, number, status, priority, queued_at_ms) VALUES ('x', 'ada', 9, 'running', 'P1', 0)`,
        );
      }),
    ).rejects.toThrow('UNIQUE');
  });

  test('an agent’s turns are numbered', async () => {
    const of = await team();
    for (const number of [1, 2, 3]) {
      const begun = await of.work('ada');
      expect(of.rows(`SELECT number FROM turns WHERE id = '${begun.turn}'`)).toEqual([{ number }]);
      await of.complete(begun);
    }
  });
});

describe('delivering turns', () => {
  const look = (of: Team) => deliverableTurns(of.store.reader, of.nowMs);
  const deliver = (of: Team, turn: string, seen: number) => of.write((tx) => deliverTurn(tx, turn, seen));

  test('is written down with the job’s number before there is a job', async () => {
    const of = await team();
    await of.mail('ada', { priority: 'P2' });
    const [turn = ''] = await of.schedule();
    expect(look(of)).toEqual([{ turn, agent: 'ada', priority: 'P2', epoch: 1, delivery: 0, lost: false }]);
    expect(await deliver(of, turn, 0)).toEqual({ project: 'team', epoch: 1, turn, delivery: 1, priority: 'P2' });
    expect(look(of)).toEqual([]);
  });

  test('is one process’s: who saw an older state does nothing', async () => {
    const of = await team();
    await of.mail('ada');
    const [turn = ''] = await of.schedule();
    const both = await Promise.all([deliver(of, turn, 0), deliver(of, turn, 0)]);
    expect(both.filter((job) => job !== undefined)).toHaveLength(1);
    await of.begin(turn);
    expect(await deliver(of, turn, 1)).toBeUndefined();
  });

  test('comes again when the last one is old, or never was', async () => {
    const of = await team();
    await of.mail('ada');
    const [turn = ''] = await of.schedule();
    await deliver(of, turn, 0);
    of.advance(redeliverAfterMs - 1);
    expect(look(of)).toEqual([]);
    of.advance(1);
    expect(look(of)).toMatchObject([{ turn, delivery: 1, lost: true }]);
    await deliver(of, turn, 1);
    await of.write((tx) => forgetDelivery(tx, turn, 1));
    expect(look(of)).toEqual([]);
    await of.write((tx) => forgetDelivery(tx, turn, 2));
    expect(look(of)).toMatchObject([{ turn, delivery: 2, lost: false }]);
  });

  const hourMs = 3_600_000;

  test('comes again when the clock steps back behind the last one', async () => {
    const of = await team();
    await of.mail('ada');
    const [turn = ''] = await of.schedule();
    await deliver(of, turn, 0);
    of.advance(-hourMs);
    expect(look(of)).toMatchObject([{ turn, delivery: 1, lost: true }]);
  });

  test('waits for no backoff that was set before the clock stepped back', async () => {
    const of = await team();
    const begun = await of.work('ada');
    await of.fail(begun, 'image-missing');
    expect(look(of)).toEqual([]);
    of.advance(-hourMs);
    expect(look(of)).toMatchObject([{ turn: begun.turn }]);
    expect(await deliver(of, begun.turn, 0)).toMatchObject({ turn: begun.turn });
    const next = await of.begin(begun.turn, { worker: 'another' });
    expect(next.attempt).toBe(2);
    await of.fail(next, 'image-missing');
    expect(look(of)).toEqual([]);
  });

  test('waits for a backoff to pass', async () => {
    const of = await team();
    const begun = await of.work('ada');
    await of.fail(begun, 'image-missing');
    expect(look(of)).toEqual([]);
    expect(await deliver(of, begun.turn, 0)).toBeUndefined();
    of.advance(1_000);
    expect(look(of)).toMatchObject([{ turn: begun.turn }]);
  });

  test('is not wanted in a project that does not run, where nobody could claim the turn', async () => {
    const of = await team();
    const begun = await of.work('ada');
    await of.fail(begun, 'container-vanished');
    await of.mail('ben');
    const [unclaimed = ''] = await of.schedule();
    await of.write((tx) => failTurn(tx, turnRow(tx, unclaimed), { code: 'prompt-failed', message: 'No.' }));
    await of.write((tx) => stopProject(tx, 'test', { now: false }));
    await of.write((tx) => retryTurn(tx, 'ben', 'test'));
    expect(look(of)).toEqual([]);
  });
});

const oneAtATime = `
name: one-at-a-time
task: Wait.
scheduler: { maxConcurrentTurns: 1 }
backend: { runner: { mode: mock } }
agents: { worker: { role: worker, prompt: Work., count: 3 } }
`;
