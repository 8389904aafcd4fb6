import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { decideFailure } from '@suzumio/core/failures/failure-policy';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import type { AttemptEnded, AttemptStats, CompleteRequest } from '@suzumio/protocol/attempts';
import { externalEngine } from '@suzumio/protocol/handlers';
import { type Failure, type FailureCode, failureCodes } from '@suzumio/protocol/failure-codes';
import type { TurnOutput } from '@suzumio/protocol/runner';
import { watchTurnEnd } from '../protection/watch.js';
import { attemptRow, type AttemptRow, turnRow, type TurnRow } from '../rows.js';
import type { Tx } from '../sqlite/tx.js';
import { closeAttempt, closeTurn } from './end-turn.js';
import { noticeTurn } from './turn-notices.js';

/** Which attempt a report is about. */
export interface AttemptId {
  turn: string;
  attempt: number;
}

/**
 * Whether an attempt has gone on for longer than a turn may take. A worker sees to that by itself, from when its container
 * has started; one that does not, as it was taken over, has no longer than that and the time to start.
 */
export function isOverTime({ turn }: ProjectConfig, { engine, started_at_ms }: AttemptRow, nowMs: number): boolean {
  const limitMs = turn.timeout + (engine === externalEngine ? 0 : turn.startDeadline);
  return nowMs - started_at_ms >= limitMs;
}

/** Whether so much of a lease is left that a heartbeat need not extend it. More than all of it is left of none: the clock stepped back. */
export function isFresh(leftMs: number, leaseMs: number): boolean {
  return leftMs * 3 >= leaseMs * 2 && leftMs <= leaseMs;
}

/**
 * Extends a lease, writing only when less than two thirds of it are left. An attempt past its deadline is good until
 * `expireLease` has ended it. One that has taken too long ends here.
 */
export function extendLease(tx: Tx, id: AttemptId, leaseMs: number): { leaseMs: number; cancel: boolean } {
  const attempt = attemptRow(tx, id.turn, id.attempt);
  if (attempt?.status !== 'running') return { leaseMs: 0, cancel: true };
  if (isOverTime(tx.config, attempt, tx.nowMs)) {
    const message = `The turn took longer than its limit of ${String(tx.config.turn.timeout)} ms.`;
    endByFailure(tx, turnRow(tx, id.turn), attempt, { code: 'time-limit', message });
    return { leaseMs: 0, cancel: true };
  }
  if (attempt.started_at_ms > tx.nowMs) beginAnew(tx, attempt);
  const leftMs = attempt.lease_until_ms - tx.nowMs;
  if (isFresh(leftMs, leaseMs)) return { leaseMs: leftMs, cancel: false };
  tx.run('UPDATE turn_attempts SET lease_until_ms = :until WHERE turn_id = :turn AND number = :attempt', {
    until: tx.nowMs + leaseMs,
    turn: id.turn,
    attempt: id.attempt,
  });
  return { leaseMs, cancel: false };
}

/** What began at a moment that is yet to come began before the clock stepped back: its time counts from now. */
function beginAnew(tx: Tx, { turn_id: turn, number }: AttemptRow): void {
  tx.run('UPDATE turn_attempts SET started_at_ms = :now WHERE turn_id = :turn AND number = :number', {
    now: tx.nowMs,
    turn,
    number,
  });
}

/**
 * Ends a turn well. The same report twice gets the same answer.
 *
 * @throws SuzumioError `attempt-over`
 */
export function completeTurn(
  tx: Tx,
  id: AttemptId,
  report: Omit<CompleteRequest, 'output'> & { output: TurnOutput },
): AttemptEnded {
  const turn = turnRow(tx, id.turn);
  const attempt = attemptRow(tx, id.turn, id.attempt);
  if (attempt?.status === 'completed') return { turn: 'completed' };
  assertRunning(attempt, id);
  closeAttempt(tx, attempt, { status: 'completed', stats: report.stats });
  tx.run('UPDATE turns SET output_text = :text, usage_json = :usage WHERE id = :turn', {
    turn: turn.id,
    text: report.output.text,
    usage: report.output.usage ? JSON.stringify(report.output.usage) : null,
  });
  const changed =
    report.snapshot !== undefined &&
    tx.run('UPDATE agents SET snapshot = :snapshot WHERE id = :agent AND snapshot IS NOT :snapshot', {
      snapshot: report.snapshot,
      agent: turn.agent_id,
    }).changes > 0;
  closeTurn(tx, turn, { status: 'completed' });
  const made = madeBy(tx, turn.id);
  tx.emit({
    type: 'turn.completed',
    actor: 'system',
    agent: turn.agent_id,
    turn: turn.id,
    data: {
      number: turn.number,
      attempt: id.attempt,
      durationMs: tx.nowMs - attempt.started_at_ms,
      ...made,
      // Its next turn begins with the files that this one began with.
      ...(report.unsaved ? { unsaved: report.unsaved } : {}),
    },
  });
  const madeSomething = changed || turn.ended_by_tool !== null || made.messages + made.artifacts > 0;
  watchTurnEnd(tx, turn, { text: report.output.text, madeSomething });
  noticeTurn(tx, turn, { notice: 'finished' });
  return { turn: 'completed' };
}

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

