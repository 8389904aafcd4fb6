import * as z from 'zod';
import { sha256 } from './ids.js';

/** Bounds of any workspace's snapshot: its entries, the bytes of its files together, and the characters of a path. */
export const maxWorkspaceFiles = 50_000;
export const maxWorkspaceBytes = 8 * 1024 ** 3;
export const maxWorkspacePathLength = 1024;

/** What a workspace may have: files, links and directories together, and the bytes of its files. */
export const workspaceLimits = z.object({
  maxFiles: z.int().min(1).max(maxWorkspaceFiles),
  maxBytes: z.int().min(1).max(maxWorkspaceBytes),
});
export type WorkspaceLimits = z.infer<typeof workspaceLimits>;

/** The most that its links may lead to, by the lengths of what they say: they count as no bytes otherwise. */
export const maxWorkspaceLinkBytes = 8 * 1024 * 1024;

/** What it may have where its project says nothing. */
export const usualWorkspaceLimits: WorkspaceLimits = { maxFiles: 20_000, maxBytes: 1024 ** 3 };

/** A path inside a workspace: relative, separated by `/`, without `.`, `..` and NUL. */
export const workspacePath = z
  .string()
  .min(1)
  .max(maxWorkspacePathLength)
  .refine(
    (path) => !path.includes('\0') && path.split('/').every((part) => part !== '' && part !== '.' && part !== '..'),
    'a path inside the workspace, without . or ..',
  );

/** The name of something in a directory of a workspace. */
export const workspaceName = workspacePath.refine((name) => !name.includes('/'), 'a name, without /');

/** What times of modification may be: microseconds since 1970, as file systems have them. */
const maxTimeUs = Number.MAX_SAFE_INTEGER;

/**
 * What an entry keeps beside its content. Snapshots of earlier versions have none of it: their files get one time of modification when
 * they are restored.
 */
const attributes = {
  /** The permissions of owner, group and others, never a set-user-ID bit and the like. */
  mode: z.int().min(0).max(0o777).optional(),
  /** The time of modification, in microseconds since 1970. */
  mtimeUs: z.int().min(-maxTimeUs).max(maxTimeUs).optional(),
};
const { mtimeUs } = attributes;

/** What a snapshot keeps of a file or directory beside its content; of a link only its time. */
export interface EntryAttributes {
  mode?: number | undefined;
  mtimeUs?: number | undefined;
}

const file = { kind: z.literal('file'), sha256, sizeBytes: z.int().nonnegative(), executable: z.boolean() };
const link = { kind: z.literal('link'), target: z.string().max(4096) };

/**
 * One entry of a snapshot as it was made before directories had manifests of their own: all entries, sorted by path. Links are kept as
 * text and never followed.
 */
export const workspaceEntry = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('directory'), path: workspacePath }),
  z.object({ ...file, path: workspacePath }),
  z.object({ ...link, path: workspacePath }),
]);
export type WorkspaceEntry = z.infer<typeof workspaceEntry>;

/**
 * What is in one directory of a workspace; a directory in it by the SHA-256 of its own manifest. The SHA-256 of the root's manifest is
 * the snapshot. Equal directories have equal manifests: {@link manifestBytes} is the one form.
 */
export const directoryEntry = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('directory'), name: workspaceName, sha256, ...attributes }),
  z.strictObject({ ...file, name: workspaceName, ...attributes }),
  z.strictObject({ ...link, name: workspaceName, mtimeUs }),
]);
export type DirectoryEntry = z.infer<typeof directoryEntry>;

/** The longest manifest that is made or parsed. */
export const maxWorkspaceManifestBytes = 64 * 1024 * 1024;

/** A directory's manifest would be longer than one may be. */
export class ManifestTooLong extends Error {
  constructor() {
    super(`has names and links of more than ${maxWorkspaceManifestBytes} bytes together`);
  }
}

/**
 * The manifest of a directory whose entries are sorted by name. It is never there as a text too: a long one takes no more memory
 * than its bytes.
 *
 * @throws ManifestTooLong
 */
export function manifestBytes(entries: readonly DirectoryEntry[]): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  let size = 0;
  for (const part of manifestParts(entries)) size += encoder.encode(part).length;
  if (size > maxWorkspaceManifestBytes) throw new ManifestTooLong();
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const part of manifestParts(entries)) at += encoder.encodeInto(part, bytes.subarray(at)).written;
  return bytes;
}

function* manifestParts(entries: readonly DirectoryEntry[]): Generator<string> {
  yield '{"version":2,"entries":[';
  for (const [index, entry] of entries.entries()) yield `${index > 0 ? ',' : ''}${entryJson(entry)}`;
  yield ']}';
}

/** An entry in the one form that it has in manifests. */
export function entryJson(entry: DirectoryEntry): string {
  return JSON.stringify(inOrder(entry));
}

/** An entry whose keys have the one order that manifests have. */
function inOrder(entry: DirectoryEntry): DirectoryEntry {
  const { name } = entry;
  switch (entry.kind) {
    case 'directory':
      return { kind: 'directory', name, sha256: entry.sha256, mode: entry.mode, mtimeUs: entry.mtimeUs };
    case 'link':
      return { kind: 'link', name, target: entry.target, mtimeUs: entry.mtimeUs };
    case 'file': {
      const { sha256, sizeBytes, executable, mode, mtimeUs } = entry;
      return { kind: 'file', name, sha256, sizeBytes, executable, mode, mtimeUs };
    }
  }
}
