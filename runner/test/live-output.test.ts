import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type LiveReport, liveReport } from '@suzumio/protocol/live';
import { LiveOutput } from '@suzumio/runner/live/live-output';

let reports: LiveReport[];
let answer: boolean | undefined;
let live: LiveOutput;
beforeEach(() => {
  jest.useFakeTimers();
  reports = [];
  answer = true;
  live = new LiveOutput((report) => {
    reports.push(liveReport.parse(report));
    return Promise.resolve(answer);
  });
});
afterEach(() => {
  jest.useRealTimers();
});

const print = (text: string | Buffer, stream: 'stdout' | 'stderr' = 'stdout') =>
  live.add('1.0', stream, Buffer.from(text));
const later = (ms: number) => jest.advanceTimersByTimeAsync(ms);
const told = () => reports.flatMap(({ output }) => output.map(({ text }) => text)).join('');

describe('what a command prints', () => {
  test('is told a while after somebody follows, from the newest that is kept on', async () => {
    answer = false;
    print('one\n');
    await later(3_000);
    expect(reports.length).toBe(3);
    expect(told()).toBe('');
    answer = true;
    await later(1_200);
    expect(told()).toBe('one\n');
    print('two\n', 'stderr');
    print('three\n', 'stderr');
    await later(150);
    expect(reports.at(-1)).toEqual({ skipped: 0, output: [{ step: '1.0', stream: 'stderr', text: 'two\nthree\n' }] });
  });

  test('is asked for no more often than once a second while nobody follows, and not at all by a short command', async () => {
    answer = false;
    print('one\n');
    live.ended('1.0');
    await later(5_000);
    expect(reports).toEqual([]);
    for (let lines = 0; lines < 1_000; lines += 1) print('a line\n');
    await later(1_500);
    expect(reports).toEqual([{ skipped: 0, output: [] }]);
  });

  test('is bounded, and what is left out is counted', async () => {
    print('.');
    await later(1_200);
    const before = told().length;
    let printed = 0;
    while (printed < 10 * 1024 * 1024) {
      print('x'.repeat(64 * 1024));
      printed += 64 * 1024;
    }
    await later(150);
    const { skipped } = reports.at(-1) ?? { skipped: 0 };
    expect(told().length - before).toBeLessThanOrEqual(16 * 1024);
    expect(skipped + told().length - before).toBe(printed);
  });

  test('has its characters whole', async () => {
    print('.');
    await later(1_200);
    const [first, rest] = [Buffer.from('猫').subarray(0, 2), Buffer.from('猫').subarray(2)];
    print(first);
    await later(150);
    print(rest);
    await later(150);
    expect(told()).toBe('.猫');
  });

  test('is told no more where the door takes none', async () => {
    answer = undefined;
    print('one\n');
    await later(1_200);
    print('two\n');
    await later(5_000);
    expect(reports.length).toBe(1);
  });
});
