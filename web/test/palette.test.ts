import { expect, test } from '@jest/globals';
import { matching } from '../src/shell/palette/choices.js';

const choice = (title: string, note?: string) => ({ id: title, title, note, choose: () => undefined });
const titles = (text: string, ...choices: ReturnType<typeof choice>[]) =>
  matching([{ title: 'All', choices }], text).flatMap((group) => group.choices.map((one) => one.title));

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
