import { describe, expect, test } from '@jest/globals';
import { dueClone, recordBase, repositoryOfAgent, trackedOf } from '@suzumio/store/turns/workspace-base';
import { agentRow } from '@suzumio/store/rows';
import { listEvents } from '@suzumio/store/projects/events';
import { type Begun, refusedAs, type Team, teams } from '../team.js';

const team = teams();
const file = `name: demo
task: Mend it.
backend: { runner: { mode: mock } }
agents:
  ada: { role: developer, prompt: Mend., workspace: { git: /srv/tides, ref: main, depth: 5 } }
  ben: { role: reviewer, prompt: Review. }
`;
const commit = 'c'.repeat(40);
const snapshot = 'a'.repeat(64);
const record = (of: Team, id: Begun, base = { commit, snapshot }) =>
  of.write((tx) => recordBase(tx, of.store.config, id, base));

describe('the base of a workspace', () => {
  test('is due until it is recorded; then later attempts begin with its snapshot', async () => {
    const of = await team(file);
    const { reader, config } = of.store;
    expect(dueClone(reader, config, 'ada')).toEqual({
      git: '/srv/tides',
      ref: 'main',
      depth: 5,
      branch: 'suzumio/ada',
    });
    expect(repositoryOfAgent(reader, config, 'ada', 'turn_none')).toBeUndefined();
    expect(dueClone(reader, config, 'ben')).toBeUndefined();
    const begun = await of.work('ada');
    await record(of, begun);
    expect(dueClone(reader, config, 'ada')).toBeUndefined();
    const told = { name: 'tides', ref: 'main', branch: 'suzumio/ada', base: commit };
    expect(repositoryOfAgent(reader, config, 'ada', begun.turn)).toEqual(told);
    expect(agentRow(reader, 'ada').snapshot).toBe(snapshot);
    expect(trackedOf(reader, 'ada')).toEqual([]);
    const { items } = listEvents(reader, { limit: 100 });
    expect(items.filter(({ type }) => type === 'workspace.cloned')).toMatchObject([
      { agent: 'ada', turn: begun.turn, data: { repository: 'tides', ref: 'main', branch: 'suzumio/ada', commit } },
    ]);
  });

  test('says what is captured of directories that are not', async () => {
    const of = await team(file);
    const begun = await of.work('ada');
    const tracked = ['test/node_modules/x.js'];
    await of.write((tx) => recordBase(tx, of.store.config, begun, { commit, snapshot, tracked }));
    expect(trackedOf(of.store.reader, 'ada')).toEqual(tracked);
    expect(trackedOf(of.store.reader, 'ben')).toEqual([]);
  });

  test('is recorded once, though the report comes again', async () => {
    const of = await team(file);
    const begun = await of.work('ada');
    await record(of, begun);
    await record(of, begun, { commit: 'd'.repeat(40), snapshot: 'b'.repeat(64) });
    expect(repositoryOfAgent(of.store.reader, of.store.config, 'ada', begun.turn)?.base).toBe(commit);
    expect(agentRow(of.store.reader, 'ada').snapshot).toBe(snapshot);
  });

  test('stays although the turn fails, and is not taken of an attempt that is over', async () => {
    const of = await team(file);
    const begun = await of.work('ada');
    await of.fail(begun, 'repository-unavailable');
    await expect(record(of, begun)).rejects.toMatchObject(refusedAs('attempt-over'));
    expect(dueClone(of.store.reader, of.store.config, 'ada')).toBeDefined();
  });

  test('is none of an agent whose workspace is no clone', async () => {
    const of = await team(file);
    await record(of, await of.work('ben'));
    expect(of.rows('SELECT * FROM workspace_bases')).toEqual([]);
    expect(agentRow(of.store.reader, 'ben').snapshot).toBeNull();
  });
});
