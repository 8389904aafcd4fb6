import { entriesIn, isOfVersion } from './manifest-entries.js';
import {
  type DirectoryEntry,
  directoryEntry,
  type EntryAttributes,
  entryJson,
  maxWorkspaceBytes,
  maxWorkspaceFiles,
  maxWorkspaceManifestBytes,
  maxWorkspacePathLength,
  type WorkspaceEntry,
  workspaceEntry,
} from './workspace-manifest.js';

/** A snapshot that is not what its id or the rules of manifests say. */
export class SnapshotInvalid extends Error {
  override readonly name = 'SnapshotInvalid';
}

/** A directory of a snapshot. Two paths with equal content may have the same object. */
export interface SnapshotDirectory {
  /** Of its manifest; undefined in a flat snapshot, where no directory has a manifest of its own. */
  sha256: string | undefined;
  /** Sorted by name. */
  entries: readonly SnapshotEntry[];
}

export type SnapshotEntry =
  | ({ kind: 'directory'; name: string; directory: SnapshotDirectory } & EntryAttributes)
  | Exclude<DirectoryEntry, { kind: 'directory' }>;
export type SnapshotFile = Extract<SnapshotEntry, { kind: 'file' }>;

export interface SnapshotBounds {
  maxBytes: number;
  maxEntries: number;
}

/** How many manifests are asked for at a time. */
const atATime = 8;

/**
 * Reads the manifests of a snapshot, each once, however often a directory is in it. What is bounded counts as often as it
 * is in the snapshot: few manifests can describe millions of paths.
 *
 * @param read the manifest with this hash; its hash is not looked at here
 * @throws SnapshotInvalid; whatever `read` throws
 */
export async function readSnapshot(
  id: string,
  read: (sha256: string) => Promise<Uint8Array>,
  bounds: SnapshotBounds = { maxBytes: maxWorkspaceBytes, maxEntries: maxWorkspaceFiles },
): Promise<SnapshotDirectory> {
  const root = parseManifest(await read(id));
  if (root.version === 1) return measured(directoryOf(root.entries), bounds);
  const manifests = new Map<string, readonly DirectoryEntry[]>([[id, root.entries]]);
  let entries = root.entries.length;
  for (let missing = below(root.entries, manifests); missing.length > 0;) {
    const found: (readonly DirectoryEntry[])[] = [];
    for (let start = 0; start < missing.length; start += atATime) {
      const some = missing.slice(start, start + atATime);
      const parsed = await Promise.all(some.map(async (sha256) => parseDirectory(await read(sha256))));
      parsed.forEach((list, index) => manifests.set(some[index] ?? '', list));
      found.push(...parsed);
      entries = parsed.reduce((sum, list) => sum + list.length, entries);
      if (entries > bounds.maxEntries) throw tooLarge();
    }
    missing = below(found.flat(), manifests);
  }
  return measured(linked(id, manifests), bounds);
}

/** What is at the top of a workspace. */
export type TopEntry = { kind: 'directory' | 'link'; name: string } | { kind: 'file'; name: string; sizeBytes: number };

/**
 * What is at the top of a snapshot, by its first manifest alone.
 *
 * @throws SnapshotInvalid
 */
export function topOf(manifest: Uint8Array): TopEntry[] {
  const { version, entries } = parseManifest(manifest);
  if (version === 2) return entries.map((entry) => topEntry(entry.name, entry));
  return entries.filter(({ path }) => !path.includes('/')).map((entry) => topEntry(entry.path, entry));
}

function topEntry(name: string, entry: WorkspaceEntry | DirectoryEntry): TopEntry {
  if (entry.kind === 'file') return { kind: 'file', name, sizeBytes: entry.sizeBytes };
  return { kind: entry.kind, name };
}

/** A directory of a snapshot whose own directories are read when they are opened. */
export interface OpenedDirectory {
  /** Of its manifest; undefined in a flat snapshot. Equal directories have equal ones. */
  sha256: string | undefined;
  /** Sorted by name. */
  entries: readonly OpenedEntry[];
}

