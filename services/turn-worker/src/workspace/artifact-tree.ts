import { createHash } from 'node:crypto';
import { type DirectoryEntry as Listed, directoryManifest } from '@suzumio/protocol/artifacts';
import type { ArtifactSeen, ArtifactsSeen } from '@suzumio/protocol/artifacts-directory';
import { keptPartOf } from '@suzumio/protocol/kept-path';
import { type DirectoryEntry, manifestBytes, maxWorkspacePathLength } from '@suzumio/protocol/workspace-manifest';
import { byName, SnapshotInvalid } from '@suzumio/protocol/workspace-snapshot';
import { downloadList, type FetchContent } from './content-exchange.js';
import type { DiskNames } from './disk-names.js';

/** How many files and directories others' artifacts may be here, together. */
const maxEntries = 20_000;
/** Of a name, on any file system. */
const maxNameBytes = 255;

/** What an agent finds of others, and how it gets to its own. */
export interface SeenBy extends ArtifactsSeen {
  agent: string;
  /** Where its own directory is, where a link leads there; without it, that is mounted over an empty one. */
  link?: string | undefined;
}

/** Artifacts as a snapshot of the directory that is to hold them. */
export interface ArtifactTree {
  /** The hash of its first manifest. */
  root: string;
  manifests: ReadonlyMap<string, Uint8Array>;
  /** How many artifacts it lacks: those that no file system holds, or this one, that would be run, or that are too many. */
  left: number;
}

/**
 * Of each creator, lists of so many entries are read and no more, whether they fit or not: a list costs as much as its directory.
 *
 * @param names of the disk on which it is to be
 * @throws SnapshotInvalid where the list of a directory is none; what `fetch` throws
 */
export async function artifactTree(
  { creators, published, agent, link }: SeenBy,
  fetch: FetchContent,
  names: Pick<DiskNames, 'take'>,
  atMost = maxEntries,
): Promise<ArtifactTree> {
  const manifests = new Manifests();
  const of = new Map<string, DirectoryEntry[]>([agent, ...creators].map((creator) => [creator, []]));
  const read = new Map<string, number>();
  let [room, left] = [atMost, 0];
  for (const artifact of published) {
    const { creator, kind } = artifact;
    const ofCreator = read.get(creator) ?? 0;
    if (room <= 0 || (kind === 'directory' && ofCreator >= atMost)) {
      left += 1;
      continue;
    }
    const listed = kind === 'file' ? [] : await listOf(artifact, fetch);
    read.set(creator, ofCreator + listed.length);
    const needed = 1 + listed.length;
    const isListed = needed <= room && isWritable(artifact, listed);
    const path = `${creator}/${artifact.name}`;
    if (!isListed || !(await names.take(path, kind === 'directory' ? listed : undefined))) left += 1;
    else {
      room -= needed;
      of.get(artifact.creator)?.push(manifests.entry(artifact, listed));
    }
  }
  const top = [...of].map(([name, entries]): DirectoryEntry => {
    if (name === agent && link !== undefined) return { kind: 'link', name, target: link };
    return { kind: 'directory', name, sha256: manifests.add(entries) };
  });
  return { root: manifests.add(top), manifests: manifests.all, left };
}

class Manifests {
  readonly all = new Map<string, Uint8Array>();

  /** @returns the hash of a directory's manifest */
  add(entries: DirectoryEntry[]): string {
    const bytes = manifestBytes(entries.sort(byName));
    const sha256 = hashOf(bytes);
    this.all.set(sha256, bytes);
    return sha256;
  }

  entry({ name, kind, sha256, sizeBytes }: ArtifactSeen, listed: readonly Listed[]): DirectoryEntry {
    if (kind === 'file') return { kind, name, sha256, sizeBytes, executable: false };
    const inside = new Map<string, DirectoryEntry[]>();
    const of = (path: string): DirectoryEntry[] => {
      const entries = inside.get(path) ?? [];
      inside.set(path, entries);
      return entries;
    };
    // What is in a directory comes before it: its manifest has their hashes.
    for (const entry of listed.toReversed()) {
      const slash = entry.path.lastIndexOf('/');
      const { path, ...content } = { ...entry, name: entry.path.slice(slash + 1) };
      of(path.slice(0, Math.max(0, slash))).push(
        content.kind === 'file' ? content : { ...content, sha256: this.add(of(path)) },
      );
    }
    return { kind, name, sha256: this.add(of('')) };
  }
}

/** Whether it can be written, and nothing in it is what Git or a sandbox would take for its own. */
function isWritable({ creator, name }: ArtifactSeen, listed: readonly Listed[]): boolean {
  if (Buffer.byteLength(name) > maxNameBytes) return false;
  const paths = [name, ...listed.map(({ path }) => `${name}/${path}`)];
  return paths.every((path) => {
    return `${creator}/${path}`.length <= maxWorkspacePathLength && keptPartOf(path) === undefined;
  });
}

/** What a published directory lists. */
async function listOf({ name, sha256 }: ArtifactSeen, fetch: FetchContent): Promise<readonly Listed[]> {
  const bytes = await downloadList(sha256, fetch);
  try {
    if (hashOf(bytes) !== sha256) throw new Error('it is not what its hash says');
    return directoryManifest.parse(JSON.parse(Buffer.from(bytes).toString('utf8'))).entries;
  } catch (error) {
    throw new SnapshotInvalid(`The list of the published directory ${name} cannot be read.`, { cause: error });
  }
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
