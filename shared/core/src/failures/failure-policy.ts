import { type Failure, failureCodes } from '@suzumio/protocol/failure-codes';

/** A turn's history before the failure that is being decided. */
export interface FailureHistory {
  /** Earlier attempts whose failures counted. */
  readonly countedAttempts: number;
  /** Consecutive failures that did not count, directly before this one. */
  readonly uncountedInRow: number;
  /** When the turn was queued, or an operator retried it. */
  readonly queuedAtMs: number;
  /** Whether the turn has begun its work: its journal has a step, or a handler claimed it. */
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
      /** When it stops waiting for a provider. */
      readonly giveUpAtMs?: number;
    };

const startBackoff = { firstMs: 1_000, mostMs: 60_000 };
/** ToolHosts may have different budgets for a day: a turn moves between them no more often than this. */
const dayCheckMs = 60_000;
/** Workers are not notified when other workers' turns end, so the mount is checked again. */
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
      // A turn that has run has work in its journal, which a worker's restart hours later must not cost it.
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
    case 'unanswered': {
      // A handler that always disconnects must not cause attempts without a pause.
      const notBeforeMs = history.uncountedInRow === 0 ? nowMs : nowMs + pauseMs(startBackoff, history);
      return { turn: 'queued', notBeforeMs, counted: false, avoidHost: false };
    }
    case 'machinery':
      if (history.countedAttempts + 1 >= limits.maxAttempts) return { turn: 'failed', failure };
      return { turn: 'queued', notBeforeMs: nowMs, counted: true, avoidHost: false };
    case 'agent':
      return { turn: 'failed', failure };
  }
}

/** When to retry: a doubling back-off, with the last try at the deadline itself; undefined once that has passed. */
function nextTry(
  backoff: { firstMs: number; mostMs: number },
  history: FailureHistory,
  patienceMs: number,
  nowMs: number,
): number | undefined {
  const deadlineMs = history.queuedAtMs + patienceMs;
  if (nowMs >= deadlineMs) return undefined;
  return Math.min(nowMs + pauseMs(backoff, history), deadlineMs);
}

function pauseMs({ firstMs, mostMs }: { firstMs: number; mostMs: number }, { uncountedInRow }: FailureHistory): number {
  return Math.min(firstMs * 2 ** uncountedInRow, mostMs);
}

function startDeadline(last: Failure, patienceMs: number): Failure {
  const message = `The turn could not be started within ${String(patienceMs / 1000)} s; at last: ${last.code}: ${last.message}`;
  return { ...last, code: 'start-deadline', message: message.slice(0, 2000) };
}
