import { describe, expect, test } from '@jest/globals';
import type { LookReport } from '@suzumio/protocol/repository';
import { isNeededUpstreamPack, isUpstreamPack } from '@suzumio/store/content/upstream-packs';
import { listEvents } from '@suzumio/store/projects/events';
import { dueLook, recordLook, workspaceRepository } from '@suzumio/store/turns/upstream-looks';
import { recordBase, repositoryOfAgent } from '@suzumio/store/turns/workspace-base';
import { type Begun, refusedAs, type Team, teams } from '../team.js';

const team = teams();
const file = (ref = 'main') => `name: demo
task: Mend it.
backend: { runner: { mode: mock } }
agents:
  ada: { role: developer, prompt: Mend., workspace: { git: /srv/tides, ref: ${ref} } }
  ben: { role: reviewer, prompt: Review. }
`;
const id = (letter: string) => letter.repeat(40);
const base = id('a');
const pack = (letter: string, alone = false) => ({ sha256: letter.repeat(64), sizeBytes: 100, alone });
const moved = (letter: string, ahead: number, alone = false): LookReport => ({
  commit: id(letter),
  ahead,
  rewritten: false,
  pack: pack(letter, alone),
});

/** A team whose agent has a clone, in its second turn. */
async function cloned(ref?: string): Promise<{ of: Team; second: Begun }> {
  const of = await team(file(ref));
  const first = await of.work('ada');
  expect(dueLook(of.store.reader, of.store.config, first.turn)).toBeUndefined();
  await of.write((tx) => recordBase(tx, of.store.config, first, { commit: base, snapshot: 'e'.repeat(64) }));
  // What is cloned in a turn is what the turn looks at.
  expect(dueLook(of.store.reader, of.store.config, first.turn)).toBeUndefined();
  await of.complete(first);
  return { of, second: await of.work('ada') };
}

const due = (of: Team, { turn }: Begun) => dueLook(of.store.reader, of.store.config, turn);
const report = (of: Team, at: Begun, look: LookReport) => of.write((tx) => recordLook(tx, of.store.config, at, look));
const told = (of: Team, { turn }: Begun) => repositoryOfAgent(of.store.reader, of.store.config, 'ada', turn)?.upstream;
const events = (of: Team) =>
  listEvents(of.store.reader, { limit: 100 }).items.filter(({ type }) => type.startsWith('upstream.'));

