import { SuzumioError } from '../../errors/suzumio-error.js';
import { agentRow, type TurnRow } from '../rows.js';
import type { Tx } from '../tx.js';

/**
 * Puts the failed turn of a failed agent back in the queue: the next attempt goes on from the journal, with fresh
 * allowances.
 *
 * @throws SuzumioError `agent-unknown`, `agent-state-refused`
 */
export function retryTurn(tx: Tx, agentId: string, actor: string): { turn: string; number: number } {
  const agent = agentRow(tx, agentId);
  const turn = tx.get<TurnRow>('SELECT * FROM turns WHERE agent_id = :agent ORDER BY number DESC LIMIT 1', {
    agent: agent.id,
  });
  if (agent.state !== 'failed' || turn?.status !== 'failed') {
    throw new SuzumioError(
      'agent-state-refused',
      `Agent ${agent.id} is ${agent.state}; only the turn of a failed agent can be retried.`,
      { agent: agent.id, state: agent.state },
    );
  }
  tx.run(
    `UPDATE turns SET status = 'queued', allowance_from = attempt, queued_at_ms = :now, not_before_ms = 0,
       avoid_worker = NULL, failure_json = NULL, ended_at_ms = NULL WHERE id = :turn`,
    { turn: turn.id, now: tx.nowMs },
  );
  tx.run(
    `UPDATE agents SET state = 'running', active_turn_id = :turn, failure_json = NULL, state_at_ms = :now WHERE id = :agent`,
    { agent: agent.id, turn: turn.id, now: tx.nowMs },
  );
  tx.emit({ type: 'turn.queued', actor, agent: agent.id, turn: turn.id, data: { number: turn.number, retry: true } });
  return { turn: turn.id, number: turn.number };
}
