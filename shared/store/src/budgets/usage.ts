import { type Cost, dollars, nanoPerUsd, worstCost } from '@suzumio/core/budgets/model-cost';
import { candidatesFor, presetOf } from '@suzumio/core/budgets/presets';
import { isExternal } from '@suzumio/core/config/sandbox-of';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import type { SqlReader } from '../sqlite/sql.js';
import { type Budget, budgetsOf } from './budgets-of.js';
import type { Tx } from '../sqlite/tx.js';

/** A budget that a call would exceed. */
export interface ExhaustedBudget {
  /** The owner: an agent's id, or `project`. */
  of: string;
  limit: 'tokens' | 'usd' | 'turns';
  message: string;
}

/** What is spent, and what running calls have reserved. */
interface Use {
  spent: Cost;
  held: Cost;
}

const nothing: Cost = { tokens: 0, nanoUsd: 0 };

/** A budget that a call would exceed, and why. */
export interface BudgetPassed extends ExhaustedBudget {
  /** Whether only reservations of running calls are in the way: once those calls end, there may be room. */
  onlyHeld: boolean;
}

/**
 * The budget that a call would exceed at its worst-case cost, reservations of running calls included. A budget with no
 * room whatever those calls end up costing comes first.
 *
 * @param agent who makes the call: its own budget counts, and the project's
 */
export function exhaustedBudget(tx: Tx, agent: string, worst: Cost): BudgetPassed | undefined {
  const budgets = budgetsOf(tx, tx.config);
  const own = budgets(agent);
  const budget = budgets();
  const uses = [
    ...(own ? [{ of: agent, budget: own, use: useOf(tx, agent) }] : []),
    ...(budget ? [{ of: 'project', budget, use: useOf(tx) }] : []),
  ];
  for (const onlyHeld of [false, true]) {
    for (const { of, budget: bound, use } of uses) {
      const reached = passed(of, bound, onlyHeld ? use : { ...use, held: nothing }, worst);
      if (reached) return { ...reached, onlyHeld };
    }
  }
  return undefined;
}

/**
 * The smallest reservation that any call of an agent needs: its longest answer. Zero for an agent that calls no models
 * through the gateway.
 */
export function leastHeld(config: ProjectConfig, agent: string): number {
  const { runner } = config.backend;
  if (runner.mode !== 'ai' || isExternal(config.agents[agent] ?? {}) || !presetOf(config, agent)) return 0;
  return worstCost(candidatesFor(config, agent), { bytes: 0, images: [] }).nanoUsd;
}

/** The exhausted budget that keeps an agent from new turns: its own or the project's. */
export function spentBudget(reader: SqlReader, config: ProjectConfig, agent: string): ExhaustedBudget | undefined {
  const budgets = budgetsOf(reader, config);
  return spentBudgetOf(reader, budgets(agent), agent) ?? spentBudgetOf(reader, budgets());
}

/** Whether one budget is exhausted: an agent's, or, without an agent, the project's. */
export function spentBudgetOf(
  reader: SqlReader,
  budget: Budget | undefined,
  agent?: string,
): ExhaustedBudget | undefined {
  if (budget === undefined) return undefined;
  const of = agent ?? 'project';
  if (budget.turns !== undefined) {
    const turns = reader.get<{ turns: number }>(
      'SELECT coalesce(sum(turns), 0) AS turns FROM agents WHERE :agent IS NULL OR id = :agent',
      { agent: agent ?? null },
    )?.turns;
    if ((turns ?? 0) >= budget.turns) {
      return {
        of,
        limit: 'turns',
        message: `${whoseBudget(of)} of ${budget.turns} ${budget.turns === 1 ? 'turn' : 'turns'} is used up.`,
      };
    }
  }
  if (budget.tokens === undefined && budget.usd === undefined) return undefined;
  return passed(of, budget, { spent: useOf(reader, agent).spent, held: nothing });
}

/** What one agent, or all of them, have spent and reserved. */
export function used(reader: SqlReader, agent?: string): Cost {
  const { spent, held } = useOf(reader, agent);
  return { tokens: spent.tokens + held.tokens, nanoUsd: spent.nanoUsd + held.nanoUsd };
}

function useOf(reader: SqlReader, agent?: string): Use {
  const sums = (table: string, tokens: string, usd: string, where: string) =>
    reader.get<{ tokens: number; usd: number }>(
      `SELECT coalesce(sum(${tokens}), 0) AS tokens, coalesce(sum(${usd}), 0) AS usd FROM ${table}
       WHERE ${where} AND (:agent IS NULL OR agent_id = :agent)`,
      { agent: agent ?? null },
    ) ?? { tokens: 0, usd: 0 };
  const spent = sums('agent_usage', 'input_tokens + output_tokens', 'nano_usd', 'true');
  const held = sums('model_calls', 'held_tokens', 'held_nano_usd', `status = 'running'`);
  return { spent: { tokens: spent.tokens, nanoUsd: spent.usd }, held: { tokens: held.tokens, nanoUsd: held.usd } };
}

/** @param call the call's worst-case cost; without it, whether anything is left at all */
function passed(of: string, budget: Budget, { spent, held }: Use, call?: Cost): ExhaustedBudget | undefined {
  const whose = whoseBudget(of);
  const worst = call ?? { tokens: 1, nanoUsd: 1 };
  const may = (what: string) => (call === undefined ? '' : `, and this call may ${what}`);
  const tokens = spent.tokens + held.tokens;
  if (budget.tokens !== undefined && tokens + worst.tokens > budget.tokens) {
    const message = `${whose} of ${budget.tokens} tokens is reached: ${tokens} are used${may(`use ${worst.tokens}`)}.`;
    return { of, limit: 'tokens', message };
  }
  const nanoUsd = spent.nanoUsd + held.nanoUsd;
  if (budget.usd !== undefined && nanoUsd + worst.nanoUsd > budget.usd * nanoPerUsd) {
    const message = `${whose} of ${dollars(budget.usd * nanoPerUsd)} is reached: ${dollars(nanoUsd)} is spent${may(`cost ${dollars(worst.nanoUsd)}`)}.`;
    return { of, limit: 'usd', message };
  }
  return undefined;
}

function whoseBudget(of: string): string {
  return of === 'project' ? "The project's budget" : `The budget of ${of}`;
}

/** What all agents of a project have used. */
export function projectUsage(reader: SqlReader): {
  calls: number;
  inputTokens: number;
  outputTokens: number;
  nanoUsd: number;
} {
  const row = reader.get<{ calls: number; inputTokens: number; outputTokens: number; nanoUsd: number }>(
    `SELECT coalesce(sum(calls), 0) AS calls, coalesce(sum(input_tokens), 0) AS inputTokens,
       coalesce(sum(output_tokens), 0) AS outputTokens, coalesce(sum(nano_usd), 0) AS nanoUsd FROM agent_usage`,
  );
  return row ?? { calls: 0, inputTokens: 0, outputTokens: 0, nanoUsd: 0 };
}
