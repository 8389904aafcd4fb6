import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { retry } from '@suzumio/protocol/retry';

const pace = { firstDelayMs: 100, longestDelayMs: 400 };

beforeEach(() => {
  jest.useFakeTimers();
  jest.spyOn(Math, 'random').mockReturnValue(1);
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

/** Fails so many times, and notes when it was tried. */
function failing(times: number): { operation: () => Promise<string>; triedAtMs: number[] } {
  const begunAtMs = performance.now();
  const triedAtMs: number[] = [];
  const operation = () => {
    triedAtMs.push(performance.now() - begunAtMs);
    return triedAtMs.length > times
      ? Promise.resolve('done')
      : Promise.reject(new Error(`failure ${String(triedAtMs.length)}`));
  };
  return { operation, triedAtMs };
}

test('delays double up to the longest one', async () => {
  const { operation, triedAtMs } = failing(5);
  const done = retry(operation, pace);
  await jest.runAllTimersAsync();
  await expect(done).resolves.toBe('done');
  expect(triedAtMs).toEqual([0, 100, 300, 700, 1_100, 1_500]);
});

test('jitter takes up to half of each delay', async () => {
  jest.mocked(Math.random).mockReturnValue(0);
  const { operation, triedAtMs } = failing(2);
  const done = retry(operation, pace);
  await jest.runAllTimersAsync();
  await done;
  expect(triedAtMs).toEqual([0, 50, 150]);
});

test('an error that is not retryable is thrown at once', async () => {
  const { operation, triedAtMs } = failing(1);
  await expect(retry(operation, { ...pace, isRetryable: () => false })).rejects.toThrow('failure 1');
  expect(triedAtMs).toHaveLength(1);
});

test('patience counts from the first failure, and ends with one last try', async () => {
  const { operation, triedAtMs } = failing(10);
  const failures: number[] = [];
  const slowAtFirst = async () => {
    if (triedAtMs.length === 0) jest.advanceTimersByTime(1_000);
    return operation();
  };
  const done = retry(slowAtFirst, { ...pace, patienceMs: 350, onFailure: (_error, count) => failures.push(count) });
  const rejected = expect(done).rejects.toThrow('failure 4');
  await jest.runAllTimersAsync();
  await rejected;
  expect(triedAtMs).toEqual([1_000, 1_100, 1_300, 1_350]);
  expect(failures).toEqual([1, 2, 3]);
});

test('a signal ends the delay with its reason, and not the first try', async () => {
  const stop = new AbortController();
  const { operation, triedAtMs } = failing(10);
  const done = retry(operation, { ...pace, signal: stop.signal });
  const rejected = expect(done).rejects.toThrow('enough');
  await jest.advanceTimersByTimeAsync(150);
  stop.abort(new Error('enough'));
  await rejected;
  expect(triedAtMs).toEqual([0, 100]);
  await expect(retry(failing(0).operation, { ...pace, signal: stop.signal })).resolves.toBe('done');
  expect(jest.getTimerCount()).toBe(0);
});