/** Leases that end later than a whole one from now were given before the clock stepped back; they begin anew. */
export function shortenLeases(tx: Tx, leaseMs: number): void {
  tx.run(`UPDATE turn_attempts SET lease_until_ms = :until WHERE status = 'running' AND lease_until_ms > :until`, {
    until: tx.nowMs + leaseMs,
  });
}

/** Ends an attempt whose deadline has passed, in one transaction: whatever its worker does later is too late. */
export function expireLease(tx: Tx, id: AttemptId): 'queued' | 'failed' | undefined {
  const attempt = attemptRow(tx, id.turn, id.attempt);
  if (attempt?.status !== 'running' || attempt.lease_until_ms > tx.nowMs) return undefined;
  const turn = turnRow(tx, id.turn);
  return endByFailure(tx, turn, attempt, {
    code: 'lease-expired',
    message: `${attempt.engine === externalEngine ? 'Handler' : 'Worker'} ${attempt.worker} was not heard of for a whole lease.`,
  });
}

/** Fails a turn at once, whatever its limits: what went wrong cannot go better another time. */
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

/** What a turn waits for whose model is away, or whose question the day's budget has no room for. */
export interface ProviderWait {
  /** The model's circuit; the turn goes on as soon as it answers others again. Of a day's budget, its gate. */
  provider: string;
  /** When it may be asked again at the earliest. */
  untilMs: number;
  /** Whether the turn's own question has just failed there: then it waits until then, whoever else is answered. */
  asked?: boolean;
  /** How long it is waited for at most, where that is less than the project's `turn.providerPatience`. */
  patienceMs?: number;
}

/** Ends a running attempt by a failure, and the turn with it or not, as {@link decideFailure} says. */
export function endByFailure(
  tx: Tx,
  turn: TurnRow,
  attempt: AttemptRow,
  failure: Failure,
  { stats, wait }: { stats?: AttemptStats | undefined; wait?: ProviderWait | undefined } = {},
): 'queued' | 'failed' {
  const { maxAttempts, startDeadline, providerPatience } = tx.config.turn;
  const decision = decideFailure(
    failure,
    history(tx, turn, attempt),
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
 * What the turn has been through since it was queued or retried. Patience is counted from the first of the failures in
 * a row that did not count, so that a turn that waited long for a free slot, another day or a mount still has all of it.
 */
function history(tx: Tx, turn: TurnRow, current: AttemptRow) {
  const earlier = tx.all<{ counted: number | null; started_at_ms: number; code: FailureCode | null }>(
    `SELECT counted, started_at_ms, failure_json ->> 'code' AS code FROM turn_attempts
     WHERE turn_id = :turn AND number > :from AND number < :current ORDER BY number DESC`,
    { turn: turn.id, from: turn.allowance_from, current: current.number },
  );
  const lastOther = earlier.findIndex(({ counted, code }) => counted === 1 || (code !== null && isWait(code)));
  const uncounted = lastOther === -1 ? earlier : earlier.slice(0, lastOther);
  return {
    countedAttempts: earlier.filter(({ counted }) => counted === 1).length,
    uncountedInRow: uncounted.length,
    queuedAtMs: uncounted.at(-1)?.started_at_ms ?? current.started_at_ms,
    // A handler's code runs from the claim on, and need not have called anything.
    startedOnce:
      current.engine === externalEngine ||
      tx.get('SELECT 1 FROM turn_steps WHERE turn_id = :turn LIMIT 1', { turn: turn.id }) !== undefined,
  };
}

/** Whether a failure only says that a turn waits for something that has no deadline. */
function isWait(code: FailureCode): boolean {
  return failureCodes[code] === 'day' || failureCodes[code] === 'mount';
}

function madeBy(tx: Tx, turn: string): { messages: number; artifacts: number } {
  const count = (table: 'messages' | 'artifacts') =>
    tx.get<{ count: number }>(`SELECT count(*) AS count FROM ${table} WHERE turn_id = :turn`, { turn })?.count ?? 0;
  return { messages: count('messages'), artifacts: count('artifacts') };
}

function assertRunning(attempt: AttemptRow | undefined, id: AttemptId): asserts attempt is AttemptRow {
  if (attempt?.status === 'running') return;
  throw new SuzumioError('attempt-over', `Attempt ${String(id.attempt)} of ${id.turn} is over; nothing was changed.`, {
    turn: id.turn,
    attempt: id.attempt,
  });
}
