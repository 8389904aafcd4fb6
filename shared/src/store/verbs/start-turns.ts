import { readyAgents, type SchedulableAgent } from '../../mailbox/schedule.js';
import type { ProjectConfig } from '../../model/project-config.js';
import type { AgentState } from '../../model/states.js';
import type { Priority } from '../../protocol/ids.js';
import { projectRow } from '../rows.js';
import { spentBudget } from '../queries/usage.js';
import type { SqlReader } from '../sql.js';
import type { Tx } from '../tx.js';

/** Agents with unread mail, as the scheduling rule sees them. Reads the inbox only: its size is the unread mail. */
export function agentsWithMail(reader: SqlReader): SchedulableAgent[] {
  return reader
    .all<{ id: string; state: AgentState; count: number; urgent: Priority; oldest: number }>(
      `SELECT agents.id, agents.state, count(*) AS count, min(inbox.priority) AS urgent, min(inbox.message_seq) AS oldest
       FROM inbox JOIN agents ON agents.id = inbox.recipient GROUP BY inbox.recipient`,
    )
    .map(({ id, state, count, urgent, oldest }) => ({ id, state, unread: { count, urgent, oldestSeq: oldest } }));
}

/** The agents that the mailbox rule gives a turn now, in the order in which they get it. */
export function agentsToStart(reader: SqlReader, config: ProjectConfig): { agent: string; priority: Priority }[] {
  const { status } = projectRow(reader);
  if (status !== 'running') return [];
  const agents = agentsWithMail(reader).filter(({ id }) => spentBudget(reader, config, id) === undefined);
  if (agents.length === 0) return [];
  const { maxConcurrentTurns } = config.scheduler;
  const project = {
    status,
    activeTurns: activeTurns(reader),
    ...(maxConcurrentTurns === undefined ? {} : { maxConcurrentTurns }),
  };
  const urgency = new Map(agents.map(({ id, unread }) => [id, unread.urgent]));
  return readyAgents(project, agents).map((agent) => ({ agent, priority: urgency.get(agent) ?? 'P1' }));
}

/** Applies the mailbox rule: queues one turn for each agent that is ready, and returns those turns. */
export function startTurns(tx: Tx): string[] {
  return agentsToStart(tx, tx.config).map(({ agent, priority }) => startTurn(tx, agent, priority));
}

/** Turns that are queued or running. */
export function activeTurns(reader: SqlReader): number {
  const row = reader.get<{ count: number }>(
    `SELECT count(*) AS count FROM turns WHERE status IN ('queued', 'running')`,
  );
  return row?.count ?? 0;
}

/** The unique index on active turns refuses a second one, whatever called this. */
function startTurn(tx: Tx, agent: string, priority: Priority): string {
  const turn = tx.newId('turn');
  tx.run('UPDATE agents SET turns = turns + 1 WHERE id = :agent', { agent });
  const number = tx.get<{ turns: number }>('SELECT turns FROM agents WHERE id = :agent', { agent })?.turns ?? 1;
  tx.insert('turns', { id: turn, agent_id: agent, number, status: 'queued', priority, queued_at_ms: tx.nowMs });
  tx.run(
    `UPDATE agents SET state = 'running', active_turn_id = :turn, failure_json = NULL, state_at_ms = :now WHERE id = :agent`,
    { turn, agent, now: tx.nowMs },
  );
  tx.emit({ type: 'turn.queued', actor: 'system', agent, turn, data: { number, priority } });
  const spent = spentBudget(tx, tx.config, agent);
  if (spent?.limit === 'turns') tx.emit({ type: 'budget.reached', actor: 'system', agent, data: { ...spent } });
  return turn;
}
