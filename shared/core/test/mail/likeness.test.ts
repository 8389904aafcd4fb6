import { describe, expect, test } from '@jest/globals';
import { alike, sketchOf } from '@suzumio/core/mail/likeness';

const like = (a: string, b: string) => alike(sketchOf(a), sketchOf(b));
const report =
  'The level of the north gauge rose by four centimetres in the night and fell again before noon, as it did in the week before, so nothing has to be done.';

describe('nearly the same', () => {
  test.each([
    ['itself', 'Any news?', 'Any news?'],
    ['other capitals, space and punctuation', 'Any news?', '  ANY\n news!! '],
    ['other numbers', 'Round 1 of 20 is done.', 'Round 17 of 20 is done.'],
    ['another id', 'Published as art_01KB3Z.', 'Published as art_99XYZ1.'],
    ['nothing but punctuation', '...', '...'],
    ['nothing', '', ' '],
    ['a long text with one more word', report.repeat(2), `${report.repeat(2)} Really`],
  ])('%s', (_what, a, b) => {
    expect(like(a, b)).toBe(true);
  });
});

describe('something else', () => {
  test.each([
    ['another short text', 'The north gauge, please.', 'The south gauge, please.'],
    ['another word', 'yes', 'no'],
    [
      'another text',
      report,
      'Thank you. Please compare the figures of the draft with the published files and tell me.',
    ],
    ['nothing', 'Any news?', ''],
    ['other punctuation alone', '...', '!'],
    ['another script', '北の水位をお願いします', '南の水位をお願いします'],
  ])('%s', (_what, a, b) => {
    expect(like(a, b)).toBe(false);
  });
});

test('a sketch is short, however long the text, and looks at its beginning and its end', () => {
  const words = Array.from({ length: 100_000 }, (_, index) => `word${String.fromCodePoint(97 + (index % 26))}`);
  const long = words.join(' ');
  expect(sketchOf(long).length).toBeLessThan(150);
  expect(like(long, `${long.slice(0, 200_000)} quite other words here ${long.slice(200_000)}`)).toBe(true);
  expect(like(report + long, long + report)).toBe(false);
});
