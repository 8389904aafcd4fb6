import { failureCode } from '@suzumio/protocol/failure-codes';
import { sha256 } from '@suzumio/protocol/ids';
import * as z from 'zod';

const count = z.int().nonnegative();

/**
 * How many files something has changed. A link counts as a file, and a file that was moved as one removed and one added;
 * what is named `.git`, with all that is in it, does not count.
 */
export const fileCounts = z.object({ added: count, changed: count, removed: count });
export type FileCounts = z.infer<typeof fileCounts>;

const file = z.object({
  kind: z.literal('file'),
  sizeBytes: count,
  sha256,
  executable: z.boolean(),
});

const link = z.object({
  kind: z.literal('link'),
  target: z.string().describe('Where it leads. It is never followed.'),
});

/** What a path of a workspace was: a file, or a link. */
const fileState = z.discriminatedUnion('kind', [file, link]);

/** A file of which a turn has changed something. */
export const fileChange = z.object({
  path: z.string().describe('Relative to the workspace, separated by `/`.'),
  change: z.enum(['added', 'changed', 'removed']),
  before: fileState.nullable().describe('What it was before the turn; null where it was not.'),
  after: fileState.nullable().describe('What it was after the turn; null where it was not.'),
});
export type FileChange = z.infer<typeof fileChange>;

const name = z.string();

/** Something in a directory of a workspace. */
export const workspaceEntryView = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('directory'), name }),
  file.extend({ name }),
  link.extend({ name }),
]);
export type WorkspaceEntryView = z.infer<typeof workspaceEntryView>;

/** One change of an agent's workspace: by a turn, or by a person who restored it. */
export const workspaceChangeView = z.object({
  seq: z.int().describe("A place in a list: what `after` of the list's query counts."),
  agent: z.string(),
  turn: z.string().nullable().describe('The turn that made it; null where it was restored.'),
  turnNumber: count.describe(
    'The number of that turn among those of its agent, or of the last before it was restored.',
  ),
  restoredTurn: count.nullable().describe('The turn after which it was as it was restored to be; 0: before the first.'),
  actor: z.string().nullable().describe('Who restored it.'),
  files: fileCounts
    .nullable()
    .describe(
      'How many files it has changed; null where they cannot be counted, or are of one turn too many that did not complete.',
    ),
  createdAt: z.iso.datetime(),
});
export type WorkspaceChangeView = z.infer<typeof workspaceChangeView>;

const commit = z.string().describe('The id of a commit.');
const turnOf = {
  turn: z.string(),
  turnNumber: count.describe('Its number among the turns of the agent.'),
};

/** What an agent's workspace is a clone of, and where that repository is. */
export const workspaceRepositoryView = z.object({
  agent: z.string(),
  repository: z
    .object({
      name: z.string().describe('Its address; of a path only the last part.'),
      ref: z.string().nullable().describe('What was cloned; null for the default branch.'),
      branch: z.string().describe("The agent's branch, which began at the base."),
      base: commit,
      ...turnOf,
      clonedAt: z.iso.datetime(),
      upstream: z
        .object({
          commit: commit.describe('Where it was last seen.'),
          ahead: count
            .nullable()
            .describe('How many commits it has that the base lacks; null where that is not known.'),
          rewritten: z.boolean().describe('Whether the base, or where it was seen before, is not in its history.'),
          ...turnOf,
          lookedAt: z.iso.datetime(),
          noNews: z
            .object({ code: failureCode, message: z.string() })
            .nullable()
            .describe('Why the last look has found nothing out.'),
        })
        .nullable()
        .describe('The look before its newest turn; null before the second, and where what was cloned is one commit.'),
    })
    .nullable()
    .describe('Null where the workspace is no clone, or was not cloned yet.'),
});
export type WorkspaceRepositoryView = z.infer<typeof workspaceRepositoryView>;
