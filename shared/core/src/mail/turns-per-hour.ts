import { isExternal } from '../config/sandbox-of.js';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';

/** The default limit of an agent that calls a model, or whose handler may. */
export const defaultTurnsPerHour = 120;

const hourMs = 60 * 60 * 1000;

/** How many turns an agent may begin in an hour; undefined where there is no limit. Scripts cost nothing. */
export function turnsPerHour(config: ProjectConfig, agent: string): number | undefined {
  const its = config.agents[agent];
  const limit = its?.maxTurnsPerHour ?? config.scheduler.maxTurnsPerHour;
  if (limit === 'unlimited') return undefined;
  const mayCost = config.backend.runner.mode === 'ai' || (its !== undefined && isExternal(its));
  return limit ?? (mayCost ? defaultTurnsPerHour : undefined);
}

/** An agent's turns, as the rule sees them. */
export interface RecentTurns {
  /** How many it has had since its limit was last reset. */
  readonly count: number;
  /** When the turn `limit` turns back was queued; undefined where there were fewer. */
  readonly limitBackAtMs: number | undefined;
}

/** Whether an agent has reached its hourly limit. */
export function overTurnsPerHour(limit: number, { count, limitBackAtMs }: RecentTurns, nowMs: number): boolean {
  return count >= limit && limitBackAtMs !== undefined && limitBackAtMs > nowMs - hourMs;
}
