import * as z from 'zod';

const time = z.iso.datetime();

/** One version of the report, and what a person decided on it. */
export const reportView = z.object({
  version: z.int(),
  agent: z.string().describe('The agent that submitted it.'),
  turnNumber: z.int(),
  createdAt: time,
  decision: z
    .object({
      kind: z.enum(['approved', 'changes-requested']),
      by: z.string().describe("Who decided: a token's name, or `user`."),
      at: time,
    })
    .nullable()
    .describe('The last decision on this version; null while there is none.'),
});
export type ReportView = z.infer<typeof reportView>;
