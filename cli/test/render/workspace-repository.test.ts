import { describe, expect, test } from '@jest/globals';
import type { WorkspaceRepositoryView } from '@suzumio/contract/model/workspace';
import { workspaceRepositoryLines } from '../../src/render/workspace-repository.js';

const [base, tip] = ['a', 'b'].map((letter) => letter.repeat(40)) as [string, string];
const repository = {
  name: 'tides',
  ref: 'main',
  branch: 'suzumio/ada',
  base,
  turn: 'turn_1',
  turnNumber: 1,
  clonedAt: '2026-11-21T20:00:00.000Z',
  upstream: null,
} satisfies WorkspaceRepositoryView['repository'];
const upstream = {
  commit: tip,
  ahead: 3,
  rewritten: false,
  turn: 'turn_2',
  turnNumber: 2,
  lookedAt: '2026-11-21T21:00:00.000Z',
  noNews: null,
};
const lines = (change: object) =>
  workspaceRepositoryLines(
    { agent: 'ada', repository: { ...repository, upstream: { ...upstream, ...change } } },
    { timeZone: 'UTC' },
  ).slice(3);

describe('what a workspace is a clone of', () => {
  test('is told with its base, and with how far its repository has gone on', () => {
    const style = { timeZone: 'UTC' };
    expect(workspaceRepositoryLines({ agent: 'ben', repository: null }, style)).toEqual([
      'The workspace of ben is no clone of a repository, or has not been cloned yet.',
    ]);
    expect(workspaceRepositoryLines({ agent: 'ada', repository }, style)).toEqual([
      'clone of  tides at main',
      'branch    suzumio/ada',
      `base      ${base}  turn 1, 2026-11-21 20:00:00`,
    ]);
    expect(lines({})).toEqual([`upstream  ${tip}  3 commits from the base  turn 2, 2026-11-21 21:00:00`]);
    expect(lines({ commit: base, ahead: 0 })).toEqual([`upstream  ${base}  the base  turn 2, 2026-11-21 21:00:00`]);
  });

  test('says what is not known, and why', () => {
    expect(lines({ ahead: null, rewritten: true })[0]).toContain('commits from the base: not known, history rewritten');
    expect(lines({ noNews: { code: 'repository-refused', message: 'There is\u001b[2J none.' } })).toEqual([
      `upstream  ${tip}  3 commits from the base  as last seen`,
      'no news   repository-refused: There is [2J none.  turn 2, 2026-11-21 21:00:00',
    ]);
  });
});
