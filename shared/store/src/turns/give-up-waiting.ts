import type { Failure } from '@suzumio/protocol/failure-codes';
import { isQueued, projectRow, turnRow } from '../rows.js';
import type { SqlReader } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';
import type { OpenCircuits } from './deliver-turn.js';
import { failTurn } from './fail-attempt.js';

/** Turns whose patience is over while their model is still unavailable. */
export function impatientTurns(reader: SqlReader, nowMs: number, away: OpenCircuits): string[] {
  if (away.size === 0) return [];
  const project = projectRow(reader);
  if (project.status !== 'running' || project.paused_json !== null) return [];
  return reader
    .all<{ id: string; waits_for: string }>(
      `SELECT id, waits_for FROM turns WHERE ${isQueued} AND delivered_at_ms IS NULL AND waits_for IS NOT NULL
         AND give_up_at_ms <= :now AND (SELECT paused_json IS NULL FROM agents WHERE agents.id = agent_id)`,
      { now: nowMs },
    )
    .filter(({ waits_for: circuit }) => (away.get(circuit) ?? 0) > nowMs)
    .map(({ id }) => id);
}

/** Fails {@link impatientTurns} with the provider's last error: another attempt would only repeat it. */
export function giveUpWaiting(tx: Tx, away: OpenCircuits): void {
  for (const id of impatientTurns(tx, tx.nowMs, away)) {
    const turn = turnRow(tx, id);
    const last = tx.get<{ failure: string | null }>(
      'SELECT failure_json AS failure FROM turn_attempts WHERE turn_id = :id AND number = :attempt',
      { id, attempt: turn.attempt },
    )?.failure;
    if (last != null) failTurn(tx, turn, JSON.parse(last) as Failure);
  }
}
