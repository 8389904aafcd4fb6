import * as z from 'zod';
import { failureCode } from './failure-codes.js';
import { sha256 } from './ids.js';
import { trackedPaths } from './ignored-roots.js';

/** The id of a commit. */
export const commitId = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);

/** A repository that an agent's new workspace is to be a clone of. */
export const cloneRequest = z.object({
  /** An `https://` address, or a path of the worker's host. */
  git: z.string(),
  /** A branch, a tag or the id of a commit. @default the repository's own default branch */
  ref: z.string().optional(),
  /** How many commits of its history are fetched. @default all */
  depth: z.int().positive().optional(),
  /** Files in Git LFS stay pointers. @default they are refused */
  lfs: z.literal('pointers').optional(),
  /** Submodules are left out. @default they are refused */
  submodules: z.literal('skip').optional(),
  /** The agent's branch, which begins at `ref`. */
  branch: z.string(),
});
export type CloneRequest = z.infer<typeof cloneRequest>;

/** The commit that a workspace was cloned at, what of it lies in ignored directories, and the snapshot of the clone. */
export const workspaceBase = z.object({ commit: commitId, snapshot: sha256, tracked: trackedPaths.optional() });
export type WorkspaceBase = z.infer<typeof workspaceBase>;

/** How many packs a tip may need beside the clone. One more, and the next pack needs no other. */
export const maxUpstreamPacks = 32;

/** How many commits may end the history of a shallow tip. */
export const maxShallowCommits = 1_000;

/** How many of the commits that a repository was seen at before a turn is told. */
export const maxTipsBefore = 100;

/** How long looking for what is new in a repository may take, in milliseconds: each turn waits for it. */
export const lookMs = 120_000;

/**
 * Asks where the repository of a workspace is now. `known` are commits that the turn can have: the base, then tips of
 * before, the newest last.
 */
export const lookRequest = cloneRequest.extend({
  known: z
    .array(commitId)
    .min(1)
    .max(maxUpstreamPacks + 1),
});
export type LookRequest = z.infer<typeof lookRequest>;

/** Whether a clone's ref can ever be anywhere else. */
export function isMovable({ ref }: Pick<CloneRequest, 'ref'>): boolean {
  return ref === undefined || !commitId.safeParse(ref).success;
}

const upstreamPack = z.object({ sha256, sizeBytes: z.int().positive() });

/** A commit that a repository's ref is at, and how it got there from what is known. */
const tip = z.object({
  commit: commitId,
  /** How many commits it has in its history that the base lacks; absent where what was fetched does not tell. */
  ahead: z.int().nonnegative().optional(),
  /** Whether the base, or the tip before, is not in its history. */
  rewritten: z.boolean(),
});

/** Why nothing was found out. */
const noNews = z.object({ code: failureCode, message: z.string().max(2_000) });

/** What a worker found when it looked, whose pack is stored already. */
export const lookReport = z.union([
  tip.extend({
    /** What `known` lacks of it. */
    pack: upstreamPack
      .extend({
        /** Whether it needs no pack of before. */
        alone: z.boolean(),
      })
      .optional(),
    /** The commits whose parents were not fetched. */
    shallow: z.array(commitId).max(maxShallowCommits).optional(),
  }),
  z.object({ noNews }),
]);
export type LookReport = z.infer<typeof lookReport>;

/** Where the repository of a workspace is, for one turn: all of its attempts have the same. */
export const upstream = tip.extend({
  /** The packs that bring it from the clone to `commit`, in the order in which they are taken. */
  packs: z.array(upstreamPack).max(maxUpstreamPacks + 1),
  shallow: z.array(commitId).max(maxShallowCommits).optional(),
  /** Where it was seen before, the newest first. */
  before: z.array(commitId).max(maxTipsBefore).optional(),
  /** Why it may be elsewhere by now. The sentence, which may name paths of a host, is for people. */
  noNews: noNews.pick({ code: true }).optional(),
});
export type Upstream = z.infer<typeof upstream>;

/** The answer to a report: what the turn is told, which is the first report of it. */
export const lookAnswer = z.object({ upstream: upstream.optional() });
export type LookAnswer = z.infer<typeof lookAnswer>;

