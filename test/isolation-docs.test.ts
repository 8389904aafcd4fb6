import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { errorCodes } from '@suzumio/contract/errors/codes';
import { failureCodes } from '@suzumio/protocol/failure-codes';

const repository = join(import.meta.dirname, '..');
const page = readFileSync(join(repository, 'docs/isolation.md'), 'utf8');
/** The rows of its tables of five columns, without their heads: what is shared, what one may take, where, the refusal, the test. */
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (?:shared {2,}|-)/.test(line))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
  .filter(({ length }) => length === 5);
const names = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
/** Paths of services begin at `services/`. */
const placeOf = (path: string) =>
  ['', 'services'].map((start) => join(repository, start, path)).find((place) => existsSync(place));

test('docs/isolation.md has its bounds in tables', () => {
  expect(rows.length).toBeGreaterThan(30);
});

test.each(rows)('%s: what docs/isolation.md names is there', (_shared, taken, where, refusal, tests) => {
  expect(taken).not.toBe('');
  expect(names(where).length).toBeGreaterThan(0);
  expect(names(where).filter((path) => placeOf(path) === undefined)).toEqual([]);
  const codes = names(refusal).filter((name) => name.includes('-'));
  expect(codes.filter((code) => !(code in errorCodes) && !(code in failureCodes))).toEqual([]);
  expect(names(tests).length).toBeGreaterThan(0);
  const places = names(tests).map((path) => ({ path, place: placeOf(path) }));
  for (const { path, place } of places) {
    expect(place && statSync(place).isFile() ? path : undefined).toBe(path);
    expect(readFileSync(place ?? '', 'utf8')).toMatch(/^\s*test(?:\.each)?\(/m);
  }
});
