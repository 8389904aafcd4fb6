import * as z from 'zod';

/** Limits of the project file that pause an agent. */
export const pausingLimits = [
  'maxTurnsPerHour',
  'protection.exchanges',
  'protection.sameMail',
  'protection.emptyTurns',
] as const;
export type PausingLimit = (typeof pausingLimits)[number];

/** A pause of an agent, a project, or the whole cell: it starts no turns. */
export const pause = z.object({
  by: z.string().describe("Who paused it: a token's name, or `system`."),
  at: z.iso.datetime(),
  reason: z.string().nullable(),
  limit: z
    .exactOptional(z.enum(pausingLimits))
    .describe('The limit that was reached, where it was not a person who paused it.'),
});
export type Pause = z.infer<typeof pause>;
