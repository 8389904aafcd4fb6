import type { TurnRow } from '../rows.js';
import type { Tx } from '../sqlite/tx.js';
import { failTurn } from './report-attempt.js';

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
