import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Comparison, RepositoryDiff } from '@suzumio/protocol/repository-diff';
import {
  askForDiff,
  claimDiff,
  type DiffState,
  endDiff,
  objectNamed,
  requireClaimed,
  stateOfDiff,
  takeDiffBack,
} from '@suzumio/store/content/repository-diffs';
import { teamYaml } from '../../../../test/support/cell.js';
import { type Team, teams } from '../team.js';

const id = (character: string) => character.repeat(40);
/** By one character, or a whole id. */
const comparison = (to: string): Comparison => ({
  from: id('0'),
  to: to.length === 1 ? id(to) : to,
  common: false,
});
const diff = (text = ''): RepositoryDiff => ({
  base: id('0'),
  head: id('1'),
  commits: [],
  ahead: 0,
  behind: 0,
  files: { added: 0, changed: 0, removed: 0 },
  diff: text,
});

const makeTeam = teams();
let team: Team;
beforeEach(async () => {
  team = await makeTeam(teamYaml);
});

const ask = (to: string) => team.write((tx) => askForDiff(tx, comparison(to)));
const claim = (seq: number, by = 'f') => team.write((tx) => claimDiff(tx, seq, by.repeat(32)));
const end = (seq: number, outcome: Parameters<typeof endDiff>[3], by = 'f') =>
  team.write((tx) => endDiff(tx, seq, by.repeat(32), outcome));
const state = (to: string): DiffState => stateOfDiff(team.store.reader, comparison(to), team.nowMs);

async function asked(to: string): Promise<number> {
  const answer = await ask(to);
  if (answer === 'busy' || !('asked' in answer)) throw new Error(JSON.stringify(answer));
  return answer.asked;
}

/** Pushes in a turn, as far as they matter here. */
async function pushed(...packs: { bytes: number; objects: number }[]): Promise<void> {
  const { turn } = await team.work('ada');
  await team.write((tx) => {
    packs.forEach(({ bytes, objects }, index) => {
      const hash = String(index).padStart(64, '0');
      const seq = tx.insert('git_pushes', {
        actor: 'ada',
        agent_id: 'ada',
        turn_id: turn,
        attempt: 1,
        key: `push-${String(index)}`,
        pack: hash,
        pack_bytes: bytes,
        pack_objects: objects,
        updates_json: JSON.stringify([
          { ref: 'refs/heads/main', from: id('a'), to: `abcdef0${id(String(index % 10))}`.slice(0, 40) },
        ]),
        created_at_ms: tx.nowMs,
      });
      tx.insert('git_packs', { push_seq: seq, sha256: hash });
      if (index === 0) tx.insert('git_refs', { name: 'refs/heads/main', object_id: id('b'), push_seq: seq });
    });
  });
}

