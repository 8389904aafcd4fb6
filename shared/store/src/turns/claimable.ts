import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { externalEngine } from '@suzumio/protocol/handlers';
import { type AgentRow, isDue, type ProjectRow, type TurnRow } from '../rows.js';
import type { SqlReader } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';

/** The claimant of a turn. */
export interface Claimant {
  claimId: string;
  worker: string;
  engine: string;
  /** Whether the whole cell is paused. @default false */
  cellPaused?: boolean;
}

/** How long a worker that could not start a turn leaves it to others. */
const avoidForMs = 5_000;

/**
 * Checks that a turn may be given to its claimant.
 *
 * @throws SuzumioError `claim-refused`
 */
export function assertClaimable(
  tx: Tx,
  { turn, agent, project }: { turn: TurnRow; agent: AgentRow; project: ProjectRow },
  { worker, engine, claimId, cellPaused = false }: Claimant,
): void {
  const refuse = (reason: string, paused = false) =>
    new SuzumioError('claim-refused', `${turn.id} cannot be claimed: ${reason}.`, {
      turn: turn.id,
      ...(paused && { paused }),
    });
  if (turn.status !== 'queued') throw refuse(`it is ${turn.status}`);
  const isEarly = turn.not_before_ms > tx.nowMs;
  if (isEarly && !tx.get(`SELECT 1 FROM turns WHERE id = :turn AND ${isDue}`, { turn: turn.id, now: tx.nowMs })) {
    throw refuse('its next attempt is not due yet');
  }
  const avoidedForMs = tx.nowMs - turn.not_before_ms;
  if (turn.avoid_worker === worker && avoidedForMs >= 0 && avoidedForMs < avoidForMs) {
    throw refuse('this worker has just failed to start it, so others come first');
  }
  if (project.status !== 'running') throw refuse(`the project is ${project.status}`);
  if (project.paused_json !== null) throw refuse('the project is paused', true);
  if (agent.paused_json !== null) throw refuse('its agent is paused', true);
  const byHandler = engine === externalEngine;
  if (byHandler !== (agent.external === 1)) {
    throw refuse(byHandler ? 'its agent is not external' : 'its agent is external, and a handler claims its turns');
  }
  // Two requests with one claimId may wait at two ToolHosts: only one gets a turn.
  if (byHandler && turnOfClaim(tx, claimId) !== undefined) throw refuse('this claim was granted another turn');
  if (cellPaused) throw refuse('the cell is paused', true);
}

/** Whether an attempt's claim was answered, as far as is known: one that was handed back was never granted. */
export const isGranted = `failure_json ->> 'code' IS NOT 'handler-disconnected'`;

/** The turn that a handler's claim got, if it got one. */
export function turnOfClaim(reader: SqlReader, claimId: string): string | undefined {
  return reader.get<{ turn: string }>(
    `SELECT turn_id AS turn FROM turn_attempts WHERE engine = 'external' AND claim_id = :claimId AND ${isGranted}`,
    { claimId },
  )?.turn;
}
