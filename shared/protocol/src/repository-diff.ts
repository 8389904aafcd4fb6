import * as z from 'zod';
import { projectId, sha256 } from './ids.js';
import { maxPackBytes, objectId } from './shared-repository.js';
import { turnJob } from './turn-job.js';

// Two commits of a project's shared repository, compared by a worker in a sandbox of its own. The API asks by a job, the ToolHost
// hands out the packs and keeps what came of it:
//
// | route of the ToolHost | |
// |---|---|
// | `POST /projects/:project/repository-diffs/:diff/claim` | takes it; it is handed out once |
// | `GET /projects/:project/repository-diffs/:diff/packs/:sha256?claim=…&epoch=…` | a pack |
// | `POST /projects/:project/repository-diffs/:diff/end` | hands in what came of it |
//
// Workers show their credential.

/** The largest repository in which commits are compared. */
export const maxComparedPackBytes = 2 * maxPackBytes;
export const maxComparedObjects = 1_000_000;
export const maxComparedPacks = 1_000;

/** How long a comparison may take, from when a worker has taken it. */
export const compareMs = 60_000;

/** The longest file whose lines are compared. */
export const maxComparedFileBytes = 1024 * 1024;

/** The longest diff, and of one file, as bytes of JSON. */
export const maxDiffBytes = 1024 * 1024;
export const maxFileDiffBytes = 256 * 1024;

/** How many commits one answer names. */
export const maxDiffCommits = 100;
/** Where counting commits ends. */
export const maxCountedCommits = 10_000;
export const maxSubjectChars = 300;
export const maxAuthorChars = 200;

/** The largest output of a comparison. */
export const maxComparisonBytes = 4 * 1024 * 1024;

/** Names the task in the environment of a runner that is to compare commits instead of running a turn. */
export const taskVariable = 'SUZUMIO_TASK';
export const compareTask = 'compare-commits';

/** Stands among the toolpacks that an image's runner carries out, where it can compare commits. */
export const comparePack = 'compare';

/** What is compared. */
export const comparison = z.object({
  /** A commit, or a tag's object; null: nothing at all. */
  from: objectId.nullable(),
  to: objectId,
  /** Whether `to` is compared with the newest commit that both have in their history, in place of `from`. */
  common: z.boolean(),
});
export type Comparison = z.infer<typeof comparison>;

/** The payload of a job: facts are in the store. */
export const repositoryDiffJob = z.object({
  cell: turnJob.shape.cell,
  project: projectId,
  epoch: z.int().positive(),
  diff: z.int().positive(),
});
export type RepositoryDiffJob = z.infer<typeof repositoryDiffJob>;

export function repositoryDiffJobId({ cell, project, epoch, diff }: RepositoryDiffJob): string {
  return `${cell}.${project}.${String(epoch)}.${String(diff)}`;
}

/** What a worker shows with each request for a comparison that it has taken. */
export const comparisonClaim = z.object({
  epoch: z.int().positive(),
  claim: z.string().regex(/^[0-9a-f]{32}$/),
});
export type ComparisonClaim = z.infer<typeof comparisonClaim>;

const pack = z.object({ sha256, sizeBytes: z.int().positive() });

export const comparisonGranted = z.object({ comparison, packs: z.array(pack).max(maxComparedPacks) });
export type ComparisonGranted = z.infer<typeof comparisonGranted>;

/** The runner's `input.json`. */
export const comparisonInput = z.object({
  protocol: z.int(),
  comparison,
  /** A directory of its own. */
  workspace: z.string(),
  /** The packs in it, in the order of their pushes. */
  packs: z.array(z.string().regex(/^pack-\d{1,6}\.pack$/)).max(maxComparedPacks),
});
export type ComparisonInput = z.infer<typeof comparisonInput>;

const files = z.int().nonnegative();

/** Two commits, compared. */
export const repositoryDiff = z.object({
  /** The commit that `to` was compared with; null: with nothing. */
  base: objectId.nullable(),
  /** The commit that was compared with it. */
  head: objectId,
  /** Of the commits that `to` has and `from` lacks, the newest. */
  commits: z
    .array(
      z.object({
        id: objectId,
        subject: z.string().max(maxSubjectChars),
        author: z.string().max(maxAuthorChars),
        at: z.iso.datetime().nullable(),
      }),
    )
    .max(maxDiffCommits),
  /** How many those are, and how many `from` has that `to` lacks; {@link maxCountedCommits} at most. */
  ahead: files,
  behind: files,
  files: z.object({ added: files, changed: files, removed: files }),
  /** Unified; what it cannot have is named in lines that begin with `#`. */
  diff: z.string().max(maxDiffBytes),
});
export type RepositoryDiff = z.infer<typeof repositoryDiff>;

/** Why a comparison came to nothing. */
export const comparisonRefusal = z.object({
  code: z.enum(['git-commit-unknown', 'git-diff-too-large', 'git-diff-too-slow', 'git-diff-failed']),
  message: z.string().max(2_000),
});
export type ComparisonRefusal = z.infer<typeof comparisonRefusal>;

/** The runner's `output.json`, and what a worker hands in. */
export const comparisonOutcome = z.union([
  z.object({ made: repositoryDiff }),
  z.object({ refused: comparisonRefusal }),
]);
export type ComparisonOutcome = z.infer<typeof comparisonOutcome>;

export const comparisonEnd = comparisonClaim.extend({ outcome: comparisonOutcome });
export type ComparisonEnd = z.infer<typeof comparisonEnd>;
