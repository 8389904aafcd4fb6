import type { Failure } from '@suzumio/protocol/failure-codes';
import { type AttemptRow, turnRow } from '../rows.js';
import type { Tx } from '../sqlite/tx.js';
import { closeAttempt } from './end-turn.js';

/** Ends a running attempt for a reason that is none of its own: its turn is queued again, with all its allowances. */
export function queueAgain(tx: Tx, attempt: AttemptRow, failure: Failure): void {
  const turn = turnRow(tx, attempt.turn_id);
  closeAttempt(tx, attempt, { status: 'failed', failure, counted: false });
  tx.run(
    `UPDATE turns SET status = 'queued', delivered_at_ms = NULL, not_before_ms = :now, waits_for = NULL,
       avoid_worker = NULL, allowance_from = :attempt WHERE id = :turn`,
    { turn: turn.id, attempt: attempt.number, now: tx.nowMs },
  );
  tx.emit({
    type: 'turn.requeued',
    actor: 'system',
    agent: turn.agent_id,
    turn: turn.id,
    data: { number: turn.number, attempt: attempt.number, ...failure, inMs: 0 },
  });
}
