import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { cloneOf } from '@suzumio/core/config/sandbox-of';
import { assertAgentAllows } from '@suzumio/core/failures/agent-actions';
import { agentRow, stateOf, type TurnRow } from '../rows.js';
import type { SqlReader } from '../sqlite/sql.js';
import { baseRow } from './workspace-base-row.js';
import type { Tx } from '../sqlite/tx.js';

/**
 * Queues an agent's last turn again, where it failed or was cancelled: the next attempt resumes from the journal, with
 * fresh limits. A turn whose mail was partly delivered again is over for good.
 *
 * @throws SuzumioError `agent-unknown`, `agent-state-refused`
 */
export function retryTurn(tx: Tx, agentId: string, actor: string): { turn: string; number: number } {
  const agent = agentRow(tx, agentId);
  assertAgentAllows({ id: agent.id, state: stateOf(agent), stopping: agent.stopping === 1 }, 'retry');
  const turn = tx.get<TurnRow>('SELECT * FROM turns WHERE agent_id = :agent ORDER BY number DESC LIMIT 1', {
    agent: agent.id,
  });
  if (!turn || !(agent.state === 'failed' ? turn.status === 'failed' : canGoOn(turn))) {
    const why = turn === undefined ? 'has had no turn yet' : `its turn ${turn.number} is ${turn.status}`;
    throw new SuzumioError(
      'agent-state-refused',
      `Agent ${agent.id} is ${agent.state} and ${why}: there is nothing to retry.`,
      { agent: agent.id, state: agent.state },
    );
  }
  if (wasGivenBack(tx, turn.id)) {
    throw new SuzumioError(
      'agent-state-refused',
      `Mail of turn ${turn.number} of ${agent.id} was delivered again, so that turn cannot go on with it: reset the agent.`,
      { agent: agent.id, state: agent.state },
    );
  }
  if (beginsWithOtherFiles(tx, turn)) {
    throw new SuzumioError(
      'agent-state-refused',
      `The project's file has other files for ${agent.id} by now, which turn ${turn.number} would not begin with: reset the agent.`,
      { agent: agent.id, state: agent.state },
    );
  }
  tx.run(
    `UPDATE turns SET status = 'queued', allowance_from = attempt, queued_at_ms = :now, not_before_ms = 0,
       avoid_worker = NULL, waits_for = NULL, failure_json = NULL, ended_at_ms = NULL WHERE id = :turn`,
    { turn: turn.id, now: tx.nowMs },
  );
  tx.run(
    `UPDATE agents SET state = 'running', active_turn_id = :turn, failure_json = NULL, state_at_ms = :now WHERE id = :agent`,
    { agent: agent.id, turn: turn.id, now: tx.nowMs },
  );
  tx.emit({ type: 'turn.queued', actor, agent: agent.id, turn: turn.id, data: { number: turn.number, retry: true } });
  return { turn: turn.id, number: turn.number };
}

/** Whether a turn was cancelled while it worked. */
function canGoOn({ status, attempt }: TurnRow): boolean {
  return status === 'cancelled' && attempt > 0;
}

/** Whether a turn would make its agent's workspace a clone of another repository than the newest version of the file says. */
function beginsWithOtherFiles(tx: Tx, { agent_id: agent, config_version: version }: TurnRow): boolean {
  if (baseRow(tx, agent) !== undefined) return false;
  const places = [tx.configAt(version), tx.config].map((config) => {
    const { git, depth, branch } = cloneOf(config, agent) ?? {};
    return JSON.stringify([git, depth, branch]);
  });
  return places[0] !== places[1];
}

/** Whether some mail of a turn's prompt is unread again or another turn's. */
function wasGivenBack(reader: SqlReader, turn: string): boolean {
  return (
    reader.get('SELECT 1 FROM message_reads WHERE turn_id = :turn AND voided_at_ms IS NOT NULL LIMIT 1', { turn }) !==
    undefined
  );
}
