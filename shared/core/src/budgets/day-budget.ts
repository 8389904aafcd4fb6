import { dollars } from './model-cost.js';

/** What the whole cell has spent on a day, in billionths of a dollar. Days are those of UTC. */
export interface DaySpending {
  day: string;
  spentNanoUsd: number;
  /** By calls that are being made, at their worst. */
  heldNanoUsd: number;
}

/** A day, where the operator bounds what it may cost. */
export interface DayBudget extends DaySpending {
  limitNanoUsd: number;
  /** When it ends, and the next one begins. */
  endsMs: number;
  /** Names the day and its limit: what waits for room in it is over with either of them. */
  gate: string;
}

const dayMs = 24 * 60 * 60 * 1000;

/** A day with its limit. */
export function dayBudget(day: DaySpending, limitNanoUsd: number): DayBudget {
  const limit = Math.round(limitNanoUsd);
  const endsMs = Date.parse(`${day.day}T00:00:00Z`) + dayMs;
  return { ...day, limitNanoUsd: limit, endsMs, gate: `day-budget/${day.day}/${limit}` };
}

/**
 * Whether the rest of a day has no room for a call. One that no day has room for does not count; that is for a person to
 * see.
 */
export function isDaySpent(day: DayBudget | null | undefined, nanoUsd: number): day is DayBudget {
  return day != null && nanoUsd <= day.limitNanoUsd && day.spentNanoUsd + nanoUsd > day.limitNanoUsd;
}

/** That a day is spent, for a person. */
export function daySpentMessage({ limitNanoUsd, spentNanoUsd }: DayBudget): string {
  return `The day's budget of all projects, ${dollars(limitNanoUsd)}, is reached: ${dollars(spentNanoUsd)} is spent. Turns go on at midnight UTC, or when it is raised.`;
}
