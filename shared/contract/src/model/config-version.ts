import * as z from 'zod';

/** A version of a project's file. */
export const configVersionView = z.object({
  version: z.int().describe('Counted from 1: the file that the project was made from.'),
  at: z.iso.datetime().describe('When it came into force.'),
  by: z.string().describe("Who applied it: a token's name, or `user`."),
  reverts: z.int().nullable().describe('The version that it brings back; null where it has a file of its own.'),
  changes: z.int().describe('How many fields it changed; none for the first.'),
  changed: z.array(z.string()).describe('The first of them.'),
});
export type ConfigVersionView = z.infer<typeof configVersionView>;
