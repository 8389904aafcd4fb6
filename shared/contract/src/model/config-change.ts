import * as z from 'zod';

/** When a change of a project's file counts. */
export const changeEffects = ['at-once', 'next-turn', 'next-start', 'refused'] as const;
export type ChangeEffect = (typeof changeEffects)[number];

/** One field in which two versions of a project's file differ. */
export const configChange = z.object({
  path: z.string().describe('The field, such as `agents.editor.prompt`; what comes or goes whole is one field.'),
  before: z.unknown().describe('Its value; null where it has none. Values of variables and headers are `(hidden)`.'),
  after: z.unknown().describe('The same afterwards.'),
  effect: z
    .enum(changeEffects)
    .describe(
      '`at-once`: also in turns that run; `next-turn`: from the next turn of each agent; `next-start`: where `suzumio up` starts a server with the file; `refused`: a living project cannot change so.',
    ),
  reason: z.string().describe('What that means here; of what is refused, what can be done instead.'),
});
export type ConfigChange = z.infer<typeof configChange>;
