import { type DayBudget, isDaySpent } from '@suzumio/core/budgets/day-budget';
import { readyAgents, type SchedulableAgent } from '@suzumio/core/mail/schedule';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import type { AgentState } from '@suzumio/contract/model/states';
import type { Priority } from '@suzumio/protocol/ids';
import { overTurnsPerHour, turnsPerHour } from '@suzumio/core/mail/turns-per-hour';
import { agentRow, projectRow } from '../rows.js';
import { budgetsOf } from '../budgets/budgets-of.js';
import { leastHeld, spentBudget, spentBudgetOf } from '../budgets/usage.js';
import { newestVersion } from '../sqlite/configs.js';
import type { SqlReader } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';
import { pauseAgent } from '../protection/pause.js';

/**
 * Agents with unread mail that are not paused, as the scheduling rule sees them. Reads only the inbox, whose size is
 * that of the unread mail.
 */
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

/** Limits on turns from outside the project. */
export interface CellBounds {
  /** The cell's budget for the day: agents with too little left for a call wait for the next. */
  day?: DayBudget | undefined;
  /** Circuits that are open now: turns that wait for them hold no slot. */
  closed?: readonly string[];
  /** Whether only agents begin whose turns keep no workspace here, those of handlers. */
  withoutWorkspaces?: boolean;
}

/** The agents that the mailbox rule gives a turn now, in order. */
export function agentsToStart(
  reader: SqlReader,
  config: ProjectConfig,
  { day, closed, withoutWorkspaces = false }: CellBounds = {},
): { agent: string; priority: Priority }[] {
  const { status, paused_json } = projectRow(reader);
  if (status !== 'running' || paused_json !== null) return [];
  const waiting = agentsWithMail(reader).filter(({ external }) => external || !withoutWorkspaces);
  if (waiting.length === 0) return [];
  const budgets = budgetsOf(reader, config);
  const isSpent = (agent?: string) => spentBudgetOf(reader, budgets(agent), agent) !== undefined;
  if (isSpent()) return [];
  const agents = waiting.filter(({ id }) => !isSpent(id) && !isDaySpent(day, leastHeld(config, id)));
  if (agents.length === 0) return [];
  const { maxConcurrentTurns } = config.scheduler;
  const project = {
    status,
    freeSlots: maxConcurrentTurns === undefined ? Infinity : maxConcurrentTurns - activeTurns(reader, closed),
  };
  const urgency = new Map(agents.map(({ id, unread }) => [id, unread.urgent]));
  return readyAgents(project, agents).map((agent) => ({ agent, priority: urgency.get(agent) ?? 'P1' }));
}

/**
 * Applies the mailbox rule: queues one turn for each agent that is ready, and returns those turns. An agent past its
 * hourly limit is paused instead, and makes room for the next.
 */
export function startTurns(tx: Tx, bounds?: CellBounds): string[] {
  for (;;) {
    const ready = agentsToStart(tx, tx.config, bounds);
    const over = ready.filter(({ agent }) => pauseWhereOver(tx, agent));
    if (over.length === 0) return ready.map(({ agent, priority }) => startTurn(tx, agent, priority));
  }
}

/** Pauses an agent past its hourly limit: it may be in an expensive loop, so a person has to look. */
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
 * Queued and running turns that count towards `maxConcurrentTurns`: not those of handlers, nor those that wait for a
 * provider or for their agent to be resumed.
 *
 * @param closed the open circuits; without it, turns that wait for any circuit are left out
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

/** A unique index on active turns refuses a second one from any caller. */
function startTurn(tx: Tx, agent: string, priority: Priority): string {
  const turn = tx.newId('turn');
  const counted = tx.get<{ turns: number }>('UPDATE agents SET turns = turns + 1 WHERE id = :agent RETURNING turns', {
    agent,
  });
  const number = counted?.turns ?? 1;
  tx.insert('turns', {
    id: turn,
    agent_id: agent,
    number,
    status: 'queued',
    priority,
    config_version: newestVersion(tx),
    queued_at_ms: tx.nowMs,
  });
  tx.run(
    `UPDATE agents SET state = 'running', active_turn_id = :turn, failure_json = NULL, state_at_ms = :now WHERE id = :agent`,
    { turn, agent, now: tx.nowMs },
  );
  tx.emit({ type: 'turn.queued', actor: 'system', agent, turn, data: { number, priority } });
  const spent = spentBudget(tx, tx.config, agent);
  if (spent?.limit === 'turns') tx.emit({ type: 'budget.reached', actor: 'system', agent, data: { ...spent } });
  return turn;
}
