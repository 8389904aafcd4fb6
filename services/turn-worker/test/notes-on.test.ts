import { expect, test } from '@jest/globals';
import { notesOn } from '../src/attempt/notes-on.js';

type Facts = Parameters<typeof notesOn>[1] & { isNew: boolean; hasOneTime: boolean; emptied: string | undefined };

const on = ({ isNew = true, hasOneTime = false, emptied, ...claim }: Partial<Facts> = {}) =>
  notesOn(
    { home: { emptied }, workspace: { isNew, hasOneTime } },
    {
      attempt: 1,
      snapshot: 'a'.repeat(64),
      ignored: ['node_modules', 'build/cache'],
      input: { turn: { id: 't', prompt: '', number: 2, attempt: 1, mail: [] } },
      ...claim,
    },
  );
const turn = { id: 't', prompt: '', number: 1, attempt: 1, mail: [] };

test('an agent whose workspace moved to another host is told what stayed behind', () => {
  expect(on()).toEqual([expect.stringContaining('stayed behind: "node_modules", "build/cache". ')]);
  expect(on({ attempt: 2, input: { turn } })).toHaveLength(1);
});

test('it is told what of its files is as it was, and where all have one time', () => {
  expect(on()[0]).toContain('as they were, with their permissions and times of modification, but');
  const [moved, oneTime] = on({ hasOneTime: true });
  expect(moved).toContain('as they were, with their permissions, but');
  expect(oneTime).toContain('all of them have the same one now');
  expect(on({ isNew: false, hasOneTime: true })).toEqual([oneTime]);
  expect(on({ isNew: false, hasOneTime: true, input: { turn } })).toEqual([]);
});

test.each<[string, Partial<Facts>]>([
  ['its host had it before', { isNew: false }],
  ['nothing ran before', { input: { turn } }],
  ['it had no files', { snapshot: null }],
  ['everything is captured', { ignored: [] }],
])('it is not told so where %s', (_what, of) => {
  expect(on(of)).toEqual([]);
});

test('it is told some of very many names', () => {
  const ignored = Array.from({ length: 100 }, (_, at) => `${'d'.repeat(1000)}/${String(at)}`);
  const [note = ''] = on({ ignored });
  expect(note).toContain('and 90 others');
  expect(note.length).toBeLessThan(11_000);
});

test('it is told of a home that was emptied', () => {
  expect(on({ isNew: false, emptied: '30 files of at most 40' })).toEqual([
    'Your home directory was emptied before this turn, for it had 30 files of at most 40.',
  ]);
});

test('it is told how many artifacts of others are no files here', () => {
  const claim = { attempt: 1, snapshot: null, ignored: [], input: { turn } };
  const told = (left: number) =>
    notesOn({ home: undefined, workspace: { isNew: false, hasOneTime: false }, artifacts: { left } }, claim);
  expect(told(2)).toEqual(["2 of the others' artifacts cannot be files, and are not in /artifacts."]);
  expect(told(0)).toEqual([]);
});
