import * as z from 'zod';
import { sha256 } from './ids.js';

/** Bounds of a workspace snapshot. */
export const maxWorkspaceFiles = 20_000;
export const maxWorkspaceBytes = 1024 * 1024 * 1024;

/** A path inside a workspace: relative, `/` between its parts, no `.` or `..`, no NUL. */
export const workspacePath = z
  .string()
  .min(1)
  .max(1024)
  .refine(
    (path) => !path.includes('\0') && path.split('/').every((part) => part !== '' && part !== '.' && part !== '..'),
    'a path inside the workspace, without . or ..',
  );

/** One entry of a workspace. Links are kept as text and never followed. */
export const workspaceEntry = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('directory'), path: workspacePath }),
  z.object({
    kind: z.literal('file'),
    path: workspacePath,
    sha256,
    sizeBytes: z.int().nonnegative(),
    executable: z.boolean(),
  }),
  z.object({ kind: z.literal('link'), path: workspacePath, target: z.string().max(4096) }),
]);
export type WorkspaceEntry = z.infer<typeof workspaceEntry>;

/** A snapshot of a workspace: entries sorted by path. Its id is the SHA-256 of its JSON. */
export const workspaceManifest = z.object({
  version: z.literal(1),
  entries: z.array(workspaceEntry).max(maxWorkspaceFiles),
});
export type WorkspaceManifest = z.infer<typeof workspaceManifest>;