export type OpenedEntry = OpenedSubdirectory | Exclude<DirectoryEntry, { kind: 'directory' }>;
export interface OpenedSubdirectory {
  kind: 'directory';
  name: string;
  sha256: string | undefined;
  open: () => Promise<OpenedDirectory>;
}

/**
 * Opens a snapshot at its root. What is opened of it is not bounded here: few manifests can describe millions of paths.
 *
 * @param read the manifest with this hash; its hash is not looked at here
 * @throws SnapshotInvalid; whatever `read` throws
 */
export async function openSnapshot(
  id: string,
  read: (sha256: string) => Promise<Uint8Array>,
): Promise<OpenedDirectory> {
  const opened = (sha256: string, entries: readonly DirectoryEntry[]): OpenedDirectory => ({
    sha256,
    entries: entries.map((entry) => {
      if (entry.kind !== 'directory') return entry;
      return { ...entry, open: async () => opened(entry.sha256, parseDirectory(await read(entry.sha256))) };
    }),
  });
  const root = parseManifest(await read(id));
  return root.version === 1 ? openedFlat(directoryOf(root.entries)) : opened(id, root.entries);
}

function openedFlat({ entries }: SnapshotDirectory): OpenedDirectory {
  const opened = entries.map((entry): OpenedEntry => {
    if (entry.kind !== 'directory') return entry;
    const { kind, name, directory } = entry;
    return { kind, name, sha256: undefined, open: () => Promise.resolve(openedFlat(directory)) };
  });
  return { sha256: undefined, entries: opened };
}

/** Everything in a snapshot with its path: a directory before what is in it. */
export function* entriesOf(root: SnapshotDirectory, prefix = ''): Generator<{ path: string; entry: SnapshotEntry }> {
  for (const entry of root.entries) {
    const path = `${prefix}${entry.name}`;
    yield { path, entry };
    if (entry.kind === 'directory') yield* entriesOf(entry.directory, `${path}/`);
  }
}

/** The directories of a snapshot, each once. */
export function directoriesOf(root: SnapshotDirectory): Set<SnapshotDirectory> {
  const seen = new Set([root]);
  // A set is walked to its end, though it grows.
  for (const { entries } of seen) {
    for (const entry of entries) if (entry.kind === 'directory') seen.add(entry.directory);
  }
  return seen;
}

/** How things in a directory are ordered. */
export function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

function parseManifest(bytes: Uint8Array) {
  if (!isOfVersion(bytes, 1)) return { version: 2 as const, entries: parseDirectory(bytes) };
  return { version: 1 as const, entries: parsed(bytes, 1, (json) => workspaceEntry.parse(JSON.parse(json))) };
}

/** @throws SnapshotInvalid where it is not the one form of what it says */
function parseDirectory(bytes: Uint8Array): readonly DirectoryEntry[] {
  let previous: DirectoryEntry | undefined;
  return parsed(bytes, 2, (json) => {
    const entry = directoryEntry.parse(JSON.parse(json));
    if (previous && byName(previous, entry) >= 0) {
      throw new SnapshotInvalid('The entries of the snapshot are not sorted, or one is there twice.');
    }
    if (entryJson(entry) !== json) {
      throw new SnapshotInvalid('A manifest of the snapshot has not the form that manifests have.');
    }
    previous = entry;
    return entry;
  });
}

function parsed<Entry>(bytes: Uint8Array, version: 1 | 2, entryOf: (json: string) => Entry): Entry[] {
  if (bytes.length > maxWorkspaceManifestBytes) throw new SnapshotInvalid('A manifest of the snapshot is too long.');
  const entries: Entry[] = [];
  try {
    for (const json of entriesIn(bytes, version)) {
      if (entries.length === maxWorkspaceFiles) throw tooLarge();
      entries.push(entryOf(json));
    }
  } catch (error) {
    if (error instanceof SnapshotInvalid) throw error;
    throw new SnapshotInvalid('The snapshot is not a workspace manifest.', { cause: error });
  }
  return entries;
}

