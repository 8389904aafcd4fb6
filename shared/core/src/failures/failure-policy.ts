import { type Failure, failureCodes } from '@suzumio/protocol/failure-codes';

/** What a turn has been through before the failure that is being decided. */
export interface FailureHistory {
  /** Attempts before this one whose failure counted. */
  readonly countedAttempts: number;
  /** Failures that did not count, in a row, directly before this one. */
  readonly uncountedInRow: number;
  /** When the turn was queued, or put back by an operator's retry. */
  readonly queuedAtMs: number;
  /** Whether the turn has begun its work: its journal holds a step, or a handler has it. */
  readonly startedOnce: boolean;
}

/** The project file's `turn` limits. */
export interface FailureLimits {
  readonly maxAttempts: number;
  readonly startDeadlineMs: number;
  readonly providerPatienceMs: number;
}

/** What follows a failed attempt: the turn fails, or waits in the queue for another. */
export type FailureDecision =
  | { readonly turn: 'failed'; readonly failure: Failure }
  | {
      readonly turn: 'queued';
      readonly notBeforeMs: number;
      /** Whether this attempt used up one of `maxAttempts`. */
      readonly counted: boolean;
      /** Whether the next claim should prefer another host. */
      readonly avoidHost: boolean;
      /** When its patience with a provider ends. */
      readonly giveUpAtMs?: number;
    };

const startBackoff = { firstMs: 1_000, mostMs: 60_000 };
/** Two ToolHosts may differ on what a day may cost: a turn goes to and fro between them no more often than this. */
const dayCheckMs = 60_000;
/** Turns end within their time limit, and a worker does not learn when those of another worker do. */
const mountCheckMs = 10_000;
const providerBackoff = { firstMs: 5_000, mostMs: 15 * 60_000 };

/** Decides what follows a failed attempt. Deterministic: the same facts always lead to the same decision. */
export function decideFailure(
  failure: Failure,
  history: FailureHistory,
  limits: FailureLimits,
  nowMs: number,
): FailureDecision {
  switch (failureCodes[failure.code]) {
    case 'before-start': {
      // A turn that has run holds work in its journal: a worker's restart hours later must not cost it that.
      const patienceMs = history.startedOnce ? limits.providerPatienceMs : limits.startDeadlineMs;
      const notBeforeMs = nextTry(startBackoff, history, patienceMs, nowMs);
      if (notBeforeMs === undefined) return { turn: 'failed', failure: startDeadline(failure, patienceMs) };
      return { turn: 'queued', notBeforeMs, counted: false, avoidHost: true };
    }
    case 'provider': {
      const notBeforeMs = nextTry(providerBackoff, history, limits.providerPatienceMs, nowMs);
      if (notBeforeMs === undefined) return { turn: 'failed', failure };
      const giveUpAtMs = history.queuedAtMs + limits.providerPatienceMs;
      return { turn: 'queued', notBeforeMs, counted: false, avoidHost: false, giveUpAtMs };
    }
    case 'day':
      return { turn: 'queued', notBeforeMs: nowMs + dayCheckMs, counted: false, avoidHost: false };
    case 'mount':
      return { turn: 'queued', notBeforeMs: nowMs + mountCheckMs, counted: false, avoidHost: true };
    case 'machinery':
      if (history.countedAttempts + 1 >= limits.maxAttempts) return { turn: 'failed', failure };
      return { turn: 'queued', notBeforeMs: nowMs, counted: true, avoidHost: false };
    case 'agent':
      return { turn: 'failed', failure };
  }
}

/** When to try again: a wait that doubles, with the last try at the deadline itself; undefined once that has passed. */
function nextTry(
  backoff: { firstMs: number; mostMs: number },
  history: FailureHistory,
  patienceMs: number,
  nowMs: number,
): number | undefined {
  const deadlineMs = history.queuedAtMs + patienceMs;
  if (nowMs >= deadlineMs) return undefined;
  const waitMs = Math.min(backoff.firstMs * 2 ** history.uncountedInRow, backoff.mostMs);
  return Math.min(nowMs + waitMs, deadlineMs);
}

function startDeadline(last: Failure, patienceMs: number): Failure {
  const message = `The turn could not be started within ${String(patienceMs / 1000)} s; at last: ${last.code}: ${last.message}`;
  return { ...last, code: 'start-deadline', message: message.slice(0, 2000) };
}
