import { decideFailure } from '@suzumio/core/failures/failure-policy';
import type { AttemptEnded, AttemptStats } from '@suzumio/protocol/attempts';
import { type Failure, type FailureCode, failureCodes } from '@suzumio/protocol/failure-codes';
import { externalEngine } from '@suzumio/protocol/handlers';
import { attemptRow, type AttemptRow, turnRow, type TurnRow } from '../rows.js';
import type { Tx } from '../sqlite/tx.js';
import { assertRunning, type AttemptId } from './authorize.js';
import { closeAttempt, closeTurn } from './end-turn.js';
import { noticeTurn } from './turn-notices.js';

/**
 * Ends an attempt that failed; {@link decideFailure} says whether the turn waits for another.
 *
 * @throws SuzumioError `attempt-over`
 */
export function failAttempt(
  tx: Tx,
  id: AttemptId,
  report: { failure: Failure; stats?: AttemptStats | undefined },
): AttemptEnded {
  const attempt = attemptRow(tx, id.turn, id.attempt);
  assertRunning(attempt, id);
  return { turn: endByFailure(tx, turnRow(tx, id.turn), attempt, report.failure, { stats: report.stats }) };
}

/** Fails a turn at once, with attempts left or not: another attempt cannot succeed. */
export function failTurn(tx: Tx, turn: TurnRow, failure: Failure): void {
  const running = attemptRow(tx, turn.id, turn.attempt);
  if (running?.status === 'running') closeAttempt(tx, running, { status: 'failed', failure, counted: true });
  closeTurn(tx, turn, { status: 'failed', failure });
  tx.emit({
    type: 'turn.failed',
    actor: 'system',
    agent: turn.agent_id,
    turn: turn.id,
    data: { number: turn.number, attempt: turn.attempt, code: failure.code, message: failure.message },
  });
  noticeTurn(tx, turn, { notice: 'errored', failure });
}

/** What a turn waits for: a model that is unavailable, or room in the day's budget. */
export interface ProviderWait {
  /** The model's circuit; the turn continues once it answers others again. For a day's budget, its gate. */
  provider: string;
  /** When the model may be called again at the earliest. */
  untilMs: number;
  /** Whether the turn's own call has just failed there: then it waits until then, even if others are answered. */
  asked?: boolean;
  /** The longest wait, where it is shorter than the project's `turn.providerPatience`. */
  patienceMs?: number;
}

/** Ends a running attempt with a failure; {@link decideFailure} says whether its turn ends, too. */
export function endByFailure(
  tx: Tx,
  turn: TurnRow,
  attempt: AttemptRow,
  failure: Failure,
  { stats, wait }: { stats?: AttemptStats | undefined; wait?: ProviderWait | undefined } = {},
): 'queued' | 'failed' {
  const { maxAttempts, startDeadline, providerPatience } = tx.configAt(turn.config_version).turn;
  const decision = decideFailure(
    failure,
    history(tx, turn, attempt, failure),
    {
      maxAttempts,
      startDeadlineMs: startDeadline,
      providerPatienceMs: Math.min(providerPatience, wait?.patienceMs ?? Infinity),
    },
    tx.nowMs,
  );
  const counted = decision.turn === 'failed' || decision.counted;
  closeAttempt(tx, attempt, { status: 'failed', failure, counted, stats });
  if (decision.turn === 'failed') {
    failTurn(tx, turn, decision.failure);
    return 'failed';
  }
  const { giveUpAtMs = Infinity } = decision;
  const ownBackoff = wait === undefined || failureCodes[failure.code] === 'day';
  const notBeforeMs = ownBackoff
    ? decision.notBeforeMs
    : Math.max(tx.nowMs, wait.asked === true ? Math.min(wait.untilMs, giveUpAtMs) : tx.nowMs);
  tx.run(
    `UPDATE turns SET status = 'queued', delivered_at_ms = NULL, not_before_ms = :notBefore, waits_for = :waitsFor,
       avoid_worker = :avoid, give_up_at_ms = :giveUpAt WHERE id = :turn`,
    {
      turn: turn.id,
      notBefore: notBeforeMs,
      waitsFor: wait?.provider ?? null,
      avoid: decision.avoidHost ? attempt.worker : null,
      giveUpAt: decision.giveUpAtMs ?? null,
    },
  );
  tx.emit({
    type: 'turn.requeued',
    actor: 'system',
    agent: turn.agent_id,
    turn: turn.id,
    data: {
      number: turn.number,
      attempt: attempt.number,
      code: failure.code,
      message: failure.message,
      inMs: Math.max(0, Math.min(Math.max(notBeforeMs, wait?.untilMs ?? 0), giveUpAtMs) - tx.nowMs),
    },
  });
  return 'queued';
}

/**
 * The turn's history since it was queued or retried. Patience counts from the first of the latest consecutive failures
 * that did not count, so that a turn that waited long for a slot, another day, a mount or a handler still has all of it.
 */
function history(tx: Tx, turn: TurnRow, current: AttemptRow, failure: Failure) {
  const earlier = tx.all<{ counted: number | null; started_at_ms: number; code: FailureCode | null }>(
    `SELECT counted, started_at_ms, failure_json ->> 'code' AS code FROM turn_attempts
     WHERE turn_id = :turn AND number > :from AND number < :current ORDER BY number DESC`,
    { turn: turn.id, from: turn.allowance_from, current: current.number },
  );
  const lastOther = earlier.findIndex(({ counted, code }) => counted === 1 || waitOf(code) !== waitOf(failure.code));
  const uncounted = lastOther === -1 ? earlier : earlier.slice(0, lastOther);
  return {
    countedAttempts: earlier.filter(({ counted }) => counted === 1).length,
    uncountedInRow: uncounted.length,
    queuedAtMs: uncounted.at(-1)?.started_at_ms ?? current.started_at_ms,
    // A handler's code runs from the claim on, before any tool call.
    startedOnce:
      current.engine === externalEngine ||
      tx.get('SELECT 1 FROM turn_steps WHERE turn_id = :turn LIMIT 1', { turn: turn.id }) !== undefined,
  };
}

/** The failure's class, where the turn waits for something without a deadline. */
function waitOf(code: FailureCode | null): 'day' | 'mount' | 'unanswered' | undefined {
  const failed = code === null ? undefined : failureCodes[code];
  return failed === 'day' || failed === 'mount' || failed === 'unanswered' ? failed : undefined;
}
