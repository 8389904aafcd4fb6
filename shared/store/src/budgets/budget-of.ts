import type { BudgetChange } from '@suzumio/contract/model/budget';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import type { SqlReader } from '../sqlite/sql.js';

export type Budget = NonNullable<ProjectConfig['budget']>;

/**
 * A budget as it is now: the project file's, with what an operator has changed since.
 *
 * @param agent whose; without it, the project's
 */
export function budgetOf(reader: SqlReader, config: ProjectConfig, agent?: string): Budget | undefined {
  const written = agent === undefined ? config.budget : config.agents[agent]?.budget;
  const row = reader.get<{ budget_json: string }>('SELECT budget_json FROM budget_changes WHERE agent_id = :agent', {
    agent: agent ?? '',
  });
  return row ? changed(written, JSON.parse(row.budget_json) as BudgetChange) : written;
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
