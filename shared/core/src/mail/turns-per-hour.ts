import { isExternal } from '../config/sandbox-of.js';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';

/** What an agent that thinks with a model, or for which a handler may ask one, gets where nothing is said. */
export const defaultTurnsPerHour = 120;

const hourMs = 60 * 60 * 1000;

/** How many turns an agent may begin in an hour; undefined where there is no bound. Scripts cost nothing. */
export function turnsPerHour(config: ProjectConfig, agent: string): number | undefined {
  const its = config.agents[agent];
  const limit = its?.maxTurnsPerHour ?? config.scheduler.maxTurnsPerHour;
  if (limit === 'unlimited') return undefined;
  const mayCost = config.backend.runner.mode === 'ai' || (its !== undefined && isExternal(its));
  return limit ?? (mayCost ? defaultTurnsPerHour : undefined);
}

/** What the rule needs to know of an agent's turns. */
export interface RecentTurns {
  /** How many it has had since it was given a fresh allowance. */
  readonly count: number;
  /** When that turn was queued which is `limit` turns back; undefined where it has had fewer. */
  readonly limitBackAtMs: number | undefined;
}

/** Whether an agent has used up what it may begin in an hour. */
export function overTurnsPerHour(limit: number, { count, limitBackAtMs }: RecentTurns, nowMs: number): boolean {
  return count >= limit && limitBackAtMs !== undefined && limitBackAtMs > nowMs - hourMs;
}
