import * as z from 'zod';
import { budgetConfig } from './project-config.js';

const limits = budgetConfig.shape;
const unlimited = z.literal('unlimited');

/** Limits that override the project file's; absent ones stay. */
export const budgetChange = z.strictObject({
  tokens: z.exactOptional(z.union([unlimited, limits.tokens.unwrap()])),
  usd: z.exactOptional(z.union([unlimited, limits.usd.unwrap()])),
  turns: z.exactOptional(z.union([unlimited, limits.turns.unwrap()])),
});
export type BudgetChange = z.infer<typeof budgetChange>;

/** A limit, null where there is none, and what is used, reservations of running calls included. */
const use = z.object({ limit: z.number().nullable(), used: z.number() });

export const budgetView = z.object({
  agent: z.string().nullable().describe("Whose it is; null for the project's own."),
  tokens: use,
  usd: use,
  turns: use,
});
export type BudgetView = z.infer<typeof budgetView>;

/** An exhausted budget, which starts no turns. */
export const budgetReached = z.object({
  agent: z.string().nullable(),
  limit: z.enum(['tokens', 'usd', 'turns']),
  message: z.string(),
});
export type BudgetReached = z.infer<typeof budgetReached>;
