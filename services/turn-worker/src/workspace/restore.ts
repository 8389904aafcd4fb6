import { lchownSync, mkdirSync, readlinkSync, renameSync, type Stats, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { CaptureScope } from '@suzumio/protocol/ignored-roots';
import { ownArtifacts } from '@suzumio/protocol/own-artifacts';
import type { EntryAttributes } from '@suzumio/protocol/workspace-manifest';
import {
  type SnapshotDirectory,
  type SnapshotEntry,
  type SnapshotFile,
  SnapshotInvalid,
} from '@suzumio/protocol/workspace-snapshot';
import { errnoOf } from '../files/errno.js';
import { OpenDirectory } from '../files/open-directory.js';
import { removeTree } from '../files/remove-tree.js';
import { applyAttributes, hasAttributesOf } from './entry-attributes.js';
import type { FileClock } from './file-clock.js';
import type { OwnDirectory } from './own-directory.js';
import type { KnownDirectory, KnownEntry, KnownFile } from './known-tree.js';
import { FileReader } from './read-file.js';
import { permit, permitRoot } from './unreadable-entry.js';

export interface Owner {
  uid: number;
  gid: number;
}

export interface RestoreOptions {
  /** The last known content of the directory. */
  known: KnownDirectory | undefined;
  /** Reads the clock of the workspace's file system. */
  clock: () => FileClock;
  /** Fetches a file's content to `to`, and verifies it. */
  fetch: (file: SnapshotFile, path: string, to: string) => Promise<void>;
  /** The worker's own directory on the same file system, outside of every mount. */
  temporary: string;
  /** What is captured. A directory that is not stays as it is, if it is the owner's. */
  scope: CaptureScope;
  /** Is restored with it. */
  own?: OwnDirectory | undefined;
  /** The owner of the files. @default this process's user */
  owner: Owner | undefined;
  /** Called between steps; throws to cancel. */
  check: () => void;
}

/** How many files of a directory are fetched at a time. */
const atATime = 4;
/** Of what is not known to stay, so many names are looked at and removed before more are listed. */
const listedAtATime = 20_000;

/**
 * Makes a directory equal a snapshot, from descriptor to descriptor, without following links. No other process may be
 * writing there.
 *
 * @returns the known content from now on
 * @throws SnapshotInvalid where two of its names are one on this disk
 */
export async function restore(
  path: string,
  snapshot: SnapshotDirectory,
  options: RestoreOptions,
): Promise<KnownDirectory> {
  const restoration = new Restoration(options);
  const bring = async (at: string, prefix: string, wanted: SnapshotDirectory, known: KnownDirectory | undefined) => {
    permitRoot(at);
    const directory = OpenDirectory.open(at);
    try {
      return await restoration.bring(directory, prefix, wanted, known);
    } finally {
      directory.close();
    }
  };
  const { own, known: before } = options;
  const { workspace, artifacts } = own ? apart(snapshot) : { workspace: snapshot };
  const known = await bring(path, '', workspace, before);
  if (own) {
    const knownOwn = before?.entries.get(ownArtifacts);
    const wanted = artifacts ?? { sha256: undefined, entries: [] };
    const ownBefore = knownOwn?.kind === 'directory' ? knownOwn : undefined;
    const restored = await bring(own.directory, `${ownArtifacts}/`, wanted, ownBefore);
    if (artifacts) known.entries = inOrder(known.entries.set(ownArtifacts, restored));
  }
  restoration.noteFiles();
  return known;
}

/** What of a snapshot is in the workspace, and what in the agent's own directory of artifacts. */
function apart({ sha256, entries }: SnapshotDirectory): {
  workspace: SnapshotDirectory;
  artifacts?: SnapshotDirectory | undefined;
} {
  const own = entries.find(({ name }) => name === ownArtifacts);
  return {
    workspace: { sha256, entries: entries.filter((entry) => entry !== own) },
    artifacts: own?.kind === 'directory' ? own.directory : undefined,
  };
}

const inOrder = (entries: KnownDirectory['entries']): KnownDirectory['entries'] =>
  new Map([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));

class Restoration {
  readonly #files: { file: KnownFile; stat: Stats }[] = [];
  readonly #reader: FileReader;
  readonly #clock: FileClock;
  #fetched = 0;
  /** The time of all that a snapshot of an earlier version has. */
  readonly #oneTimeUs = Date.now() * 1_000;

  constructor(private readonly options: RestoreOptions) {
    this.#clock = options.clock();
    this.#reader = new FileReader(options.temporary, Number.POSITIVE_INFINITY, options.check);
  }

  /** @param isPartly whether only what is tracked of it, and what the snapshot has, is looked at */
  async bring(
    directory: OpenDirectory,
    prefix: string,
    wanted: SnapshotDirectory,
    known: KnownDirectory | undefined,
    isPartly = false,
  ): Promise<KnownDirectory> {
    const tracked = isPartly ? this.options.scope.trackedIn(prefix.slice(0, -1)) : undefined;
    const there = await this.#clear(directory, prefix, wanted, known, tracked);
    await this.#writeMissing(directory, prefix, wanted, there);
    const entries = new Map<string, KnownEntry>();
    for (const entry of wanted.entries) {
      this.options.check();
      const path = `${prefix}${entry.name}`;
      const isIgnored = there.has(entry.name) && this.#isLeft(directory, entry.name, entry, path);
      const hasTracked = this.options.scope.trackedIn(path) !== undefined;
      const stands =
        isIgnored && !hasTracked && entry.kind === 'directory' ? asKnown(entry.directory, entry) : undefined;
      const isPartly = hasTracked && (isIgnored || (tracked !== undefined && there.has(entry.name)));
      entries.set(
        entry.name,
        stands ?? (await this.#settle(directory, path, entry, known, { isPartly, isWritten: !there.has(entry.name) })),
      );
    }
    return { kind: 'directory', sha256: wanted.sha256, entries };
  }

  /** Records the identity of each file, once all is written. */
  noteFiles(): void {
    const clock = this.options.clock();
    for (const { file, stat } of this.#files) file.seen = clock.seen(stat);
  }

  /**
   * Removes entries that differ from the snapshot.
   *
   * @param tracked only these, and what the snapshot has, are looked at
   * @returns the names of those that stay
   */
  async #clear(
    directory: OpenDirectory,
    prefix: string,
    wanted: SnapshotDirectory,
    known: KnownDirectory | undefined,
    tracked: ReadonlySet<string> | undefined,
  ): Promise<Set<string>> {
    const entries = new Map(wanted.entries.map((entry) => [entry.name, entry]));
    const left = new Set<string>();
    // However much is there, little of it is in memory at a time.
    for (let isAll = false; !isAll;) {
      const listed = tracked
        ? { names: [...new Set([...tracked, ...entries.keys()])], strange: [], isAll: true }
        : directory.list(left.size + listedAtATime);
      ({ isAll } = listed);
      for (const name of listed.strange) await removeTree(directory.atBytes(name));
      for (const name of listed.names) {
        if (left.has(name)) continue;
        this.options.check();
        const entry = entries.get(name);
        if (this.#isLeft(directory, name, entry, `${prefix}${name}`)) left.add(name);
        else if (entry && this.#isAsWanted(directory, entry, known?.entries.get(name))) left.add(name);
        else await removeTree(directory.at(name));
      }
    }
    return left;
  }

  /** A cache that programs of another user have written would not be this one's to write. */
  #isLeft(directory: OpenDirectory, name: string, wanted: SnapshotEntry | undefined, path: string): boolean {
    const { scope, owner } = this.options;
    if (!scope.isIgnored(path) || (wanted !== undefined && wanted.kind !== 'directory')) return false;
    // What the snapshot does not have of it is to be gone.
    if (wanted === undefined && scope.trackedIn(path)) return false;
    const stat = directory.look(name);
    return stat?.isDirectory() === true && (owner === undefined || stat.uid === owner.uid);
  }

  #isAsWanted(directory: OpenDirectory, wanted: SnapshotEntry, known: KnownEntry | undefined): boolean {
    const { name } = wanted;
    const stat = directory.look(name);
    switch (wanted.kind) {
      case 'directory':
        return stat?.isDirectory() ?? false;
      case 'link':
        return (stat?.isSymbolicLink() ?? false) && readlinkSync(directory.at(name)) === wanted.target;
      case 'file':
        if (!stat?.isFile() || stat.size !== wanted.sizeBytes) return false;
        // What is changed of a file that has two names is changed of both.
        if (stat.nlink > 1 && !hasAttributesOf(stat, wanted)) return false;
        return this.#hashOf(directory, name, stat, known) === wanted.sha256;
    }
  }

  #hashOf(directory: OpenDirectory, name: string, stat: Stats, known: KnownEntry | undefined): string {
    if (known?.kind === 'file' && known.seen && this.#clock.isUnchanged(stat, known.seen)) return known.sha256;
    const restrict = permit(directory, name, stat, 0o400);
    try {
      return this.#reader.hash(directory.at(name));
    } catch (error) {
      // A program holds a lease on it: it is written anew.
      if (errnoOf(error) !== 'EAGAIN') throw error;
      return '';
    } finally {
      restrict();
    }
  }

  async #writeMissing(
    directory: OpenDirectory,
    prefix: string,
    wanted: SnapshotDirectory,
    there: ReadonlySet<string>,
  ): Promise<void> {
    const missing = wanted.entries.filter(({ name }) => !there.has(name)).values();
    const writers = Array.from({ length: atATime }, async () => {
      for (const entry of missing) await this.#write(directory, prefix, entry);
    });
    // All must have ended before the directory is closed: its descriptor number may then be another directory's.
    const failed = (await Promise.allSettled(writers)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }

  async #write(directory: OpenDirectory, prefix: string, entry: SnapshotEntry): Promise<void> {
    const { check, fetch, temporary } = this.options;
    check();
    switch (entry.kind) {
      case 'directory':
        mkdirSync(directory.at(entry.name));
        return;
      case 'link':
        symlinkSync(entry.target, directory.at(entry.name));
        return;
      case 'file': {
        const to = join(temporary, `content-${++this.#fetched}`);
        await fetch(entry, `${prefix}${entry.name}`, to);
        requireFree(directory, entry.name, `${prefix}${entry.name}`);
        renameSync(to, directory.at(entry.name));
      }
    }
  }

  /** Sets an entry's owner and describes it; a directory with all its content. */
  async #settle(
    parent: OpenDirectory,
    path: string,
    entry: SnapshotEntry,
    known: KnownDirectory | undefined,
    { isPartly, isWritten }: { isPartly: boolean; isWritten: boolean },
  ): Promise<KnownEntry> {
    const { name } = entry;
    let stat = parent.look(name);
    const { owner } = this.options;
    if (owner && stat && (stat.uid !== owner.uid || stat.gid !== owner.gid)) {
      lchownSync(parent.at(name), owner.uid, owner.gid);
      stat = parent.look(name);
    }
    // In what others have published, what stands keeps its time.
    const timeUs = isWritten || this.options.own ? this.#oneTimeUs : undefined;
    const defaults = { timeUs, isNew: isWritten };
    switch (entry.kind) {
      case 'link': {
        applyAttributes(parent, entry, defaults);
        return { kind: 'link', target: entry.target, mtimeUs: entry.mtimeUs };
      }
      case 'file': {
        stat = applyAttributes(parent, entry, defaults);
        const { sha256, sizeBytes, executable, mode, mtimeUs } = entry;
        const file: KnownFile = { kind: 'file', sha256, sizeBytes, executable, mode, mtimeUs };
        if (stat) this.#files.push({ file, stat });
        return file;
      }
      case 'directory': {
        if (stat && (stat.mode & 0o755) !== 0o755) parent.chmod(name, 0o755);
        const before = known?.entries.get(name);
        const { mode, mtimeUs } = entry;
        const directory = parent.open(name);
        try {
          const inside = before?.kind === 'directory' ? before : undefined;
          const restored = await this.bring(directory, `${path}/`, entry.directory, inside, isPartly);
          return { ...restored, mode, mtimeUs };
        } finally {
          directory.close();
          // After all that is in it, which its permissions may forbid.
          applyAttributes(parent, entry, defaults);
        }
      }
    }
  }
}

/**
 * What differs from the snapshot was removed, so that nothing can be here.
 *
 * @throws SnapshotInvalid where something is
 */
function requireFree(directory: OpenDirectory, name: string, path: string): void {
  if (directory.look(name) === undefined) return;
  throw new SnapshotInvalid(
    `${path} and another name beside it are one on this worker's disk: expected one that tells upper from lower case.`,
  );
}

/** A directory of a snapshot, none of whose files has been looked at. */
function asKnown({ sha256, entries }: SnapshotDirectory, { mode, mtimeUs }: EntryAttributes): KnownDirectory {
  const known = entries.map((entry): [string, KnownEntry] => {
    if (entry.kind === 'directory') return [entry.name, asKnown(entry.directory, entry)];
    const { name, ...content } = entry;
    return [name, content];
  });
  return { kind: 'directory', sha256, entries: new Map(known), mode, mtimeUs };
}
