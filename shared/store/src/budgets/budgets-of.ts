import type { BudgetChange } from '@suzumio/contract/model/budget';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import type { SqlReader } from '../sqlite/sql.js';

export type Budget = NonNullable<ProjectConfig['budget']>;

/**
 * Budgets as they are now: the project file's, with what an operator has changed since.
 *
 * @returns an agent's own budget; without an agent, the project's
 */
export function budgetsOf(reader: SqlReader, config: ProjectConfig): (agent?: string) => Budget | undefined {
  const rows = reader.all<{ agent_id: string; budget_json: string }>(
    'SELECT agent_id, budget_json FROM budget_changes',
  );
  const changes = new Map(rows.map(({ agent_id: agent, budget_json: json }) => [agent, json]));
  return (agent) => {
    const written = agent === undefined ? config.budget : config.agents[agent]?.budget;
    const change = changes.get(agent ?? '');
    return change === undefined ? written : changed(written, JSON.parse(change) as BudgetChange);
  };
}

function changed(written: Budget | undefined, change: BudgetChange): Budget {
  const limits = Object.entries({ ...written, ...change }).filter(([, limit]) => limit !== 'unlimited');
  return Object.fromEntries(limits);
}

/** Whether any budget limits what a call of this project may cost. */
export function hasBudget(reader: SqlReader, config: ProjectConfig): boolean {
  return (
    config.budget !== undefined ||
    Object.values(config.agents).some(({ budget }) => budget !== undefined) ||
    reader.get('SELECT 1 FROM budget_changes LIMIT 1') !== undefined
  );
}
