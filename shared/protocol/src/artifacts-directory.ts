import * as z from 'zod';
import { artifactKind } from './artifacts.js';
import { agentId, sha256 } from './ids.js';
import { workspaceName } from './workspace-manifest.js';

/** How much of the others' artifacts a turn finds as files: names, files and their bytes, all together. */
export const maxNamesSeen = 2_000;
export const maxFilesSeen = 5_000;
export const maxBytesSeen = 256 * 1024 * 1024;

/** An artifact that a turn finds as a file or directory. */
export const artifactSeen = z.object({
  /** An agent, or `user`. */
  creator: agentId,
  name: workspaceName,
  kind: artifactKind,
  sha256,
  sizeBytes: z.int().nonnegative(),
});
export type ArtifactSeen = z.infer<typeof artifactSeen>;

/** What a turn finds of others in its directory of artifacts: the same in all of its attempts. */
export const artifactsSeen = z.object({
  /** Who has a directory there: the agents of the project, and who else has published. */
  creators: z.array(agentId).max(10_000),
  published: z.array(artifactSeen).max(maxNamesSeen),
});
export type ArtifactsSeen = z.infer<typeof artifactsSeen>;
