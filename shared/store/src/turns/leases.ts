import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import { externalEngine } from '@suzumio/protocol/handlers';
import { attemptRow, type AttemptRow, turnRow } from '../rows.js';
import type { SqlReader } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';
import type { AttemptId } from './authorize.js';
import { endByFailure } from './fail-attempt.js';

/**
 * Whether an attempt has exceeded the turn's time limit. A worker enforces the limit itself from its container's start;
 * where it does not, because it was taken over, the attempt has the limit and the time to start.
 */
export function isOverTime({ turn }: ProjectConfig, { engine, started_at_ms }: AttemptRow, nowMs: number): boolean {
  const limitMs = turn.timeout + (engine === externalEngine ? 0 : turn.startDeadline);
  return nowMs - started_at_ms >= limitMs;
}

/**
 * Whether a lease is fresh enough to need no extension. More time left than a whole lease means that the clock stepped
 * back.
 */
export function isFresh(leftMs: number, leaseMs: number): boolean {
  return leftMs * 3 >= leaseMs * 2 && leftMs <= leaseMs;
}

/**
 * Extends a lease, writing only when less than two thirds are left. An attempt past its deadline is valid until
 * `expireLease` ends it. One past its time limit ends here.
 */
export function extendLease(tx: Tx, id: AttemptId, leaseMs: number): { leaseMs: number; cancel: boolean } {
  const attempt = attemptRow(tx, id.turn, id.attempt);
  if (attempt?.status !== 'running') return { leaseMs: 0, cancel: true };
  const turn = turnRow(tx, id.turn);
  const config = tx.configAt(turn.config_version);
  if (isOverTime(config, attempt, tx.nowMs)) {
    const message = `The turn took longer than its limit of ${String(config.turn.timeout)} ms.`;
    endByFailure(tx, turn, attempt, { code: 'time-limit', message });
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

/** An attempt that began in the future began before the clock stepped back: its time counts from now. */
function beginAnew(tx: Tx, { turn_id: turn, number }: AttemptRow): void {
  tx.run('UPDATE turn_attempts SET started_at_ms = :now WHERE turn_id = :turn AND number = :number', {
    now: tx.nowMs,
    turn,
    number,
  });
}

/** Leases that end later than a whole lease from now were granted before the clock stepped back; they begin anew. */
export function shortenLeases(tx: Tx, leaseMs: number): void {
  tx.run(`UPDATE turn_attempts SET lease_until_ms = :until WHERE status = 'running' AND lease_until_ms > :until`, {
    until: tx.nowMs + leaseMs,
  });
}

/** Ends an attempt past its deadline, in one transaction: whatever its worker sends later is refused. */
export function expireLease(tx: Tx, id: AttemptId): 'queued' | 'failed' | undefined {
  const attempt = attemptRow(tx, id.turn, id.attempt);
  if (attempt?.status !== 'running' || attempt.lease_until_ms > tx.nowMs) return undefined;
  const turn = turnRow(tx, id.turn);
  return endByFailure(tx, turn, attempt, {
    code: 'lease-expired',
    message: `${attempt.engine === externalEngine ? 'Handler' : 'Worker'} ${attempt.worker} was not heard of for a whole lease.`,
  });
}

/** Attempts past their deadlines. */
export function overdueAttempts(reader: SqlReader, nowMs: number): { turn: string; attempt: number }[] {
  return reader.all(
    `SELECT turn_id AS turn, number AS attempt FROM turn_attempts WHERE status = 'running' AND lease_until_ms <= :now`,
    { now: nowMs },
  );
}

/** When the first and the last running lease end; undefined where none runs. */
export function deadlinesOf(reader: SqlReader): { firstMs: number; lastMs: number } | undefined {
  const row = reader.get<{ first: number | null; last: number | null }>(
    `SELECT min(lease_until_ms) AS first, max(lease_until_ms) AS last FROM turn_attempts WHERE status = 'running'`,
  );
  const { first = null, last = null } = row ?? {};
  return first === null || last === null ? undefined : { firstMs: first, lastMs: last };
}
