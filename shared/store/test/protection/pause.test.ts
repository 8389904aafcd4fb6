import { describe, expect, test } from '@jest/globals';
import { listAgents, readAgent } from '@suzumio/store/projects/agents';
import { readProject } from '@suzumio/store/projects/read-project';
import { deliverableTurns } from '@suzumio/store/turns/deliver-turn';
import { pauseAgent, pauseProject, resumeAgent, resumeProject } from '@suzumio/store/protection/pause';
import { agentsToStart } from '@suzumio/store/turns/start-turns';
import { teamYaml } from '../../../../test/support/cell.js';
import { refusedAs, type Team, teams } from '../team.js';

const team = teams();
const ann = { actor: 'ann' };

const paused = (of: Team, agent: string) => readAgent(of.store.reader, agent).paused;
/** A turn from mail to its end. */
const turn = async (of: Team, agent: string) => of.complete(await of.work(agent));

describe('an agent that is paused', () => {
  test('starts no turn, while others do and its mail waits', async () => {
    const of = await team();
    await of.write((tx) => pauseAgent(tx, 'ada', { ...ann, reason: 'It loops.' }));
    for (const agent of ['ada', 'ben']) await of.mail(agent);
    expect(await of.schedule()).toEqual([of.activeTurn('ben')]);
    expect([of.stateOf('ada'), of.unread('ada')]).toEqual(['quiet', 1]);
    expect(paused(of, 'ada')).toEqual({ by: 'ann', at: '2026-11-21T20:00:00.000Z', reason: 'It loops.' });
    expect(await of.write((tx) => resumeAgent(tx, 'ada', ann))).toBe(true);
    expect(await of.schedule()).toEqual([of.activeTurn('ada')]);
    expect(of.events()).toEqual(expect.arrayContaining(['agent.paused', 'agent.resumed']));
  });

  test('keeps the turn that runs, and gives no queued one to a worker', async () => {
    const of = await team();
    const running = await of.work('ada');
    await of.mail('ben');
    const [queued = ''] = await of.schedule();
    for (const agent of ['ada', 'ben']) await of.write((tx) => pauseAgent(tx, agent, ann));
    expect(deliverableTurns(of.store.reader, of.nowMs)).toEqual([]);
    await expect(of.begin(queued)).rejects.toMatchObject(refusedAs('claim-refused'));
    await of.complete(running);
    expect(of.turn(running.turn)?.status).toBe('completed');
    await of.write((tx) => resumeAgent(tx, 'ben', ann));
    expect(deliverableTurns(of.store.reader, of.nowMs)).toHaveLength(1);
    await of.complete(await of.begin(queued));
  });

  test('takes back a turn whose worker was lost, and lets it wait', async () => {
    const of = await team();
    const running = await of.work('ada');
    await of.write((tx) => pauseAgent(tx, 'ada', ann));
    await of.fail(running, 'worker-lost');
    expect(of.turn(running.turn)?.status).toBe('queued');
    expect(deliverableTurns(of.store.reader, of.nowMs)).toEqual([]);
  });

  test('keeps nobody from a turn with one that waits until it is resumed', async () => {
    const of = await team(teamYaml.replace('backend:', 'scheduler: { maxConcurrentTurns: 1 }\nbackend:'));
    const running = await of.work('ada');
    await of.write((tx) => pauseAgent(tx, 'ada', ann));
    await of.mail('ben');
    expect(await of.schedule()).toEqual([]);
    await of.fail(running, 'worker-lost');
    expect(await of.schedule()).toEqual([of.activeTurn('ben')]);
  });

  test('is paused for the newest reason, and resumed once', async () => {
    const of = await team();
    await of.write((tx) => pauseAgent(tx, 'ada', { ...ann, reason: 'first' }));
    await of.write((tx) => pauseAgent(tx, 'ada', { actor: 'bob' }));
    expect(paused(of, 'ada')).toMatchObject({ by: 'bob', reason: null });
    expect(await of.write((tx) => resumeAgent(tx, 'ada', ann))).toBe(true);
    expect(await of.write((tx) => resumeAgent(tx, 'ada', ann))).toBe(false);
    expect(of.events().filter((type) => type === 'agent.resumed')).toHaveLength(1);
  });
});

