import { readFileSync, renameSync, type Stats, writeFileSync } from 'node:fs';
import * as z from 'zod';
import { sha256 } from '@suzumio/protocol/ids';
import { type DirectoryEntry, manifestBytes } from '@suzumio/protocol/workspace-manifest';
import { errnoOf } from '../files/errno.js';
import { type SeenFile, seenFile } from './file-clock.js';

/** The last known content of a workspace, with the identity of each file when it was read. */
export interface KnownTree {
  /** The snapshot that it equals; null if it is empty. */
  snapshot: string | null;
  /** When it was captured or restored, by the clock of the file system. */
  atMs: number;
  root: KnownDirectory;
}

export interface KnownDirectory {
  kind: 'directory';
  /** The hash of its manifest, if the ToolHost has it. */
  sha256?: string | undefined;
  /** By name, sorted. The ToolHost has the content of all of them. */
  entries: Map<string, KnownEntry>;
}

export interface KnownFile {
  kind: 'file';
  sha256: string;
  sizeBytes: number;
  executable: boolean;
  /** Absent if only reading the file tells whether it changed. */
  seen?: SeenFile | undefined;
}

export type KnownEntry = KnownDirectory | KnownFile | { kind: 'link'; target: string };

/** The manifest of a directory whose directories all have one. */
export function manifestOf({ entries }: KnownDirectory): Uint8Array<ArrayBuffer> {
  return manifestBytes([...entries].map(([name, entry]) => ({ name, ...contentOf(entry) }) as DirectoryEntry));
}

/** Whether a manifest has the same for both. */
export function isEqual(a: KnownEntry, b: KnownEntry | undefined): boolean {
  if (a === b) return true;
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

/** The only permission that a snapshot keeps. */
export function isExecutable({ mode }: Stats): boolean {
  return (mode & 0o100) !== 0;
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

/** About how much memory a directory takes, with all that is in it. */
export function memoryOf({ entries }: KnownDirectory): number {
  let bytes = entryBytes;
  for (const [name, entry] of entries) {
    bytes += 2 * name.length + (entry.kind === 'directory' ? memoryOf(entry) : entryBytes);
    if (entry.kind === 'link') bytes += 2 * entry.target.length;
  }
  return bytes;
}

function contentOf(
  entry: KnownEntry,
): Omit<KnownFile, 'seen'> | { kind: 'directory'; sha256: string | undefined } | KnownEntry {
  return entry.kind === 'directory' ? { kind: 'directory', sha256: entry.sha256 } : entry;
}

const name = z.string().min(1);
type Written =
  | ['f', string, string, number, boolean, SeenFile | null]
  | ['l', string, string]
  | ['d', string, string | null, Written[]];
const written: z.ZodType<Written> = z.lazy(() =>
  z.union([
    z.tuple([z.literal('f'), name, sha256, z.int().nonnegative(), z.boolean(), seenFile.nullable()]),
    z.tuple([z.literal('l'), name, z.string()]),
    z.tuple([z.literal('d'), name, sha256.nullable(), z.array(written)]),
  ]),
);

/** A tree as stored between turns. */
const treeFile = z.object({
  version: z.literal(1),
  /** The boot in which this was written: after a reboot it is unreliable. */
  boot: z.string(),
  snapshot: sha256.nullable(),
  atMs: z.number(),
  root: z.tuple([sha256.nullable(), z.array(written)]),
});

/** The tree recorded in this boot, if any. */
export function readTree(path: string, boot: string): KnownTree | undefined {
  try {
    const tree = treeFile.parse(JSON.parse(readFileSync(path, 'utf8')));
    if (tree.boot !== boot) return undefined;
    const [id, entries] = tree.root;
    return { snapshot: tree.snapshot, atMs: tree.atMs, root: directoryFrom(id, entries) };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError || errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Records a tree; the file is replaced atomically. */
export function writeTree(path: string, boot: string, { snapshot, atMs, root }: KnownTree): void {
  const content: z.input<typeof treeFile> = {
    version: 1,
    boot,
    snapshot,
    atMs,
    root: [root.sha256 ?? null, entriesOf(root)],
  };
  writeFileSync(`${path}.tmp`, JSON.stringify(content), { mode: 0o600 });
  renameSync(`${path}.tmp`, path);
}

function entriesOf({ entries }: KnownDirectory): Written[] {
  return [...entries].map(([at, entry]): Written => {
    switch (entry.kind) {
      case 'file':
        return ['f', at, entry.sha256, entry.sizeBytes, entry.executable, entry.seen ?? null];
      case 'link':
        return ['l', at, entry.target];
      case 'directory':
        return ['d', at, entry.sha256 ?? null, entriesOf(entry)];
    }
  });
}

function directoryFrom(id: string | null, list: readonly Written[]): KnownDirectory {
  const entries = new Map<string, KnownEntry>();
  for (const one of list) {
    if (one[0] === 'd') entries.set(one[1], directoryFrom(one[2], one[3]));
    else if (one[0] === 'l') entries.set(one[1], { kind: 'link', target: one[2] });
    else
      entries.set(one[1], {
        kind: 'file',
        sha256: one[2],
        sizeBytes: one[3],
        executable: one[4],
        seen: one[5] ?? undefined,
      });
  }
  return { kind: 'directory', sha256: id ?? undefined, entries };
}
