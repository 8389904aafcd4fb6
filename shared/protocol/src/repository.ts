import * as z from 'zod';
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
  /** The agent's branch, which begins at `ref`. */
  branch: z.string(),
});
export type CloneRequest = z.infer<typeof cloneRequest>;

/** The commit that a workspace was cloned at, what of it lies in ignored directories, and the snapshot of the clone. */
export const workspaceBase = z.object({ commit: commitId, snapshot: sha256, tracked: trackedPaths.optional() });
export type WorkspaceBase = z.infer<typeof workspaceBase>;

/** The repository in a workspace, as its agent is told of it. */
export const repository = z.object({
  /** Its address; of a path only the last part. */
  name: z.string(),
  ref: z.string().optional(),
  branch: z.string(),
  /** The id of the commit that the branch began at. */
  base: commitId,
});
export type Repository = z.infer<typeof repository>;

/** What an agent is told of a clone. */
export function repositoryOf({ git, ref, branch }: CloneRequest, base: string): Repository {
  const name = git.startsWith('/') ? (git.split('/').findLast((part) => part !== '') ?? '') : git;
  return { name, ...(ref === undefined ? {} : { ref }), branch, base };
}

/** What a model is told of the repository in its workspace. */
export function repositoryText({ name, ref, branch, base }: Repository): string {
  const at = ref === undefined ? '' : ` at ${ref}`;
  return (
    `Your workspace is a Git clone of ${name}${at}, of your own: nothing is pushed there or pulled from there. You are on the branch ` +
    `${branch}, which began at the commit ${base}.`
  );
}
