import { dollars } from './model-cost.js';

/** What the whole cell has spent on a day, in billionths of a dollar. Days are those of UTC. */
export interface DaySpending {
  day: string;
  spentNanoUsd: number;
  /** Reserved by running calls, at their worst-case cost. */
  heldNanoUsd: number;
}

/** A day with the operator's budget. */
export interface DayBudget extends DaySpending {
  limitNanoUsd: number;
  /** When it ends, and the next one begins. */
  endsMs: number;
  /** Identifies the day and its limit: a wait for room ends when either changes. */
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
 * Whether the rest of a day has no room for a call. A call that exceeds a whole day's budget does not count: it is
 * refused for that.
 */
export function isDaySpent(day: DayBudget | null | undefined, nanoUsd: number): day is DayBudget {
  return day != null && nanoUsd <= day.limitNanoUsd && day.spentNanoUsd + nanoUsd > day.limitNanoUsd;
}

/** The message that a day's budget is spent. */
export function daySpentMessage({ limitNanoUsd, spentNanoUsd }: DayBudget): string {
  return `The day's budget of all projects, ${dollars(limitNanoUsd)}, is reached: ${dollars(spentNanoUsd)} is spent. Turns go on at midnight UTC, or when it is raised.`;
}