describe('a comparison', () => {
  test('is asked for once, taken by one worker, and kept for good', async () => {
    await pushed({ bytes: 100, objects: 3 });
    const seq = await asked('1');
    expect(await ask('1')).toEqual({ kind: 'waits' });
    const granted = { comparison: comparison('1'), packs: [{ sha256: '0'.repeat(64), sizeBytes: 100 }] };
    expect(await claim(seq)).toEqual(granted);
    expect(await claim(seq)).toEqual(granted);
    await expect(claim(seq, 'e')).rejects.toMatchObject({ code: 'claim-refused' });
    expect(() => requireClaimed(team.store.reader, seq, 'e'.repeat(32))).toThrow(/another worker has it/);
    await expect(end(seq, { made: diff() }, 'e')).rejects.toMatchObject({ code: 'claim-refused' });
    await end(seq, { made: diff('first') });
    await end(seq, { made: diff('second') });
    team.advance(365 * 24 * 3_600_000);
    expect(state('1')).toEqual({ kind: 'made', diff: diff('first') });
    expect(await ask('1')).toEqual({ kind: 'made', diff: diff('first') });
    expect(() => requireClaimed(team.store.reader, seq, 'f'.repeat(32))).toThrow();
    expect(state('2')).toEqual({ kind: 'free' });
  });

  test('waits while another one of its project is made, and no longer', async () => {
    const first = await asked('1');
    expect(await ask('2')).toBe('busy');
    await claim(first);
    team.advance(31_000);
    expect(await ask('2')).toBe('busy');
    await end(first, { made: diff() });
    await asked('2');
    team.advance(31_000);
    await asked('3');
  });

  test('that no worker takes is refused, and one whose worker does not answer, and can be asked for again', async () => {
    const first = await asked('1');
    team.advance(30_000);
    expect(state('1')).toMatchObject({ kind: 'refused', refused: { code: 'git-diff-no-worker' } });
    expect(await ask('1')).toMatchObject({ kind: 'refused', refused: { code: 'git-diff-no-worker' } });
    await expect(claim(first)).rejects.toMatchObject({ code: 'claim-refused' });
    team.advance(2_000);
    const second = await asked('1');
    await claim(second);
    team.advance(89_000);
    expect(state('1')).toEqual({ kind: 'waits' });
    team.advance(1_000);
    expect(await ask('1')).toMatchObject({ kind: 'refused', refused: { code: 'git-diff-failed' } });
    await end(second, { made: diff('late') });
    expect(state('1').kind).toBe('refused');
    team.advance(30_000);
    await asked('1');
  });

  test('that came to nothing is not tried again at once', async () => {
    const refused = { code: 'git-diff-too-slow' as const, message: 'It took too long.' };
    const seq = await asked('1');
    await claim(seq);
    await end(seq, { refused });
    expect(await ask('1')).toEqual({ kind: 'refused', refused });
    // Another one may be.
    const other = await asked('2');
    await team.write((tx) => takeDiffBack(tx, other));
    team.advance(30_000);
    expect(state('1')).toEqual({ kind: 'free' });
    await asked('1');
    expect(team.store.reader.all('SELECT 1 FROM git_diffs')).toHaveLength(1);
  });

  test('is kept while there is room: the oldest is made again', async () => {
    const text = 'x'.repeat(1024 * 1024 - 10);
    const made = (number: number) => `${id('c').slice(2)}${String(number).padStart(2, '0')}`;
    for (let number = 0; number < 18; number += 1) {
      const seq = await asked(made(number));
      await claim(seq);
      await end(seq, { made: diff(text) });
      team.advance(1);
    }
    expect([0, 1, 2, 3, 17].map((number) => state(made(number)).kind)).toEqual([
      'free',
      'free',
      'free',
      'made',
      'made',
    ]);
  });

  test.each([
    ['bytes', { bytes: 128 * 1024 ** 2, objects: 1 }, 3],
    ['objects', { bytes: 100, objects: 500_000 }, 3],
    ['pushes', { bytes: 100, objects: 1 }, 1_001],
  ])('of a repository with too many %s is refused', async (_what, pack, count) => {
    await pushed(...Array.from({ length: count }, () => pack));
    await expect(ask('1')).rejects.toMatchObject({ code: 'git-diff-too-large' });
    expect(team.store.reader.all('SELECT 1 FROM git_diffs')).toEqual([]);
  });
});

test('commits are named by branches, whole ids, and how ids begin that pushes have named', async () => {
  await pushed({ bytes: 1, objects: 1 }, { bytes: 1, objects: 1 });
  const named = (name: string) => objectNamed(team.store.reader, name);
  expect(['main', 'refs/heads/main', id('c'), 'aaaaaaa', 'abcdef01'].map(named)).toEqual([
    id('b'),
    id('b'),
    id('c'),
    id('a'),
    `abcdef0${id('1')}`.slice(0, 40),
  ]);
  expect(() => named('abcdef0')).toThrow(/Several commits begin with abcdef0/);
  for (const name of ['aaaaaa', 'fffffff', 'nothing', "x' OR 1", '%%%%%%%%'])
    expect(() => named(name)).toThrow(/no branch or tag/);
});
