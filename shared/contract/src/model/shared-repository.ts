import { z } from 'zod';

const refUpdateView = z.object({
  ref: z.string(),
  from: z.string().nullable().describe('Where it was; null where it was not there.'),
  to: z.string().nullable().describe('Where it is since; null where it was deleted.'),
});

/** A branch or a tag of the repository that a project's agents share. */
export const sharedRefView = z.object({
  ref: z.string().describe('Its whole name, such as `refs/heads/main`.'),
  id: z.string().describe("A commit's id, or that of a tag's object."),
  push: z.int().describe('The push that has moved it last.'),
  agent: z.string().describe('Whose push that was.'),
  pushedAt: z.iso.datetime(),
});
export type SharedRefView = z.infer<typeof sharedRefView>;

/** A push to that repository. */
export const sharedPushView = z.object({
  seq: z.int().positive().describe('Its place among the pushes, from 1.'),
  agent: z.string(),
  turn: z.string(),
  turnNumber: z.int(),
  attempt: z.int(),
  updates: z.array(refUpdateView),
  pack: z
    .object({ sha256: z.string(), sizeBytes: z.int(), objects: z.int() })
    .nullable()
    .describe('What it brought; null where nothing was new.'),
  createdAt: z.iso.datetime(),
});
export type SharedPushView = z.infer<typeof sharedPushView>;
