import { z } from 'zod';
import { storedView } from './storage.js';

/** What usage is added up by. */
export const usageGroups = ['project', 'agent', 'model', 'day'] as const;
export type UsageGroup = (typeof usageGroups)[number];

/** What calls of models came to. */
export const usageFigures = z.object({
  /** Calls that were answered. */
  calls: z.int(),
  inputTokens: z.int(),
  outputTokens: z.int(),
  costUsd: z.number(),
  /** Which part of the tokens was estimated, because the provider counted none: from 0 to 1. */
  estimatedShare: z.number(),
});
export type UsageFigures = z.infer<typeof usageFigures>;

export const usageRow = usageFigures.extend({
  /** The project that it is of; null where several are added up. */
  project: z.string().nullable(),
  /** The project, the agent, the model or the day (of UTC). */
  key: z.string(),
});
export type UsageRow = z.infer<typeof usageRow>;

/** What the whole cell has spent on a day, and what an operator allows it to. */
export const daySpending = z.object({
  day: z.string(),
  spentUsd: z.number(),
  /** By calls that are being made, at their worst. */
  heldUsd: z.number(),
  /** Null where the day has no budget. */
  budgetUsd: z.number().nullable(),
  leftUsd: z.number().nullable(),
});
export type DaySpendingView = z.infer<typeof daySpending>;

export const usageAnswer = z.object({
  by: z.enum(usageGroups),
  /** The most expensive first, days in their order; a thousand at the most. */
  items: z.array(usageRow),
  /** How many more there are. */
  more: z.int(),
  total: usageFigures,
  /** Null for a token that is for one project. */
  today: daySpending.nullable(),
  /** What is stored of these projects. */
  stored: storedView,
});
export type UsageAnswer = z.infer<typeof usageAnswer>;
