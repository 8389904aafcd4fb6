import { repositoryDiff } from '@suzumio/protocol/repository-diff';
import * as z from 'zod';

const refUpdateView = z.object({
  ref: z.string(),
  from: z.string().nullable().describe('Where it was; null where it was not there.'),
  to: z.string().nullable().describe('Where it is since; null where it was deleted.'),
});

const pusher = {
  actor: z.string().describe("Who pushed: an agent, a token's name, or `user`."),
  agent: z.string().nullable().describe('The agent whose push that was; null where a person pushed.'),
};

/** A branch or a tag of the repository that a project's agents share. */
export const sharedRefView = z.object({
  ref: z.string().describe('Its whole name, such as `refs/heads/main`.'),
  id: z.string().describe("A commit's id, or that of a tag's object."),
  push: z.int().describe('The push that has moved it last.'),
  ...pusher,
  pushedAt: z.iso.datetime(),
});
export type SharedRefView = z.infer<typeof sharedRefView>;

/** A push to that repository. */
export const sharedPushView = z.object({
  seq: z.int().positive().describe('Its place among the pushes, from 1.'),
  ...pusher,
  turn: z.string().nullable().describe('The turn in which the agent pushed.'),
  turnNumber: z.int().nullable(),
  attempt: z.int().nullable(),
  updates: z.array(refUpdateView),
  pack: z
    .object({ sha256: z.string(), sizeBytes: z.int(), objects: z.int() })
    .nullable()
    .describe('What it brought; null where nothing was new.'),
  createdAt: z.iso.datetime(),
});
export type SharedPushView = z.infer<typeof sharedPushView>;

const diff = repositoryDiff.shape;

/** Two commits of that repository, compared. */
export const sharedDiffView = z.object({
  from: z.string().nullable().describe('What was asked for, as a whole id; null: all that there is.'),
  to: z.string(),
  common: z.boolean(),
  base: diff.base.describe(
    'The commit that `to` was compared with; null: with nothing, because `from` was not given or both have nothing in common.',
  ),
  head: diff.head.describe("The commit of `to`, which may be a tag's object."),
  commits: diff.commits.describe(
    'Of the commits that `to` has and `from` lacks the newest 100. Their time is as their author says.',
  ),
  ahead: diff.ahead.describe('How many commits `to` has that `from` lacks; 10000 at most.'),
  behind: diff.behind.describe('How many commits `from` has that `to` lacks; 10000 at most.'),
  files: diff.files.describe('How many files differ.'),
  diff: diff.diff.describe(
    'What differs as a unified diff, at most 1 MB of it. Files that are no text or too long, and what is left out, are named in lines that begin with `#`.',
  ),
});
export type SharedDiffView = z.infer<typeof sharedDiffView>;
