import { type TurnRow, turnRow } from '../rows.js';
import type { Tx } from '../sqlite/tx.js';
import { authorizeTool } from './authorize.js';
import { failTurn } from './fail-attempt.js';

/**
 * How often an attempt may contradict its journal. A runner that repeats its steps never does, and one that does not
 * gets no further by repeating itself.
 */
const mostContradictions = 3;

/** Counts a contradiction of the journal, and ends the turn of an attempt that does not stop. */
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
 * How many refused calls an attempt may make. A model that tries what it may not do is told so, and tries something
 * else; a caller that goes on is not after an answer, and each call costs its cell a commit.
 */
const mostRefusedCalls = 100;

/** Counts a refused call, and ends the turn of an attempt that does not stop. */
export function noteRefusedCall(tx: Tx, turn: TurnRow, attempt: number): void {
  const row = tx.get<{ refused_calls: number }>(
    `UPDATE turn_attempts SET refused_calls = refused_calls + 1
     WHERE turn_id = :turn AND number = :attempt AND status = 'running' RETURNING refused_calls`,
    { turn: turn.id, attempt },
  );
  if ((row?.refused_calls ?? 0) < mostRefusedCalls) return;
  const message = `${String(mostRefusedCalls)} requests of one attempt were refused; those that were calls are in the turn's journal.`;
  failTurn(tx, turn, { code: 'refusal-limit', message });
}

/**
 * Counts a request that is no call of a tool, such as one that cannot be read, as a refused one.
 *
 * @throws SuzumioError `token-rejected`
 */
export function noteRefusedRequest(tx: Tx, token: Parameters<typeof authorizeTool>[1]): void {
  authorizeTool(tx, token);
  noteRefusedCall(tx, turnRow(tx, token.turn), token.attempt);
}
