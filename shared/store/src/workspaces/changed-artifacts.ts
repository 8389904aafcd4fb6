import { artifactName } from '@suzumio/contract/model/artifact-name';
import { byPath, type DirectoryEntry, type DirectoryManifest, directoryManifest } from '@suzumio/protocol/artifacts';
import { ownArtifacts } from '@suzumio/protocol/own-artifacts';
import { maxWorkspacePathLength } from '@suzumio/protocol/workspace-manifest';
import type { OpenedDirectory, OpenedEntry } from '@suzumio/protocol/workspace-snapshot';

/** Something that was changed at the top of an agent's own artifacts: what is to be published, or why it is not. */
export type ChangedArtifact = { name: string } & (
  | { kind: 'file'; sha256: string }
  | { kind: 'directory'; manifest: DirectoryManifest }
  | { kind: 'none'; why: string }
);

export interface ArtifactBounds {
  /** How many artifacts one turn publishes from there, and how many files and directories these may have. */
  artifacts: number;
  entries: number;
}

const usualBounds: ArtifactBounds = { artifacts: 100, entries: 10_000 };

/** Why something is not published. */
class NotPublished extends Error {}

/**
 * What is to be published of an agent's own artifacts, by what differs between two snapshots: each file at their top is an
 * artifact, and each directory is one with all that is in it. What is there no more is nothing.
 */
export async function changedArtifacts(
  before: OpenedDirectory | undefined,
  after: OpenedDirectory | undefined,
  bounds = usualBounds,
): Promise<ChangedArtifact[]> {
  const known = new Map((await ownEntries(before)).map((entry) => [entry.name, keyOf(entry)]));
  const room = { ...bounds };
  const changed: ChangedArtifact[] = [];
  for (const entry of await ownEntries(after)) {
    const key = keyOf(entry);
    if (key !== undefined && key === known.get(entry.name)) continue;
    try {
      const artifact = await artifactOf(entry, room);
      if (artifact) changed.push(artifact);
    } catch (error) {
      if (!(error instanceof NotPublished)) throw error;
      changed.push({ name: entry.name, kind: 'none', why: error.message });
    }
  }
  return changed;
}

async function ownEntries(root: OpenedDirectory | undefined): Promise<readonly OpenedEntry[]> {
  const own = root?.entries.find(({ name }) => name === ownArtifacts);
  return own?.kind === 'directory' ? (await own.open()).entries : [];
}

function keyOf(entry: OpenedEntry): string | undefined {
  if (entry.kind === 'link') return `link ${entry.target}`;
  return entry.sha256 === undefined ? undefined : `${entry.kind} ${entry.sha256}`;
}

/** @returns undefined for a directory without files */
async function artifactOf(entry: OpenedEntry, room: ArtifactBounds): Promise<ChangedArtifact | undefined> {
  const { name } = entry;
  if (!artifactName.safeParse(name).success) throw new NotPublished('an artifact cannot have this name');
  if (entry.kind === 'link') throw new NotPublished('it is a link');
  if (room.artifacts === 0) {
    throw new NotPublished('there are too many for the end of one turn: put many files into one directory');
  }
  if (entry.kind === 'file') {
    room.artifacts -= 1;
    return { name, kind: 'file', sha256: entry.sha256 };
  }
  const entries: DirectoryEntry[] = [];
  await addAll(await entry.open(), '', entries, room);
  if (!entries.some(({ kind }) => kind === 'file')) return undefined;
  const manifest = directoryManifest.safeParse({ version: 1, entries: entries.sort(byPath) });
  if (!manifest.success) {
    const [issue] = manifest.error.issues;
    const at = issue ? entries[Number(issue.path[1])] : undefined;
    throw new NotPublished(`${at ? `${shown(at.path)} in it: ` : ''}${issue?.message ?? 'it cannot be read'}`);
  }
  room.artifacts -= 1;
  return { name, kind: 'directory', manifest: manifest.data };
}

async function addAll(
  directory: OpenedDirectory,
  prefix: string,
  to: DirectoryEntry[],
  room: ArtifactBounds,
): Promise<void> {
  room.entries -= directory.entries.length;
  if (room.entries < 0) throw new NotPublished('there are too many files for the end of one turn');
  for (const entry of directory.entries) {
    const path = `${prefix}${entry.name}`;
    if (path.length > maxWorkspacePathLength) throw new NotPublished('a path in it is too long');
    if (entry.kind === 'link') throw new NotPublished(`${shown(path)} in it is a link`);
    if (entry.kind === 'file') {
      const { sha256, sizeBytes, executable } = entry;
      to.push({ kind: 'file', path, sha256, sizeBytes, executable });
    } else {
      to.push({ kind: 'directory', path });
      await addAll(await entry.open(), `${path}/`, to, room);
    }
  }
}

const shown = (path: string): string => JSON.stringify(path.slice(0, 200));
