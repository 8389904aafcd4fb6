import type { BudgetView } from '@suzumio/contract/model/budget';
import type { UsageAnswer, UsageFigures, UsageGroup, UsageRow } from '@suzumio/contract/model/usage';
import { oneLine } from '@suzumio/core/prompt/body';
import type { Session } from '../session.js';
import { cost, dollars, tokensIn } from './format.js';
import { type Cell, table } from './table.js';

/** What was used, a line for each, and the sum of all below where there are several. */
export function usageTable({ by, and, items, total }: UsageAnswer, { context }: Session): string[] {
  const several = new Set(items.map(({ project }) => project)).size > 1;
  const name = (group: UsageGroup, { project }: UsageRow, text: string) =>
    oneLine(group === 'agent' && several ? `${project ?? ''} ${text}` : text);
  const names = (row: UsageRow) => [
    name(by, row, row.key),
    ...(and === undefined ? [] : [row.and == null ? 'others' : name(and, row, row.and)]),
  ];
  const headings = [by, ...(and === undefined ? [] : [and])].map((group) => group.toUpperCase());
  return table(
    [...headings, 'CALLS', 'TOKENS IN', 'TOKENS OUT', 'COST', 'ESTIMATED'],
    [
      ...items.map((row) => [...names(row), ...figures(row)]),
      ...(items.length > 1 ? [[...headings.map((_, at) => (at === 0 ? 'total' : '')), ...figures(total)]] : []),
    ],
    context.out,
  );
}

function figures(used: UsageFigures): string[] {
  const { calls, outputTokens, costUsd, estimatedShare } = used;
  const estimated = estimatedShare === 0 ? '-' : `${Math.max(1, Math.round(estimatedShare * 100))}%`;
  return [String(calls), tokensIn(used), String(outputTokens), cost(costUsd), estimated];
}

/** What may be used, and has been. */
export function budgetTable(budgets: readonly BudgetView[], { context }: Session): string[] {
  return table(
    ['BUDGET OF', 'COST', 'TOKENS', 'TURNS'],
    budgets.map(({ agent, usd, tokens, turns }) => [
      agent ?? 'the project',
      use(usd, dollars),
      use(tokens, String),
      use(turns, String),
    ]),
    context.out,
  );
}

function use({ limit, used }: BudgetView['usd'], written: (amount: number) => string): Cell {
  if (limit === null) return `${written(used)}, unlimited`;
  const text = `${written(used)} of ${written(limit)}`;
  return used >= limit ? [text, 'bad'] : text;
}