/** The remote of a clone that leads to the repository that it was made from, its address, and the branch there. */
export const upstreamRemote = 'upstream';
export const upstreamUrl = 'suzumio::upstream';
export const upstreamBranch = 'tip';

/** The repository in a workspace, as its agent is told of it. */
export const repository = z.object({
  /** Its address; of a path only the last part. */
  name: z.string(),
  ref: z.string().optional(),
  branch: z.string(),
  /** The id of the commit that the branch began at. */
  base: commitId,
  /** Parts that the clone lacks. */
  lfs: cloneRequest.shape.lfs,
  submodules: cloneRequest.shape.submodules,
  /** Absent in the turn that it was cloned for, and where its ref is a commit. */
  upstream: upstream.optional(),
});
export type Repository = z.infer<typeof repository>;

/** The commits that a repository was seen at, the newest first, and last the one that the clone began at. */
export function knownTips({ base, upstream: now }: Pick<Repository, 'base' | 'upstream'>): string[] {
  return [...(now ? [now.commit, ...(now.before ?? [])] : []), base];
}

/** What an agent is told of a clone. */
export function repositoryOf({ git, ref, branch, lfs, submodules }: CloneRequest, base: string): Repository {
  const name = git.startsWith('/') ? (git.split('/').findLast((part) => part !== '') ?? '') : git;
  return {
    name,
    ...(ref === undefined ? {} : { ref }),
    branch,
    base,
    ...(lfs === undefined ? {} : { lfs }),
    ...(submodules === undefined ? {} : { submodules }),
  };
}

/** What a model can do about its repository: run Git, and call `workspace.git.refresh`. */
interface GitMeans {
  readonly runsGit: boolean;
  readonly refreshes: boolean;
}

/** What a model is told of the repository in its workspace. */
export function repositoryText(
  { name, ref, branch, base, lfs, submodules, upstream: now }: Repository,
  means: GitMeans,
): string {
  const at = ref === undefined ? '' : ` at ${ref}`;
  const own = now
    ? 'nothing is pushed there, and nothing in it changes by itself'
    : 'nothing is pushed there or pulled from there';
  const parts = [
    `Your workspace is a Git clone of ${name}${at}, of your own: ${own}. You are on the branch ${branch}, which began at the commit ${base}.`,
    ...(now ? [upstreamText(now, base, means)] : []),
    ...(lfs === undefined
      ? []
      : [
          'Files that the repository keeps in Git LFS are here as their pointers, short texts with a hash: their content is not here. Leave them as they are.',
        ]),
    ...(submodules === undefined
      ? []
      : [
          'Submodules are not here: where they belong are empty directories, and no patch has what you put into those.',
        ]),
  ];
  return parts.join(' ');
}

function upstreamText(
  { commit, ahead, rewritten, shallow, noNews: missed }: Upstream,
  base: string,
  { runsGit, refreshes }: GitMeans,
): string {
  const isBase = commit === base;
  const said = [
    missed
      ? `Whether the repository has moved could not be found out before this turn (${missed.code}): it was last seen at ${isBase ? 'that commit' : `the commit ${commit}`}.`
      : isBase
        ? `The repository is ${rewritten ? 'at that commit again: its history was rewritten' : 'still at that commit'}.`
        : `The repository is at the commit ${commit} now.`,
  ];
  if (isBase) return said.join(' ');
  const fetches = `git fetch ${shallow ? '--update-shallow ' : ''}${upstreamRemote}`;
  if (ahead === undefined) said.push('How many commits lie between the two is not known.');
  else
    said.push(
      ahead === 1 ? 'It has 1 commit that yours began without.' : `It has ${ahead} commits that yours began without.`,
    );
  if (rewritten) said.push('Its history was rewritten: what you know of it may not be in it any more.');
  const there = `${upstreamRemote}/${upstreamBranch}`;
  if (runsGit) said.push(`To see it, run ${fetches} && git log suzumio/base..${there}.`);
  if (refreshes) said.push('To have it in your branch and your files, call workspace.git.refresh.');
  else if (runsGit) {
    // Without what lies between, Git finds no common history to merge.
    const command =
      ahead === undefined
        ? `git diff suzumio/base ${there} | git apply --3way --index`
        : `git merge ${there} or git rebase ${there}`;
    said.push(`To have it in your branch, run ${command}.`);
  }
  return said.join(' ');
}
