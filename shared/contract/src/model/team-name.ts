import * as z from 'zod';

/** In place of a team's name, this means all agents of a project. */
export const ALL_AGENTS = 'all';

export const teamName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, { error: 'expected 1 to 63 of a-z, 0-9 and -, the first no hyphen' })
  .refine((name) => name !== ALL_AGENTS, { error: `"${ALL_AGENTS}" stands for all agents of a project` })
  .describe("A team's name. Mail to all of a team goes to `@` and this.");
