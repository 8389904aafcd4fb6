import { expect, test } from '@jest/globals';
import { moment } from '../src/commands/arguments.js';

// Which zone this runs in makes no difference; in one that is not UTC it shows.
test.each([
  ['2026-11-21', '2026-11-21T00:00:00Z'],
  ['2026-11-21T20:00', '2026-11-21T20:00:00Z'],
  ['2026-11-21T20:00:30.5', '2026-11-21T20:00:30.500Z'],
  ['2026-11-21T20:00Z', '2026-11-21T20:00:00Z'],
  ['2026-11-21T20:00:00+02:00', '2026-11-21T18:00:00Z'],
])('%s is %s, wherever it is typed', (text, utc) => {
  expect(moment(text)).toBe(Date.parse(utc));
});

test.each([
  '2026-02-31',
  '2026-02-31T20:00Z',
  '2026-13-01',
  '2026-11-21T',
  '2026-11-21T25:00',
  '20261121',
  '1763750000',
])('%s is no moment', (text) => {
  expect(() => moment(text)).toThrow('It is a day, such as 2026-11-21');
});
