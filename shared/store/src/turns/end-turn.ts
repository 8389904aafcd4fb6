import type { Failure } from '@suzumio/protocol/failure-codes';
import type { Tx } from '../sqlite/tx.js';
import type { AttemptRow, TurnRow } from '../rows.js';
import { keepCapture } from './captures.js';
import { noticeTurn } from './turn-notices.js';

/** How an attempt ended, for its row. */
export interface AttemptEnd {
  status: 'completed' | 'failed' | 'cancelled';
  failure?: Failure | undefined;
  counted?: boolean | undefined;
  stats?: unknown;
}

/**
 * Ends an attempt. From this commit on its tokens are invalid, and its running calls have an unknown outcome: this is
 * the fence.
 */
export function closeAttempt(tx: Tx, attempt: AttemptRow, end: AttemptEnd): void {
  tx.run(
    `UPDATE turn_attempts SET status = :status, failure_json = :failure, counted = :counted, stats_json = :stats, ended_at_ms = :now
     WHERE turn_id = :turn AND number = :number`,
    {
      turn: attempt.turn_id,
      number: attempt.number,
      status: end.status,
      failure: end.failure ? JSON.stringify(end.failure) : null,
      counted: end.counted === undefined ? null : end.counted ? 1 : 0,
      stats: end.stats === undefined ? null : JSON.stringify(end.stats),
      now: tx.nowMs,
    },
  );
  tx.run(
    `UPDATE agents SET token_hash = NULL
     WHERE id = (SELECT agent_id FROM turns WHERE id = :turn) AND active_turn_id = :turn`,
    { turn: attempt.turn_id },
  );
  tx.run(`UPDATE tool_calls SET status = 'unknown', ended_at_ms = :now WHERE turn_id = :turn AND status = 'running'`, {
    turn: attempt.turn_id,
    now: tx.nowMs,
  });
}

/**
 * Ends a turn. Its agent is free again, or stopped as requested, or failed until an operator acts. Unless the turn completed,
 * the agent goes on with its newest capture.
 */
export function closeTurn(
  tx: Tx,
  turn: TurnRow,
  end: { status: 'completed' | 'failed' | 'cancelled'; failure?: Failure },
): void {
  tx.run(
    `UPDATE turns SET status = :status, failure_json = :failure, ended_at_ms = :now, delivered_at_ms = NULL WHERE id = :turn`,
    {
      turn: turn.id,
      status: end.status,
      failure: end.failure ? JSON.stringify(end.failure) : null,
      now: tx.nowMs,
    },
  );
  if (end.status !== 'completed') keepCapture(tx, turn);
  const failed = end.status === 'failed' && end.failure !== undefined;
  tx.run(
    `UPDATE agents SET state = CASE WHEN :state = 'quiet' AND stopping = 1 THEN 'stopped' ELSE :state END, stopping = 0,
       active_turn_id = NULL, token_hash = NULL, failure_json = :failure, state_at_ms = :now
     WHERE id = :agent AND active_turn_id = :turn`,
    {
      agent: turn.agent_id,
      turn: turn.id,
      state: failed ? 'failed' : 'quiet',
      failure: failed
        ? JSON.stringify({ ...end.failure, turn: turn.id, turnNumber: turn.number, attempt: turn.attempt })
        : null,
      now: tx.nowMs,
    },
  );
}

/**
 * Cancels a turn at once, even while it runs. Mail in its prompt counts as undelivered; mail of an unclaimed turn was
 * never rendered, so it stays unread.
 */
export function cancelTurn(tx: Tx, turn: TurnRow, reason: string, actor: string): void {
  const running = tx.get<AttemptRow>(`SELECT * FROM turn_attempts WHERE turn_id = :turn AND status = 'running'`, {
    turn: turn.id,
  });
  if (running) closeAttempt(tx, running, { status: 'cancelled' });
  closeTurn(tx, turn, { status: 'cancelled' });
  tx.emit({
    type: 'turn.cancelled',
    actor,
    agent: turn.agent_id,
    turn: turn.id,
    data: { number: turn.number, reason },
  });
  if (turn.attempt > 0) noticeTurn(tx, turn, { notice: 'errored', cancelled: reason });
}