describe('a project that is paused', () => {
  test('starts nothing and gives nothing to workers, until it is resumed', async () => {
    const of = await team();
    await of.mail('ada');
    const [queued = ''] = await of.schedule();
    await of.write((tx) => pauseProject(tx, { ...ann, reason: 'Night.' }));
    await of.mail('ben');
    expect(agentsToStart(of.store.reader, of.store.config)).toEqual([]);
    expect(deliverableTurns(of.store.reader, of.nowMs)).toEqual([]);
    await expect(of.begin(queued)).rejects.toMatchObject(refusedAs('claim-refused'));
    expect(readProject(of.store.reader).paused).toMatchObject({ by: 'ann', reason: 'Night.' });
    await of.write((tx) => resumeProject(tx, ann));
    expect(await of.schedule()).toEqual([of.activeTurn('ben')]);
    await of.begin(queued);
  });

  test('leaves an agent paused that was so by itself', async () => {
    const of = await team();
    await of.write((tx) => pauseAgent(tx, 'ada', ann));
    await of.write((tx) => pauseProject(tx, ann));
    await of.write((tx) => resumeProject(tx, ann));
    expect(listAgents(of.store.reader).filter((agent) => agent.paused !== null)).toMatchObject([{ id: 'ada' }]);
  });
});

test('while the cell is paused a claim is refused, but one that was granted is repeated', async () => {
  const of = await team();
  const claimId = 'a'.repeat(32);
  const begun = await of.work('ada');
  await of.complete(begun);
  await of.mail('ada');
  const [turn = ''] = await of.schedule();
  await expect(of.begin(turn, { cellPaused: true })).rejects.toMatchObject(refusedAs('claim-refused'));
  await of.begin(turn, { claimId });
  await of.begin(turn, { claimId, cellPaused: true });
});

describe('an agent that begins more turns in an hour than it may', () => {
  const yaml = teamYaml.replace('backend:', 'scheduler: { maxTurnsPerHour: 2, maxConcurrentTurns: 1 }\nbackend:');

  test('is paused with an event that says why, and makes room for others', async () => {
    const of = await team(yaml);
    await turn(of, 'ada');
    await turn(of, 'ada');
    await of.mail('ada', { priority: 'P0' });
    await of.mail('ben');
    expect(await of.schedule()).toEqual([of.activeTurn('ben')]);
    expect(paused(of, 'ada')).toMatchObject({
      by: 'system',
      reason: expect.stringContaining('2 turns within an hour'),
    });
    expect(of.unread('ada')).toBe(1);
    const [event] = of.rows<{ actor: string; data: string }>(
      `SELECT actor, data_json AS data FROM events WHERE type = 'agent.paused'`,
    );
    expect([event?.actor, event?.data]).toEqual(['system', expect.stringContaining('maxTurnsPerHour')]);
  });

  test('gets a fresh allowance when it is resumed', async () => {
    const of = await team(yaml);
    await turn(of, 'ada');
    await turn(of, 'ada');
    await of.mail('ada');
    expect(await of.schedule()).toEqual([]);
    await of.write((tx) => resumeAgent(tx, 'ada', ann));
    const [third = ''] = await of.schedule();
    await of.complete(await of.begin(third));
    await turn(of, 'ada');
    await of.mail('ada');
    expect(await of.schedule()).toEqual([]);
    expect(paused(of, 'ada')).not.toBeNull();
  });

  test('is not, where the first of them lies an hour back', async () => {
    const of = await team(yaml);
    await turn(of, 'ada');
    of.advance(3_600_000);
    await turn(of, 'ada');
    await turn(of, 'ada');
    expect(paused(of, 'ada')).toBeNull();
  });

  test('may begin as many as it likes where a script plays it', async () => {
    const of = await team();
    for (let n = 0; n < 125; n += 1) await turn(of, 'ada');
    expect(paused(of, 'ada')).toBeNull();
  });
});