/** The directories that entries name and of which there is no manifest yet. */
function below(entries: readonly DirectoryEntry[], known: ReadonlyMap<string, unknown>): string[] {
  const named = entries.flatMap((entry) => (entry.kind === 'directory' ? [entry.sha256] : []));
  return [...new Set(named)].filter((sha256) => !known.has(sha256));
}

/** Makes one object of each manifest. */
function linked(id: string, manifests: ReadonlyMap<string, readonly DirectoryEntry[]>): SnapshotDirectory {
  const made = new Map([...manifests.keys()].map((sha256) => [sha256, { sha256, entries: [] as SnapshotEntry[] }]));
  const of = (sha256: string) => made.get(sha256) ?? { sha256, entries: [] };
  for (const [sha256, entries] of manifests) {
    for (const entry of entries) {
      if (entry.kind !== 'directory') of(sha256).entries.push(entry);
      else {
        const { sha256: inside, ...rest } = entry;
        of(sha256).entries.push({ ...rest, directory: of(inside) });
      }
    }
  }
  return of(id);
}

/**
 * The directories of a flat manifest: entries sorted, no path twice, everything inside a directory of the manifest, so
 * that writing them in order never goes through a link or a file.
 */
function directoryOf(entries: readonly WorkspaceEntry[]): SnapshotDirectory {
  const directories = new Map<string, SnapshotEntry[]>([['', []]]);
  let previous = '';
  for (const entry of entries) {
    if (entry.path <= previous)
      throw new SnapshotInvalid('The entries of the snapshot are not sorted, or one is there twice.');
    previous = entry.path;
    const slash = entry.path.lastIndexOf('/');
    const siblings = directories.get(entry.path.slice(0, Math.max(0, slash)));
    if (!siblings) throw new SnapshotInvalid('The snapshot has an entry outside of its directories.');
    const { path, ...rest } = entry;
    const name = path.slice(slash + 1);
    if (rest.kind !== 'directory') siblings.push({ ...rest, name });
    else {
      const own: SnapshotEntry[] = [];
      directories.set(path, own);
      siblings.push({ kind: 'directory', name, directory: { sha256: undefined, entries: own } });
    }
  }
  for (const siblings of directories.values()) siblings.sort(byName);
  return { sha256: undefined, entries: directories.get('') ?? [] };
}

interface Measure {
  entries: number;
  bytes: number;
  /** The characters of the longest path in it. */
  path: number;
}

/** @throws SnapshotInvalid beyond the bounds, everything counted as often as it is there */
function measured(root: SnapshotDirectory, bounds: SnapshotBounds): SnapshotDirectory {
  const known = new Map<SnapshotDirectory, Measure | 'measuring'>();
  const measure = (directory: SnapshotDirectory, depth: number): Measure => {
    const before = known.get(directory);
    if (before === 'measuring' || depth > maxWorkspacePathLength) {
      throw new SnapshotInvalid('A directory of the snapshot is in itself, or too deep.');
    }
    if (before) return before;
    known.set(directory, 'measuring');
    const sum: Measure = { entries: 0, bytes: 0, path: 0 };
    for (const entry of directory.entries) {
      const inside = entry.kind === 'directory' ? measure(entry.directory, depth + 1) : undefined;
      sum.entries += 1 + (inside?.entries ?? 0);
      sum.bytes += inside?.bytes ?? (entry.kind === 'file' ? entry.sizeBytes : 0);
      sum.path = Math.max(sum.path, entry.name.length + (inside && inside.path > 0 ? 1 + inside.path : 0));
      if (sum.bytes > bounds.maxBytes || sum.entries > bounds.maxEntries) throw tooLarge();
    }
    if (sum.path > maxWorkspacePathLength) throw new SnapshotInvalid('The snapshot has a path that is too long.');
    known.set(directory, sum);
    return sum;
  };
  measure(root, 0);
  return root;
}

function tooLarge(): SnapshotInvalid {
  return new SnapshotInvalid('The snapshot is larger than a workspace may be.');
}
