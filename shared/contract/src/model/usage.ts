import * as z from 'zod';
import { storedView } from './storage.js';

/** What usage can be grouped by. */
export const usageGroups = ['project', 'agent', 'model', 'day'] as const;
export type UsageGroup = (typeof usageGroups)[number];

/** Two of them at once: the second within each of the first. */
export const usagePairs = [
  'day,project',
  'day,agent',
  'day,model',
  'agent,model',
] as const satisfies readonly `${UsageGroup},${UsageGroup}`[];

/** Of a second thing that usage is grouped by, the most expensive are named; the others of each group are added up. */
export const mostNamed = 20;

/** The usage of model calls. */
export const usageFigures = z.object({
  calls: z.int().describe('Calls that were answered.'),
  inputTokens: z.int(),
  outputTokens: z.int(),
  cachedTokens: z.int().describe('How many of the input tokens the providers read from their caches.'),
  costUsd: z.number(),
  estimatedShare: z
    .number()
    .describe('Which part of the tokens was estimated, because the provider counted none: from 0 to 1.'),
});
export type UsageFigures = z.infer<typeof usageFigures>;

export const usageRow = usageFigures.extend({
  project: z.string().nullable().describe('The project that it is of; null where several are added up.'),
  key: z.string().describe('The project, the agent, the model or the day (of UTC).'),
  and: z
    .exactOptional(z.string().nullable())
    .describe('The same of what `and` of the answer says; null where the others of this `key` are added up.'),
});
export type UsageRow = z.infer<typeof usageRow>;

/** The whole cell's spending on a day, and its budget. */
export const daySpending = z.object({
  day: z.string(),
  spentUsd: z.number(),
  heldUsd: z.number().describe('By calls that are being made, at their worst.'),
  budgetUsd: z.number().nullable().describe('Null where the day has no budget.'),
  leftUsd: z.number().nullable(),
});
export type DaySpendingView = z.infer<typeof daySpending>;

export const usageAnswer = z.object({
  by: z.enum(usageGroups),
  and: z.exactOptional(z.enum(usageGroups)).describe('What calls are added up by besides, where two were asked for.'),
  items: z
    .array(usageRow)
    .describe(
      'The most expensive first, days in their order; a thousand at the most, days and others whole. With `and`, rows of one `key` follow each other.',
    ),
  more: z.int().describe('How many more there are.'),
  total: usageFigures,
  today: daySpending.nullable().describe('Null for a token that is for one project.'),
  stored: storedView.describe('What is stored of these projects.'),
});
export type UsageAnswer = z.infer<typeof usageAnswer>;
