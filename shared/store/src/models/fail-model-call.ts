import { beginningOf } from '@suzumio/protocol/cut-text';
import type { Failure } from '@suzumio/protocol/failure-codes';
import { attemptRow, turnRow, type TurnRow } from '../rows.js';
import type { Tx } from '../sqlite/tx.js';
import { endByFailure, type ProviderWait } from '../turns/fail-attempt.js';
import { callRow, closeCall } from './model-call-costs.js';

/**
 * How often a call fails while others succeed before the provider is presumed to refuse it for good; also how often it is
 * answered with what is not understood, whatever becomes of others.
 */
const loneFailures = 5;

/** Why a call failed, and what its turn waits for. */
export interface UnansweredCall {
  failure: Failure;
  wait?: ProviderWait | undefined;
  /**
   * Set where the call failed at each provider for no reason of theirs: since when the first of them has been
   * unavailable. If that is later than the call's last failure, others were answered between the two. `unreadable` where
   * each answered with something that is not understood.
   */
  failedItself?: { awaySinceMs: number; unreadable: boolean } | undefined;
}

/**
 * Ends a call without an answer, and its attempt: the turn waits, or fails. A call that keeps failing while the
 * provider answers others gets a back-off of its own, and fails for good after some tries, since the provider is
 * available. So does a call whose answers are not understood: they do not become better by waiting.
 */
export function failModelCall(tx: Tx, call: string, { failure, wait, failedItself }: UnansweredCall): void {
  const row = callRow(tx, call);
  const turn = turnRow(tx, row.turn_id);
  const earlier = failedItself && lastOwnFailure(tx, turn, row.step);
  const alone =
    failedItself === undefined
      ? 0
      : 1 +
        (earlier && (failedItself.unreadable || failedItself.awaySinceMs > earlier.ended_at_ms) ? earlier.alone : 0);
  if (row.status === 'running') {
    closeCall(tx, call, 'failed', failure.code);
    tx.run('UPDATE model_calls SET alone = :alone WHERE id = :call', { call, alone });
  }
  const attempt = attemptRow(tx, turn.id, turn.attempt);
  if (attempt?.status !== 'running' || attempt.number !== row.attempt) return;
  if (alone >= loneFailures) {
    const { code, says } = failedItself?.unreadable
      ? { code: 'answer-unreadable' as const, says: `${alone} answers were not understood` }
      : { code: 'model-refused' as const, says: `it failed ${alone} times while others were answered` };
    endByFailure(tx, turn, attempt, { code, message: `${beginningOf(failure.message, 1900)}; ${says}.` });
    return;
  }
  endByFailure(tx, turn, attempt, failure, { wait: alone > 1 ? undefined : wait });
}

/** The last failure of the same call since the turn was queued or retried, if any. */
function lastOwnFailure(tx: Tx, turn: TurnRow, step: string): { alone: number; ended_at_ms: number } | undefined {
  return tx.get(
    `SELECT alone, ended_at_ms FROM model_calls WHERE turn_id = :turn AND step = :step AND status = 'failed' AND alone > 0
       AND attempt > :from ORDER BY seq DESC LIMIT 1`,
    { turn: turn.id, step, from: turn.allowance_from },
  );
}
