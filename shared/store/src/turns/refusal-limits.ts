import type { TurnRow } from '../rows.js';
import type { Tx } from '../sqlite/tx.js';
import { failTurn } from './fail-attempt.js';

/**
 * How often an attempt may ask at a step for something else than the journal has there. A runner that repeats its steps
 * never does, and one that does not comes no further by asking again.
 */
const mostContradictions = 3;

/** Counts that an attempt contradicted its journal, and ends the turn of one that does not stop. */
export function noteContradiction(tx: Tx, turn: TurnRow, attempt: number, message: string): void {
  const row = tx.get<{ contradictions: number }>(
    `UPDATE turn_attempts SET contradictions = contradictions + 1
     WHERE turn_id = :turn AND number = :attempt AND status = 'running' RETURNING contradictions`,
    { turn: turn.id, attempt },
  );
  if ((row?.contradictions ?? 0) < mostContradictions) return;
  failTurn(tx, turn, { code: 'journal-mismatch', message });
}

/**
 * How many calls an attempt may make that are refused. A model that tries what it may not do is told so, and tries
 * something else; whoever goes on is after something else than an answer, and each call costs its cell a commit.
 */
const mostRefusedCalls = 100;

/** Counts that a call of an attempt was refused, and ends the turn of one that does not stop. */
export function noteRefusedCall(tx: Tx, turn: TurnRow, attempt: number): void {
  const row = tx.get<{ refused_calls: number }>(
    `UPDATE turn_attempts SET refused_calls = refused_calls + 1
     WHERE turn_id = :turn AND number = :attempt AND status = 'running' RETURNING refused_calls`,
    { turn: turn.id, attempt },
  );
  if ((row?.refused_calls ?? 0) < mostRefusedCalls) return;
  const message = `${String(mostRefusedCalls)} calls of one attempt were refused; its last ones are in the turn's journal.`;
  failTurn(tx, turn, { code: 'refusal-limit', message });
}
