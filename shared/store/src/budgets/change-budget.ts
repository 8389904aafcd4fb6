import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { BudgetChange } from '@suzumio/contract/model/budget';
import { agentRow } from '../rows.js';
import type { Tx } from '../sqlite/tx.js';

/**
 * Sets limits of a project's budget, or of one agent's, over those of the project file. What has been used stays used.
 *
 * @param agent whose; without it, the project's
 * @throws SuzumioError `agent-unknown`; `budget-refused` for dollars where a preset has no price to count them by
 */
export function changeBudget(tx: Tx, agent: string | undefined, change: BudgetChange, actor: string): void {
  if (agent !== undefined) agentRow(tx, agent);
  if (typeof change.usd === 'number') assertPriced(tx);
  const row = tx.get<{ budget_json: string }>('SELECT budget_json FROM budget_changes WHERE agent_id = :agent', {
    agent: agent ?? '',
  });
  const all: BudgetChange = { ...(row ? (JSON.parse(row.budget_json) as BudgetChange) : {}), ...change };
  tx.run(
    `INSERT INTO budget_changes (agent_id, budget_json, changed_by, changed_at_ms) VALUES (:agent, :budget, :actor, :now)
     ON CONFLICT (agent_id) DO UPDATE SET budget_json = :budget, changed_by = :actor, changed_at_ms = :now`,
    { agent: agent ?? '', budget: JSON.stringify(all), actor, now: tx.nowMs },
  );
  tx.emit({ type: 'budget.changed', actor, agent, data: { ...change } });
}

function assertPriced(tx: Tx): void {
  const presets = Object.entries(tx.config.backend.runner.models?.presets ?? {});
  const [unpriced] = presets.find(([, preset]) => !('model-list' in preset) && preset.price === undefined) ?? [];
  if (unpriced === undefined) return;
  throw new SuzumioError(
    'budget-refused',
    `Preset ${unpriced} of the project file has no price, so dollars cannot be counted: set a budget of tokens or turns.`,
    { preset: unpriced },
  );
}
