import * as z from 'zod';

/** An agent that mail has come to while a turn of it runs. */
export const busyAgent = z.object({
  agent: z.string(),
  turn: z.int().describe('The number of the turn that runs. The mail is read after it; cancelling it keeps the mail.'),
  since: z.iso.datetime().describe('When the turn began.'),
});
export type BusyAgent = z.infer<typeof busyAgent>;

/** A sentence for the sender about each agent at work. */
export function atWork(busy: readonly BusyAgent[], timeOf: (iso: string) => string): string[] {
  return busy.map(({ agent, since }) => `${agent} is at work since ${timeOf(since)}, and reads it after this turn.`);
}
