import { describe, expect, jest, test } from '@jest/globals';
import { compare, comparisonText } from '../bench/compare.js';
import { measureParts } from '../bench/parts.js';
import { report, type Results } from '../bench/report.js';
import { capturesRows, claimRows, dockerRows, idleRows, type Row, row } from '../bench/rows.js';
import { spread } from '../bench/statistics.js';

const of = (...samples: number[]) => spread(samples);

describe('a row', () => {
  test('has the median, its floor, and whether it met its target', () => {
    const [claim, ...stages] = claimRows({
      claimMs: of(10, 12, 14),
      floorMs: of(4, 4, 4),
      ratio: 3,
      stagesMs: { 'accepted -> wake handled': of(2) },
    });
    expect(claim).toEqual({
      name: 'claim: message accepted -> turn claimed',
      value: 12,
      unit: 'ms',
      floor: 4,
      ratio: 3,
      target: 25,
      met: true,
      spread: of(10, 12, 14),
    });
    expect(stages).toMatchObject([
      { name: 'claim: accepted -> wake handled', value: 2, floor: null, ratio: null, target: null, met: null },
    ]);
  });

  test('misses a target that it is above, and meets one that it equals', () => {
    expect(row('x', 'ms', of(30), { target: 30 }).met).toBe(true);
    expect(row('x', 'ms', of(30.1), { target: 30 }).met).toBe(false);
  });

  test('of a turn in a container has its target in docker runs', () => {
    const rows = dockerRows({
      turnMs: of(700),
      dockerRunMs: of(500),
      overhead: of(1.4),
      stagesMs: {},
      turnsPerSecond: of(2),
      dockerRunsPerSecond: 2.5,
    });
    expect(rows.map(({ name, target, met, ratio }) => ({ name, target, met, ratio }))).toEqual([
      { name: 'docker: turn', target: null, met: null, ratio: 1.4 },
      { name: 'docker: turn in docker runs', target: 1.3, met: false, ratio: null },
      { name: 'docker: turns', target: null, met: null, ratio: 0.8 },
    ]);
  });

  test('of a capture has the target of its size, where there is one', () => {
    const figures = (files: number) => ({
      files,
      captureMs: of(20),
      processorMs: of(1),
      walkMs: of(5),
      ratio: 4,
      loopDelayMs: of(11),
      uploadedBytes: 1,
      firstMs: 1,
    });
    const [small, , loop] = capturesRows([figures(1_000)]);
    expect([small?.target, loop?.met, capturesRows([figures(7)])[0]?.target]).toEqual([30, false, null]);
  });

  test('of idle projects is one for each process', () => {
    const rows = idleRows([
      { projects: 1_000, cpuMsPerSecond: { api: of(8) }, memoryMiB: { api: of(1), scheduler: of(2) } },
    ]);
    expect(rows.map(({ name, value, unit }) => [name, value, unit])).toEqual([
      ['idle: 1000 projects, processor time, api', 8, 'ms a second'],
      ['idle: 1000 projects, resident memory, api', 1, 'MiB'],
      ['idle: 1000 projects, resident memory, scheduler', 2, 'MiB'],
    ]);
  });
});

describe('a comparison', () => {
  const verdict = (before: number[], after: number[], unit: Row['unit'] = 'ms') =>
    compare([row('x', unit, of(...before))], [row('x', unit, of(...after))]).rows[0]?.verdict;

  test.each([
    ['less of what is to be little', [9, 10, 11], [4, 5, 6], 'ms', 'better'],
    ['more of it', [4, 5, 6], [9, 10, 11], 'ms', 'worse'],
    ['more a second', [4, 5, 6], [9, 10, 11], 'a second', 'better'],
    ['less a second', [9, 10, 11], [4, 5, 6], 'a second', 'worse'],
    ['a median within the earlier spread', [4, 10, 16], [11, 12, 13], 'ms', 'within the spread'],
    ['an earlier median within the spread of now', [11, 12, 13], [4, 10, 16], 'ms', 'within the spread'],
    ['the same figure without samples', [7], [7], 'bytes', 'within the spread'],
  ] as const)('of %s', (_what, before, after, unit, expected) => {
    expect(verdict([...before], [...after], unit)).toBe(expected);
  });

  test('has no row of what was not measured', () => {
    expect(() => row('heartbeats', 'ms', Number.NaN)).toThrow('nothing was measured for "heartbeats"');
  });

  test('names the rows that only one of the runs has', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((name) => row(name, 'ms', of(1)));
    if (!a || !b || !c) throw new Error('there are three rows');
    const compared = compare([a, b], [b, c]);
    expect(compared).toMatchObject({ rows: [{ before: b, after: b }], onlyBefore: ['a'], onlyAfter: ['c'] });
    expect(comparisonText(compared)).toContain('missing now: a\nmissing in the earlier run: c');
  });

  test('shows what became worse first', () => {
    const before = [row('same', 'ms', of(1)), row('slower', 'ms', of(1))];
    const text = comparisonText(compare(before, [row('same', 'ms', of(1)), row('slower', 'ms', of(2))]));
    expect(text).toMatch(/slower, ms .*worse\n.*same, ms .*within the spread$/);
  });
});

test('a part that fails is named, and the others are measured and kept', async () => {
  jest.spyOn(console, 'log').mockReturnValue();
  jest.spyOn(console, 'error').mockReturnValue();
  const results = { rows: [], failed: [] } as unknown as Results;
  const kept: string[] = [];
  const parts = new Map([
    ['one', () => Promise.resolve([row('one: x', 'ms', 1)])],
    ['two', () => Promise.reject(new Error('no engine answers'))],
    ['three', () => Promise.resolve([row('three: x', 'ms', 3)])],
  ]);
  await measureParts(parts, results, () => {
    kept.push(JSON.stringify([results.rows.length, results.failed.length]));
    return Promise.resolve();
  });
  expect(results.rows.map(({ name }) => name)).toEqual(['one: x', 'three: x']);
  expect(results.failed).toEqual([{ part: 'two', error: 'no engine answers' }]);
  expect(kept).toEqual(['[1,0]', '[1,1]', '[2,1]']);
  const conditions = { commit: 'c', changed: false, cpu: '', cores: 1, memoryBytes: 1, loadBefore: 0 };
  const text = report({ ...results, quick: false, conditions } as Results);
  expect(text).toContain('FAILED: two: no engine answers');
  jest.restoreAllMocks();
});
