import { type DayBudget, isDaySpent } from '@suzumio/core/budgets/day-budget';
import { readyAgents, type SchedulableAgent } from '@suzumio/core/mail/schedule';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import type { AgentState } from '@suzumio/contract/model/states';
import type { Priority } from '@suzumio/protocol/ids';
import { overTurnsPerHour, turnsPerHour } from '@suzumio/core/mail/turns-per-hour';
import { agentRow, projectRow } from '../rows.js';
import { leastHeld, spentBudget } from '../budgets/usage.js';
import type { SqlReader } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';
import { pauseAgent } from '../protection/pause.js';

/** Agents with unread mail that nobody has paused, as the scheduling rule sees them. Reads the inbox only: its size is the unread mail. */
export function agentsWithMail(reader: SqlReader): SchedulableAgent[] {
  return reader
    .all<{ id: string; state: AgentState; external: number; count: number; urgent: Priority; oldest: number }>(
      `SELECT agents.id, agents.state, agents.external, count(*) AS count, min(inbox.priority) AS urgent, min(inbox.message_seq) AS oldest
       FROM inbox JOIN agents ON agents.id = inbox.recipient WHERE paused_json IS NULL GROUP BY inbox.recipient`,
    )
    .map(({ id, state, external, count, urgent, oldest }) => ({
      id,
      state,
      external: external === 1,
      unread: { count, urgent, oldestSeq: oldest },
    }));
}

/** What bounds turns beside the project itself. */
export interface CellBounds {
  /** The budget of the cell's day: who could ask nothing any more waits for the next. */
  day?: DayBudget | undefined;
  /** What nobody may ask now: turns that wait for it hold no slot. */
  closed?: readonly string[];
}

/** The agents that the mailbox rule gives a turn now, in the order in which they get it. */
export function agentsToStart(
  reader: SqlReader,
  config: ProjectConfig,
  { day, closed }: CellBounds = {},
): { agent: string; priority: Priority }[] {
  const { status, paused_json } = projectRow(reader);
  if (status !== 'running' || paused_json !== null) return [];
  const agents = agentsWithMail(reader).filter(
    ({ id }) => spentBudget(reader, config, id) === undefined && !isDaySpent(day, leastHeld(config, id)),
  );
  if (agents.length === 0) return [];
  const { maxConcurrentTurns } = config.scheduler;
  const project = {
    status,
    activeTurns: activeTurns(reader, closed),
    ...(maxConcurrentTurns === undefined ? {} : { maxConcurrentTurns }),
  };
  const urgency = new Map(agents.map(({ id, unread }) => [id, unread.urgent]));
  return readyAgents(project, agents).map((agent) => ({ agent, priority: urgency.get(agent) ?? 'P1' }));
}

/**
 * Applies the mailbox rule: queues one turn for each agent that is ready, and returns those turns. An agent that has begun
 * more in the last hour than it may is paused instead, and makes room for the next.
 */
export function startTurns(tx: Tx, bounds?: CellBounds): string[] {
  for (;;) {
    const ready = agentsToStart(tx, tx.config, bounds);
    const over = ready.filter(({ agent }) => pauseWhereOver(tx, agent));
    if (over.length === 0) return ready.map(({ agent, priority }) => startTurn(tx, agent, priority));
  }
}

/** Who goes round too fast costs money that nobody meant to spend, so a person has to look. */
function pauseWhereOver(tx: Tx, agent: string): boolean {
  const limit = turnsPerHour(tx.config, agent);
  if (limit === undefined) return false;
  const { turns, hour_from_turn } = agentRow(tx, agent);
  const limitBackAtMs = tx.get<{ at: number }>(
    'SELECT queued_at_ms AS at FROM turns WHERE agent_id = :agent AND number = :number',
    { agent, number: turns - limit + 1 },
  )?.at;
  if (!overTurnsPerHour(limit, { count: turns - hour_from_turn, limitBackAtMs }, tx.nowMs)) return false;
  const reason = `It began ${String(limit)} turns within an hour, which is as many as it may (maxTurnsPerHour).`;
  pauseAgent(tx, agent, { actor: 'system', reason, limit: 'maxTurnsPerHour' });
  return true;
}

/**
 * Turns that are queued or running and that count in `maxConcurrentTurns`: not those that handlers run, nor those that
 * wait until somebody resumes their agent, or for a provider.
 *
 * @param closed what nobody may ask now; without it, whatever a turn waits for
 */
export function activeTurns(reader: SqlReader, closed?: readonly string[]): number {
  const row = reader.get<{ count: number }>(
    `SELECT count(*) AS count FROM turns WHERE status IN ('queued', 'running')
       AND NOT (status = 'queued' AND waits_for IS NOT NULL AND delivered_at_ms IS NULL
         AND (:closed IS NULL OR waits_for IN (SELECT value FROM json_each(:closed))))
       AND NOT EXISTS (SELECT 1 FROM agents WHERE agents.id = agent_id
         AND (external = 1 OR (turns.status = 'queued' AND paused_json IS NOT NULL)))`,
    { closed: closed === undefined ? null : JSON.stringify(closed) },
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
