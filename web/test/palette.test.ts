import { describe, expect, test } from '@jest/globals';
import { type Group, keyed, matching } from '../src/shell/palette/choices.js';

const choice = (title: string, note?: string) => ({ id: title, title, note, choose: () => undefined });
type Choice = ReturnType<typeof choice>;
const titlesOf = (groups: readonly Group<Choice>[]) =>
  groups.flatMap(({ choices }) => choices.map(({ title }) => title));
const titles = (text: string, ...choices: Choice[]) => titlesOf(matching([{ title: 'All', choices }], text));

test('what begins with the words is first, then what has them elsewhere', () => {
  const found = titles(
    'al',
    choice('canal'),
    choice('Low tide', 'all of it'),
    choice('the Alps'),
    choice('Alma'),
    choice('bay'),
  );
  expect(found).toEqual(['Alma', 'the Alps', 'canal', 'Low tide']);
});

test('what is the words is before what only begins with them', () => {
  expect(titles('River', choice('river-2'), choice('rivers'), choice('river'))).toEqual(['river', 'river-2', 'rivers']);
});

test('every word has to be there, in the name or in what is said of it', () => {
  expect(titles('ada  TURN', choice('Ada, turn 3'), choice('Ada'), choice('Turn', 'of Ada'))).toEqual([
    'Ada, turn 3',
    'Turn',
  ]);
});

test('few of each kind are shown, and no empty kind', () => {
  const many = Array.from({ length: 5_000 }, (_, at) => choice(`p${String(at)}`));
  expect([titles('', ...many).length, titles('p', ...many).length]).toEqual([6, 8]);
  expect(matching([{ title: 'None', choices: many }], 'x')).toEqual([]);
});

describe('acts', () => {
  const acts: Group<Choice> = {
    title: 'On this page',
    areActs: true,
    choices: [
      choice('Pause', 'river: Paused, no turn begins; what runs goes to its end.'),
      choice('Stop', 'river: No turn begins any more. Those that run go to their end.'),
      choice('Stop now', 'river: The same, and 2 turns are cancelled.'),
      choice('Look for work now', 'river: A scheduler looks at it at once.'),
    ],
  };
  const pages: Group<Choice> = { title: 'Pages', choices: [choice('Now', 'of river'), choice('Turns', 'of river')] };
  const projects: Group<Choice> = {
    title: 'Projects',
    choices: [choice('stoa', 'running'), choice('river', 'running')],
  };
  const all = (text: string) => titlesOf(matching([acts, pages, projects], text));

  test('are found by what they are called, not by what they are about or will do', () => {
    expect(all('turns')).toEqual(['Turns']);
    expect(all('run')).toEqual(['stoa', 'river']);
    expect(all('river')).toEqual(['river', 'Now', 'Turns']);
  });

  test('are below a place that is nearer to the words, or as near', () => {
    expect(all('now')).toEqual(['Now', 'Stop now', 'Look for work now']);
    expect(all('sto')).toEqual(['stoa', 'Stop', 'Stop now']);
  });

  test('are above it where they are nearer', () => {
    expect(all('stop')).toEqual(['Stop', 'Stop now']);
    expect(titlesOf(matching([projects, acts, { title: 'More', choices: [choice('stop-gap')] }], 'stop'))).toEqual([
      'Stop',
      'Stop now',
      'stop-gap',
    ]);
  });
});

test('one place in two kinds is two choices; what is found stands once', () => {
  const here = [
    { title: 'Pages of river', choices: [choice('/p/river')] },
    { title: 'Projects', choices: [choice('/p/river')] },
  ];
  const found = [
    { title: 'Found', choices: ['/p/river', '/p/river/mail/3', '/p/river/mail/3'].map((id) => choice(id)) },
  ];
  const groups = keyed(here, found);
  expect(groups.map(({ title, choices }) => [title, choices.length])).toEqual([
    ['Pages of river', 1],
    ['Projects', 1],
    ['Found', 1],
  ]);
  const keys = groups.flatMap(({ choices }) => choices.map(({ key }) => key));
  expect(new Set(keys).size).toBe(3);
  expect(keyed(here, [{ title: 'Found', choices: [choice('/p/river')] }]).map(({ title }) => title)).toEqual([
    'Pages of river',
    'Projects',
  ]);
});
