import { expect, test } from '@jest/globals';
import { beginningOf, endOf } from '@suzumio/protocol/cut-text';

const wave = 'ab🌊cd';

test.each([
  [9, wave],
  [6, wave],
  [5, 'ab🌊c'],
  [4, 'ab🌊'],
  [3, 'ab'],
  [2, 'ab'],
  [0, ''],
])('the beginning of a text, %i at most, holds whole characters only', (maxChars, expected) => {
  expect(beginningOf(wave, maxChars)).toBe(expected);
});

test.each([
  [9, wave],
  [6, wave],
  [5, 'b🌊cd'],
  [4, '🌊cd'],
  [3, 'cd'],
  [2, 'cd'],
  [0, ''],
])('the end of a text, %i at most, holds whole characters only', (maxChars, expected) => {
  expect(endOf(wave, maxChars)).toBe(expected);
});
