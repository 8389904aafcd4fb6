import * as z from 'zod';

const time = z.iso.datetime();

/** An agent's summary of turns that it no longer sees in full. */
export const summaryView = z.object({
  throughTurn: z.int().describe('The number of the last turn that it stands for.'),
  text: z.string(),
  turn: z.string().describe('The turn that had it written.'),
  step: z.string(),
  createdAt: time,
});
export type SummaryView = z.infer<typeof summaryView>;