describe('a look at the repository of a clone', () => {
  test('is due once a turn, and the first report wins', async () => {
    const { of, second } = await cloned();
    expect(due(of, second)).toEqual({ git: '/srv/tides', ref: 'main', branch: 'suzumio/ada', known: [base] });
    expect(told(of, second)).toBeUndefined();
    const upstream = {
      commit: id('b'),
      ahead: 2,
      rewritten: false,
      packs: [{ sha256: 'b'.repeat(64), sizeBytes: 100 }],
    };
    expect(await report(of, second, moved('b', 2, true))).toEqual(upstream);
    expect(await report(of, second, moved('c', 3, true))).toEqual(upstream);
    expect(due(of, second)).toBeUndefined();
    expect(told(of, second)).toEqual(upstream);
    expect(events(of)).toMatchObject([
      {
        type: 'upstream.moved',
        agent: 'ada',
        turn: second.turn,
        data: { repository: 'tides', ref: 'main', from: base, to: id('b'), ahead: 2, rewritten: false },
      },
    ]);
    expect(isUpstreamPack(of.store.reader, 'b'.repeat(64))).toBe(true);
    expect(isUpstreamPack(of.store.reader, 'c'.repeat(64))).toBe(false);
    // A later attempt has the same.
    await of.fail(second, 'worker-lost');
    expect(told(of, await of.begin(second.turn))).toEqual(upstream);
  });

  test('adds to what turns before have found, until a pack needs no other', async () => {
    const { of, second } = await cloned();
    await report(of, second, moved('b', 1, true));
    await of.complete(second);
    const third = await of.work('ada');
    expect(due(of, third)?.known).toEqual([base, id('b')]);
    await report(of, third, moved('c', 2));
    expect(told(of, third)?.packs.map(({ sha256 }) => sha256[0])).toEqual(['b', 'c']);
    // An earlier turn is told what it was told.
    expect(told(of, second)?.packs.map(({ sha256 }) => sha256[0])).toEqual(['b']);
    await of.complete(third);
    const fourth = await of.work('ada');
    await report(of, fourth, { commit: id('c'), ahead: 2, rewritten: false });
    expect(told(of, fourth)).toMatchObject({ commit: id('c'), packs: [{ sizeBytes: 100 }, { sizeBytes: 100 }] });
    expect(events(of)).toHaveLength(2);
    await of.complete(fourth);
    const fifth = await of.work('ada');
    expect(due(of, fifth)?.known).toEqual([base, id('b'), id('c')]);
    const anew = { ...moved('d', 1, true), rewritten: true, shallow: [id('9')] };
    await report(of, fifth, anew);
    expect(told(of, fifth)).toEqual({
      commit: id('d'),
      ahead: 1,
      rewritten: true,
      packs: [{ sha256: 'd'.repeat(64), sizeBytes: 100 }],
      shallow: [id('9')],
      // What patches may be against, the newest first, each once.
      before: [id('c'), id('b')],
    });
    await of.complete(fifth);
    expect(due(of, await of.work('ada'))?.known).toEqual([base, id('d')]);
    // No turn to come asks for what was before.
    const needed = ['b', 'c', 'd'].filter((letter) => isNeededUpstreamPack(of.store.reader, letter.repeat(64)));
    expect(needed).toEqual(['d']);
  });

  test('that fails says why, and leaves the turn what was known', async () => {
    const { of, second } = await cloned();
    const noNews = { code: 'repository-refused', message: 'There is no repository.' } as const;
    expect(await report(of, second, { noNews })).toEqual({
      commit: base,
      ahead: 0,
      rewritten: false,
      packs: [],
      noNews: { code: noNews.code },
    });
    expect(events(of)).toMatchObject([{ type: 'upstream.missed', data: { repository: 'tides', ...noNews } }]);
    await of.complete(second);
    const third = await of.work('ada');
    await report(of, third, { ...moved('b', 1, true), shallow: [id('8')] });
    await of.complete(third);
    const fourth = await of.work('ada');
    await report(of, fourth, { noNews });
    expect(told(of, fourth)).toEqual({ ...told(of, third), noNews: { code: noNews.code } });
  });

  test('is not due where the ref is a commit, the workspace no clone, or the turn has done something', async () => {
    const pinned = await cloned(id('f'));
    expect(due(pinned.of, pinned.second)).toBeUndefined();
    const { of, second } = await cloned();
    expect(due(of, await of.work('ben'))).toBeUndefined();
    await of.call(second, 'ada');
    expect(due(of, second)).toBeUndefined();
    expect(told(of, second)).toBeUndefined();
  });

  test('is not taken of an attempt that is over', async () => {
    const { of, second } = await cloned();
    await of.complete(second);
    await expect(report(of, second, moved('b', 1, true))).rejects.toMatchObject(refusedAs('attempt-over'));
  });
});

test('what a workspace is a clone of says how far its repository went on', async () => {
  const { of, second } = await cloned();
  const show = (agent: string) => workspaceRepository(of.store.reader, of.store.config, agent);
  expect(show('ben')).toEqual({ agent: 'ben', repository: null });
  const clone = { name: 'tides', ref: 'main', branch: 'suzumio/ada', base, turnNumber: 1 };
  expect(show('ada')).toMatchObject({ agent: 'ada', repository: { ...clone, upstream: null } });
  await report(of, second, moved('b', 2, true));
  await of.complete(second);
  const third = await of.work('ada');
  await report(of, third, { noNews: { code: 'repository-refused', message: 'Gone.' } });
  expect(show('ada')).toMatchObject({
    repository: {
      ...clone,
      upstream: {
        commit: id('b'),
        ahead: 2,
        rewritten: false,
        turnNumber: 3,
        noNews: { code: 'repository-refused', message: 'Gone.' },
      },
    },
  });
  // A database of the release before, read without a server.
  await of.write((tx) => tx.run('DROP TABLE upstream_looks'));
  expect(show('ada')).toMatchObject({ repository: { ...clone, upstream: null } });
});
