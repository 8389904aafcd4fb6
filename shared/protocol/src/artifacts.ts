import * as z from 'zod';
import { sha256 } from './ids.js';
import { commitId } from './repository.js';
import { workspacePath } from './workspace-manifest.js';

/** The kind of an artifact: a file, or a directory that was published as a whole. */
export const artifactKind = z.enum(['file', 'directory']);
export type ArtifactKind = z.infer<typeof artifactKind>;

/** An artifact attached to a message. */
export const attachment = z.object({
  id: z.string(),
  name: z.string(),
  kind: artifactKind,
  /** The number of its files; 1 for a file. */
  files: z.int().nonnegative(),
  sizeBytes: z.int().nonnegative(),
  /** That its content was removed. */
  redacted: z.exactOptional(z.literal(true)),
});
export type Attachment = z.infer<typeof attachment>;

/** Limits of a published directory: its entries, the total size of its files, and its manifest's size. */
export const maxDirectoryEntries = 10_000;
export const maxDirectoryBytes = 1024 * 1024 * 1024;
export const maxManifestBytes = 8 * 1024 * 1024;

/** More members of lists and objects than any manifest has: the cost of parsing grows with them. */
export const maxManifestMembers = 8 * maxDirectoryEntries;

/** A name that people can read and every file system can store: no invisible characters and no path separators. */
const plainName = /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\\]+$/u;
const maxNameBytes = 255;

/** A path inside a published directory. Stricter than a workspace's, because other agents and people receive it. */
export const directoryPath = workspacePath.refine(
  (path) =>
    path.split('/').every((name) => plainName.test(name) && new TextEncoder().encode(name).length <= maxNameBytes),
  `names without control characters, of ${maxNameBytes} bytes at most`,
);

/** One entry of a published directory. There are no links. */
export const directoryEntry = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('directory'), path: directoryPath }),
  z.strictObject({
    kind: z.literal('file'),
    path: directoryPath,
    sha256,
    sizeBytes: z.int().nonnegative(),
    executable: z.boolean(),
  }),
]);
export type DirectoryEntry = z.infer<typeof directoryEntry>;
export type DirectoryFile = Extract<DirectoryEntry, { kind: 'file' }>;

/** The manifest of a published directory. Its SHA-256, as JSON without spaces, is the artifact's. */
export const directoryManifest = z
  .strictObject({ version: z.literal(1), entries: z.array(directoryEntry).max(maxDirectoryEntries) })
  .superRefine(({ entries }, context) => {
    const problem = disorderIn(entries);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  });
export type DirectoryManifest = z.infer<typeof directoryManifest>;

/** The order of entries: a directory comes before its content. */
export function byPath(a: { readonly path: string }, b: { readonly path: string }): number {
  return a.path < b.path ? -1 : a.path > b.path ? 1 : 0;
}

/** The files of a directory, without its directories. */
export function filesOf({ entries }: DirectoryManifest): DirectoryFile[] {
  return entries.filter((entry) => entry.kind === 'file');
}

/**
 * What is wrong with the entries: they must be sorted, with unique paths, in directories that are entries themselves.
 */
function disorderIn(entries: readonly DirectoryEntry[]): string | undefined {
  const directories = new Set<string>();
  let before: DirectoryEntry | undefined;
  let bytes = 0;
  for (const entry of entries) {
    const shown = JSON.stringify(entry.path);
    if (before !== undefined && byPath(before, entry) >= 0) return `${shown} is not in its place, or there twice`;
    const parent = entry.path.slice(0, Math.max(0, entry.path.lastIndexOf('/')));
    if (parent !== '' && !directories.has(parent)) return `${shown} lies in no directory of the manifest`;
    if (entry.kind === 'directory') directories.add(entry.path);
    else bytes += entry.sizeBytes;
    before = entry;
  }
  return bytes > maxDirectoryBytes ? `its files have ${bytes} bytes, and may have ${maxDirectoryBytes}` : undefined;
}

/** The `metadata` of an answer to `artifacts.read {to}`: what to fetch and write. */
export const handedArtifact = z.object({
  id: z.string(),
  name: z.string(),
  kind: artifactKind,
  /** The number of its files; 1 for a file. */
  files: z.int().nonnegative().default(1),
  sha256,
  sizeBytes: z.int().nonnegative(),
});
export type HandedArtifact = z.infer<typeof handedArtifact>;

/** How many earlier versions of a patch are told. */
export const maxEarlierPatches = 10;

const earlierPatch = z.object({ id: z.string(), sha256, sizeBytes: z.int().nonnegative(), base: commitId });
export type EarlierPatch = z.infer<typeof earlierPatch>;

/** The artifact that `file.apply` applies. */
export const appliedArtifact = handedArtifact.extend({
  /** The commit that it is against. */
  base: commitId.optional(),
  /** Patches that it replaces: of the same name, by the same agent, the newest first. */
  earlier: z.array(earlierPatch).max(maxEarlierPatches).optional(),
});
export type AppliedArtifact = z.infer<typeof appliedArtifact>;

/** The text that tells an agent of an artifact that was written into its workspace. */
export function writtenText({ id, name, kind, files, sizeBytes }: Omit<HandedArtifact, 'sha256'>, to: string): string {
  const what = kind === 'directory' ? `${files} ${files === 1 ? 'file' : 'files'}, ` : '';
  return `Wrote ${name} (${id}), ${what}${sizeBytes} bytes, to ${to}.`;
}
