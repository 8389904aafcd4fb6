import { type DayBudget, daySpentMessage, isDaySpent } from '@suzumio/core/budgets/day-budget';
import { nanoPerUsd } from '@suzumio/core/budgets/model-cost';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import type { BudgetReached, BudgetView } from '@suzumio/contract/model/budget';
import { isQueued } from '../rows.js';
import type { SqlReader } from '../sqlite/sql.js';
import { budgetsOf } from './budgets-of.js';
import { leastHeld, spentBudgetOf, used } from './usage.js';

/** The project's budget and those of agents that have one, with what is used of each. */
export function listBudgets(reader: SqlReader, config: ProjectConfig): BudgetView[] {
  const budgets = budgetsOf(reader, config);
  const owners = [undefined, ...Object.keys(config.agents)];
  return owners.flatMap((agent) => {
    const budget = budgets(agent);
    if (agent !== undefined && (budget === undefined || Object.keys(budget).length === 0)) return [];
    const { tokens, nanoUsd } = used(reader, agent);
    const turns = reader.get<{ turns: number }>(
      'SELECT coalesce(sum(turns), 0) AS turns FROM agents WHERE :agent IS NULL OR id = :agent',
      { agent: agent ?? null },
    );
    const of = (limit: number | undefined, spent: number) => ({ limit: limit ?? null, used: spent });
    return {
      agent: agent ?? null,
      tokens: of(budget?.tokens, tokens),
      usd: of(budget?.usd, nanoUsd / nanoPerUsd),
      turns: of(budget?.turns, turns?.turns ?? 0),
    };
  });
}

/** The exhausted budgets: agents' own, the project's, and the cell's for the day. */
export function budgetsReached(reader: SqlReader, config: ProjectConfig, day?: DayBudget): BudgetReached[] {
  const budgets = budgetsOf(reader, config);
  const reached = [undefined, ...Object.keys(config.agents)].flatMap((agent) => {
    const reached = spentBudgetOf(reader, budgets(agent), agent);
    return reached ? { agent: agent ?? null, limit: reached.limit, message: reached.message } : [];
  });
  return [...reached, ...dayReached(reader, config, day)];
}

/** The agents that the day's budget keeps waiting: nothing is left of it, or too little for their next call. */
function dayReached(reader: SqlReader, config: ProjectConfig, day: DayBudget | undefined): BudgetReached[] {
  if (!day) return [];
  const waiting = reader.all<{ agent: string }>(
    `SELECT agent_id AS agent FROM turns WHERE ${isQueued} AND waits_for = :gate`,
    { gate: day.gate },
  );
  const refused = new Set(waiting.map(({ agent }) => agent));
  const all = Object.keys(config.agents);
  const agents = all.filter((agent) => refused.has(agent) || isDaySpent(day, leastHeld(config, agent)));
  const named = agents.length === all.length ? [null] : agents;
  return named.map((agent) => ({ agent, limit: 'usd', message: daySpentMessage(day) }));
}
