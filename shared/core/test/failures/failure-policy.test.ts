import { describe, expect, test } from '@jest/globals';
import { decideFailure, type FailureHistory } from '@suzumio/core/failures/failure-policy';
import { type Failure, failure, type FailureCode, failureCodes } from '@suzumio/protocol/failure-codes';

const hourMs = 3_600_000;
const limits = { maxAttempts: 3, startDeadlineMs: hourMs, providerPatienceMs: 24 * hourMs };
const queuedAtMs = 1_800_000_000_000;
const fresh: FailureHistory = { countedAttempts: 0, uncountedInRow: 0, queuedAtMs, startedOnce: false };

const failed = (code: FailureCode): Failure => ({ code, message: `what happened: ${code}` });
const decide = (code: FailureCode, history: Partial<FailureHistory>, afterMs: number) =>
  decideFailure(failed(code), { ...fresh, ...history }, limits, queuedAtMs + afterMs);

describe('a failure before the start', () => {
  test.each([
    [0, 1_000],
    [1, 2_000],
    [5, 32_000],
    [6, 60_000],
    [5_000, 60_000],
  ])('after %d others waits %d ms, on another host if there is one', (uncountedInRow, waitMs) => {
    expect(decide('engine-unreachable', { uncountedInRow }, 10_000)).toEqual({
      turn: 'queued',
      notBeforeMs: queuedAtMs + 10_000 + waitMs,
      counted: false,
      avoidHost: true,
    });
  });

  test('is not counted, however many attempts there were', () => {
    expect(decide('worker-shutdown', { countedAttempts: 2 }, 0)).toMatchObject({ turn: 'queued', counted: false });
  });

  test('is tried once more at the deadline itself, then the turn fails and names the last cause', () => {
    const last = decide('image-missing', { uncountedInRow: 60 }, hourMs - 5_000);
    expect(last).toMatchObject({ turn: 'queued', notBeforeMs: queuedAtMs + hourMs });
    expect(decide('image-missing', { uncountedInRow: 61 }, hourMs)).toEqual({
      turn: 'failed',
      failure: {
        code: 'start-deadline',
        message: 'The turn could not be started within 3600 s; at last: image-missing: what happened: image-missing',
      },
    });
  });

  test('of a turn that has run before is given the longer patience', () => {
    expect(decide('worker-shutdown', { startedOnce: true }, 2 * hourMs)).toMatchObject({ turn: 'queued' });
    expect(decide('worker-shutdown', { startedOnce: true }, 24 * hourMs)).toMatchObject({
      turn: 'failed',
      failure: { code: 'start-deadline' },
    });
  });

  test('keeps its message within what a failure may hold', () => {
    const long = { code: 'disk-full' as const, message: 'x'.repeat(2000) };
    const decision = decideFailure(long, fresh, limits, queuedAtMs + hourMs);
    expect(decision.turn === 'failed' && failure.safeParse(decision.failure).success).toBe(true);
  });
});

describe('a mount that another turn could move', () => {
  test.each([0, hourMs, 1_000 * hourMs])('is waited for without a deadline, also after %d ms', (afterMs) => {
    expect(decide('mount-in-use', { uncountedInRow: 500 }, afterMs)).toEqual({
      turn: 'queued',
      notBeforeMs: queuedAtMs + afterMs + 10_000,
      counted: false,
      avoidHost: true,
    });
  });
});

test.each([
  [0, 0],
  [1, 2_000],
  [500, 60_000],
])('an answer that did not arrive, after %d others, lets the turn wait %d ms and no deadline', (inRow, waitMs) => {
  expect(decide('handler-disconnected', { uncountedInRow: inRow, countedAttempts: 2 }, 72 * hourMs)).toEqual({
    turn: 'queued',
    notBeforeMs: queuedAtMs + 72 * hourMs + waitMs,
    counted: false,
    avoidHost: false,
  });
});

describe("a provider's failure", () => {
  test.each([
    [0, 5_000],
    [1, 10_000],
    [7, 640_000],
    [8, 900_000],
    [90, 900_000],
  ])('after %d others waits %d ms', (uncountedInRow, waitMs) => {
    expect(decide('provider-unavailable', { uncountedInRow, startedOnce: true }, 60_000)).toEqual({
      turn: 'queued',
      notBeforeMs: queuedAtMs + 60_000 + waitMs,
      counted: false,
      avoidHost: false,
      giveUpAtMs: queuedAtMs + 24 * hourMs,
    });
  });

  test('ends the turn when patience is over', () => {
    expect(decide('provider-unavailable', { startedOnce: true }, 24 * hourMs)).toEqual({
      turn: 'failed',
      failure: failed('provider-unavailable'),
    });
  });
});

describe("the machinery's failure", () => {
  test.each([
    [0, 'queued'],
    [1, 'queued'],
    [2, 'failed'],
  ] as const)('after %d counted attempts leaves the turn %s', (countedAttempts, turn) => {
    expect(decide('lease-expired', { countedAttempts, startedOnce: true }, 5_000)).toEqual(
      turn === 'queued'
        ? { turn, notBeforeMs: queuedAtMs + 5_000, counted: true, avoidHost: false }
        : { turn, failure: failed('lease-expired') },
    );
  });
});

const ofClass = (wanted: string) =>
  (Object.keys(failureCodes) as FailureCode[]).filter((c) => failureCodes[c] === wanted);

test.each(ofClass('agent'))("%s is the agent's own and ends the turn at once", (code) => {
  expect(decide(code, {}, 0)).toEqual({ turn: 'failed', failure: failed(code) });
});

test('a spent day is waited out, however long that takes, and looked at again in a minute at the soonest', () => {
  expect(decide('day-budget-reached', { uncountedInRow: 40, countedAttempts: 2 }, 72 * hourMs)).toEqual({
    turn: 'queued',
    notBeforeMs: queuedAtMs + 72 * hourMs + 60_000,
    counted: false,
    avoidHost: false,
  });
});
