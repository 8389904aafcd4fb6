import { describe, expect, test } from '@jest/globals';
import { count, cut, dayAndTime, duration, size, timeOfDay, wrap } from '@suzumio/cli/render/format';

describe('figures for people', () => {
  test.each([
    [0, '0 ms'],
    [41.4, '41 ms'],
    [999, '999 ms'],
    [1_130, '1.1 s'],
    [9_960, '10 s'],
    [31_000, '31 s'],
    [59_700, '1 min 0 s'],
    [125_000, '2 min 5 s'],
    [11_400_000, '3 h 10 min'],
  ])('%d ms is %s', (milliseconds, text) => expect(duration(milliseconds)).toBe(text));

  test.each([
    [0, '0 B'],
    [999, '999 B'],
    [1_234, '1.2 kB'],
    [31_000_000, '31 MB'],
    [2_500_000_000, '2.5 GB'],
  ])('%d bytes are %s', (bytes, text) => expect(size(bytes)).toBe(text));

  test('counts, cuts and tells the time', () => {
    expect([count(1, 'turn'), count(0, 'turn')]).toEqual(['1 turn', '0 turns']);
    expect([cut('abcdef', 4), cut('abcd', 4), cut('abcd', undefined)]).toEqual(['abc…', 'abcd', 'abcd']);
    // Wide characters take two columns; what a reader sees as one character is not cut in two.
    expect([cut('日本語', 6), cut('日本語', 5), cut('日本語', 4)]).toEqual(['日本語', '日本…', '日…']);
    expect([cut('👩‍👩‍👧‍👦👩‍👩‍👧‍👦', 4), cut('👩‍👩‍👧‍👦👩‍👩‍👧‍👦', 3), cut('e\u0301e\u0301e\u0301', 2)]).toEqual(['👩‍👩‍👧‍👦👩‍👩‍👧‍👦', '👩‍👩‍👧‍👦…', 'e\u0301…']);
    expect(timeOfDay('2026-11-21T00:05:09.999Z', { timeZone: 'UTC' })).toBe('00:05:09');
    expect(dayAndTime('2026-11-21T23:30:00.000Z', { timeZone: 'Asia/Tokyo' })).toBe('2026-11-22 08:30:00');
  });
});

test.each([
  ['short enough', undefined, {}, ['short enough']],
  ['one two three four', 9, {}, ['one two', 'three', 'four']],
  ['- one two three', 9, { indent: '  ' }, ['- one two', '  three']],
  ['next: run one two', 12, { indent: '        ', mark: ' \\' }, ['next: run \\', '        one \\', '        two']],
  ['unbreakable-word and', 5, {}, ['unbreakable-word', 'and']],
  ['one two\nthree four\n\nfive', 9, { indent: '  ' }, ['one two', 'three', '  four', '', 'five']],
  ['one\ntwo', 5, {}, ['one', 'two']],
])('%j in %p columns breaks between words', (text, columns, options, lines) => {
  expect(wrap(text, columns, options)).toEqual(lines);
});
