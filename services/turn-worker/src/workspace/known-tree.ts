import { type DirectoryEntry, type EntryAttributes, manifestBytes } from '@suzumio/protocol/workspace-manifest';
import type { SeenFile } from './file-clock.js';

/** The last known content of a workspace, with the identity of each file when it was read. */
export interface KnownTree {
  /** The snapshot that it equals; null if it is empty. */
  snapshot: string | null;
  /** When it was captured or restored, by the clock of the file system. */
  atMs: number;
  root: KnownDirectory;
}

export interface KnownDirectory extends EntryAttributes {
  kind: 'directory';
  /** The hash of its manifest, if the ToolHost has it. */
  sha256?: string | undefined;
  /** By name, sorted. The ToolHost has the content of all of them. */
  entries: Map<string, KnownEntry>;
}

export interface KnownFile extends EntryAttributes {
  kind: 'file';
  sha256: string;
  sizeBytes: number;
  executable: boolean;
  /** Absent if only reading the file tells whether it changed. */
  seen?: SeenFile | undefined;
}

export interface KnownLink extends EntryAttributes {
  kind: 'link';
  target: string;
}

export type KnownEntry = KnownDirectory | KnownFile | KnownLink;

/** The manifest of a directory whose directories all have one. */
export function manifestOf({ entries }: KnownDirectory): Uint8Array<ArrayBuffer> {
  return manifestBytes([...entries].map(([name, entry]) => ({ name, ...contentOf(entry) }) as DirectoryEntry));
}

/** Whether a manifest has the same for both. */
export function isEqual(a: KnownEntry, b: KnownEntry | undefined): boolean {
  if (a === b) return true;
  if (a.mode !== b?.mode || a.mtimeUs !== b?.mtimeUs) return false;
  switch (a.kind) {
    case 'directory':
      return b?.kind === a.kind && a.sha256 !== undefined && b.sha256 === a.sha256;
    case 'link':
      return b?.kind === a.kind && b.target === a.target;
    case 'file':
      return (
        b?.kind === a.kind && b.sha256 === a.sha256 && b.sizeBytes === a.sizeBytes && b.executable === a.executable
      );
  }
}

/** Whether these are the very entries that were known. */
export function hasEntriesOf(known: KnownDirectory, entries: KnownDirectory['entries']): boolean {
  if (known.entries.size !== entries.size) return false;
  for (const [at, entry] of entries) if (known.entries.get(at) !== entry) return false;
  return true;
}

/** Whether a directory has the manifest that was known. */
export function hasSameManifest(directory: KnownDirectory, known: KnownDirectory | undefined): boolean {
  if (known?.sha256 === undefined || known.entries.size !== directory.entries.size) return false;
  for (const [at, entry] of directory.entries) if (!isEqual(entry, known.entries.get(at))) return false;
  return true;
}

/** The directories and files of a tree. */
export function* partsOf(directory: KnownDirectory): Generator<KnownDirectory | KnownFile> {
  yield directory;
  for (const entry of directory.entries.values()) {
    if (entry.kind === 'directory') yield* partsOf(entry);
    else if (entry.kind === 'file') yield entry;
  }
}

/** About how many bytes of memory an entry takes, beside its name: objects, hash and times. */
const entryBytes = 400;

/** About how much memory an entry takes that has nothing in it. */
export function memoryOfEntry(name: string): number {
  return entryBytes + 2 * name.length;
}

/** About how much memory a directory takes, with all that is in it. */
export function memoryOf({ entries }: KnownDirectory): number {
  let bytes = entryBytes;
  for (const [name, entry] of entries) {
    bytes += entry.kind === 'directory' ? 2 * name.length + memoryOf(entry) : memoryOfEntry(name);
    if (entry.kind === 'link') bytes += 2 * entry.target.length;
  }
  return bytes;
}

function contentOf(entry: KnownEntry): Exclude<KnownEntry, KnownDirectory> | Omit<KnownDirectory, 'entries'> {
  if (entry.kind !== 'directory') return entry;
  const { kind, sha256, mode, mtimeUs } = entry;
  return { kind, sha256, mode, mtimeUs };
}
