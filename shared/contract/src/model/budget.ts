import { z } from 'zod';
import { budgetConfig } from './project-config.js';

const limits = budgetConfig.shape;
const unlimited = z.literal('unlimited');

/** Limits that an operator has set over those of the project file; what is not named stays as it is there. */
export const budgetChange = z.strictObject({
  tokens: z.exactOptional(z.union([unlimited, limits.tokens.unwrap()])),
  usd: z.exactOptional(z.union([unlimited, limits.usd.unwrap()])),
  turns: z.exactOptional(z.union([unlimited, limits.turns.unwrap()])),
});
export type BudgetChange = z.infer<typeof budgetChange>;

/** What may be used, null where there is no bound, and what has been, held back for calls that run included. */
const use = z.object({ limit: z.number().nullable(), used: z.number() });

export const budgetView = z.object({
  agent: z.string().nullable().describe("Whose it is; null for the project's own."),
  tokens: use,
  usd: use,
  turns: use,
});
export type BudgetView = z.infer<typeof budgetView>;

/** A budget that is used up: it starts no turns. */
export const budgetReached = z.object({
  agent: z.string().nullable(),
  limit: z.enum(['tokens', 'usd', 'turns']),
  message: z.string(),
});
export type BudgetReached = z.infer<typeof budgetReached>;
