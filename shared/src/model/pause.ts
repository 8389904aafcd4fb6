import { z } from 'zod';

/** That something starts no turns for a while: an agent, a project, or the whole cell. */
export const pause = z.object({
  /** Who paused it: a token's name, or `system`. */
  by: z.string(),
  at: z.iso.datetime(),
  reason: z.string().nullable(),
});
export type Pause = z.infer<typeof pause>;
