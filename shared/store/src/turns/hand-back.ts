import { attemptRow, turnRow } from '../rows.js';
import type { Tx } from '../sqlite/tx.js';
import type { AttemptId } from './authorize.js';
import { endByFailure } from './fail-attempt.js';

/**
 * Ends an attempt whose handler disconnected before it was answered: the turn waits for another claim. An attempt whose
 * lease was extended since then goes on: a repetition of the claim, perhaps at another ToolHost, was answered.
 */
export function handBack(tx: Tx, id: AttemptId, leaseUntilMs: number): void {
  const attempt = attemptRow(tx, id.turn, id.attempt);
  if (attempt?.status !== 'running' || attempt.lease_until_ms !== leaseUntilMs) return;
  endByFailure(tx, turnRow(tx, id.turn), attempt, {
    code: 'handler-disconnected',
    message: `Handler ${attempt.worker} disconnected before it was given the turn.`,
  });
}
