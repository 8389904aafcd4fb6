import { createHash } from 'node:crypto';
import { readlinkSync, type Stats, unlinkSync } from 'node:fs';
import { maxWorkspacePathLength } from '@suzumio/protocol/workspace-manifest';
import { errnoOf } from '../files/errno.js';
import { hasDescriptorPaths, isText, OpenDirectory } from '../files/open-directory.js';
import { NotARegularFile } from '../files/regular-file.js';
import { removeTree } from '../files/remove-tree.js';
import type { FileClock } from './file-clock.js';
import { isEqual, type KnownDirectory, type KnownEntry, manifestOf, partsOf } from './known-tree.js';
import { type Content, FileReader } from './read-file.js';
import { WorkspaceTooLarge } from './workspace-errors.js';

export interface WorkspaceBounds {
  maxBytes: number;
  /** Of one file: no larger one can be stored. */
  maxFileBytes: number;
  maxEntries: number;
}

export interface CaptureOptions {
  bounds: WorkspaceBounds;
  /** Whether a program may be writing there now. Then nothing in the directory is changed. */
  live: boolean;
  clock: FileClock;
  /** What was there before, all of which is stored. Of files that it knows and that have not changed, nothing is read. */
  known: KnownDirectory | undefined;
  /** A directory of ours for content on its way. */
  staging: string;
  /** Stores new content, files before the manifests that name them. It may ask the walk to wait. */
  store: (content: Content) => Promise<void> | void;
  /** Called all the time; throws when it is enough. */
  check: () => void;
}

/** A workspace's content at one moment; while a program writes there, as a power cut would have left it. */
export interface Captured {
  /** The SHA-256 of the root's manifest, or null where the workspace is empty. */
  id: string | null;
  root: KnownDirectory;
  /** How many entries could not be kept. Where nothing else writes they were removed: the directory is what the snapshot says. */
  dropped: number;
}

/**
 * Describes what is in `root`, and stores what of it is new. The walk goes from descriptor to descriptor and follows no
 * link, whatever the directory's owner does there meanwhile.
 *
 * @throws WorkspaceTooLarge beyond `bounds`; Error for a live capture on a system without `/proc`; what `store` and
 *   `check` throw
 */
export async function capture(root: string, options: CaptureOptions): Promise<Captured> {
  if (options.live && !hasDescriptorPaths) {
    throw new Error('A workspace in which a program writes cannot be captured on a system without /proc.');
  }
  return new Walk(options).all(root);
}

/** What a runner keeps for itself at the top of a workspace, and what a killed one left half written. */
const isRunners = (name: string) => name === '.suzumio' || /^\.suzumio-.*\.tmp$/s.test(name);

/** What happens to an entry that is moved, or swapped for something else, between two looks at it. */
const moved = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EINVAL', 'ESTALE']);
const unreadable = new Set(['EACCES', 'EPERM']);

class Walk {
  #dropped = 0;
  #found = 0;
  #bytes = 0;
  #stored: Set<string> | undefined;
  readonly #reader: FileReader;

  constructor(private readonly options: CaptureOptions) {
    this.#reader = new FileReader(options.staging, options.bounds.maxFileBytes, options.check);
  }

  async all(path: string): Promise<Captured> {
    const directory = OpenDirectory.open(path);
    try {
      const root = await this.#directory(directory, '', this.options.known);
      return { id: root.entries.size === 0 ? null : (root.sha256 ?? null), root, dropped: this.#dropped };
    } finally {
      directory.close();
    }
  }

  async #directory(
    directory: OpenDirectory,
    prefix: string,
    known: KnownDirectory | undefined,
  ): Promise<KnownDirectory> {
    const { bounds, live } = this.options;
    const { names, strange } = directory.list(bounds.maxEntries);
    for (const name of strange) {
      this.#dropped += 1;
      if (!live) await removeTree(directory.atBytes(name));
    }
    const entries = new Map<string, KnownEntry>();
    for (const name of names) {
      if (prefix === '' && isRunners(name)) continue;
      this.options.check();
      const path = `${prefix}${name}`;
      if (path.length > maxWorkspacePathLength) {
        throw new WorkspaceTooLarge(`The workspace has a path of more than ${maxWorkspacePathLength} characters.`);
      }
      const before = known?.entries.get(name);
      const entry = this.#unchanged(directory, name, before) ?? (await this.#entry(directory, name, path, before));
      if (entry) entries.set(name, entry);
    }
    const result: KnownDirectory = { kind: 'directory', entries };
    result.sha256 = isSame(result, known) ? known?.sha256 : await this.#storeManifest(result, prefix === '');
    return result;
  }

  /** A file that need not be read: most of them, and so without a promise. */
  #unchanged(directory: OpenDirectory, name: string, before: KnownEntry | undefined): KnownEntry | undefined {
    if (before?.kind !== 'file' || !before.seen) return undefined;
    const stat = directory.look(name);
    if (!stat?.isFile() || !this.options.clock.isUnchanged(stat, before.seen)) return undefined;
    this.#count(stat);
    return before;
  }

  /** What stands there. What moves or changes while it is looked at is looked at once more. */
  async #entry(
    directory: OpenDirectory,
    name: string,
    path: string,
    before: KnownEntry | undefined,
  ): Promise<KnownEntry | undefined> {
    for (let look = 1; ; look += 1) {
      try {
        const stat = directory.look(name);
        if (!stat) return undefined;
        if (look === 1) this.#count(stat);
        if (stat.isDirectory()) return await this.#subdirectory(directory, name, path, before, stat, look);
        if (stat.isFile()) return await this.#file(directory, name, path, stat, look);
        const target = stat.isSymbolicLink() ? readlinkSync(directory.at(name), { encoding: 'buffer' }) : undefined;
        if (target && isText(target)) return { kind: 'link', target: target.toString('utf8') };
        this.#dropped += 1;
        if (!this.options.live) unlinkSync(directory.at(name));
        return undefined;
      } catch (error) {
        if (this.options.live && unreadable.has(errnoOf(error) ?? '')) {
          this.#dropped += 1;
          return undefined;
        }
        const isMoved = error instanceof Changed || error instanceof NotARegularFile || moved.has(errnoOf(error) ?? '');
        if (!isMoved) throw error;
        if (look > 1) return undefined;
      }
    }
  }

  /** @throws Changed where what was opened at the first look is not what was there before */
  async #subdirectory(
    parent: OpenDirectory,
    name: string,
    path: string,
    before: KnownEntry | undefined,
    stat: Stats,
    look: number,
  ): Promise<KnownDirectory> {
    if (!this.options.live && (stat.mode & 0o700) !== 0o700) parent.chmod(name, 0o755);
    const directory = parent.open(name);
    try {
      const { dev, ino } = directory.stat();
      if ((dev !== stat.dev || ino !== stat.ino) && look === 1) throw new Changed();
      return await this.#directory(directory, `${path}/`, before?.kind === 'directory' ? before : undefined);
    } finally {
      directory.close();
    }
  }

  /** @throws Changed where it did so while it was read at the first look */
  async #file(directory: OpenDirectory, name: string, path: string, found: Stats, look: number): Promise<KnownEntry> {
    const { live, clock } = this.options;
    if (!live && (found.mode & 0o400) === 0) directory.chmod(name, 0o644);
    const { content, stat, isSteady } = this.#reader.read(directory.at(name), path);
    const isAgain = !isSteady && look === 1;
    if (!isAgain && this.#isNew(content.sha256)) await this.options.store(content);
    else if ('file' in content) unlinkSync(content.file);
    if (isAgain) throw new Changed();
    const { sha256, sizeBytes } = content;
    return {
      kind: 'file',
      sha256,
      sizeBytes,
      executable: isExecutable(stat),
      seen: isSteady ? clock.seen(stat) : undefined,
    };
  }

  async #storeManifest(directory: KnownDirectory, isRoot: boolean): Promise<string | undefined> {
    if (isRoot && directory.entries.size === 0) return undefined;
    const bytes = manifestOf(directory);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    if (this.#isNew(sha256)) await this.options.store({ sha256, sizeBytes: bytes.length, bytes });
    return sha256;
  }

  /** Whether content has to be stored: asked once of each. */
  #isNew(sha256: string): boolean {
    this.#stored ??= new Set(
      [...(this.options.known ? partsOf(this.options.known) : [])].map((part) => part.sha256 ?? ''),
    );
    if (this.#stored.has(sha256)) return false;
    this.#stored.add(sha256);
    return true;
  }

  /** Before anything is read of it. */
  #count(stat: Stats): void {
    const { maxBytes, maxEntries } = this.options.bounds;
    if (!stat.isFile() && !stat.isDirectory() && !stat.isSymbolicLink()) return;
    this.#found += 1;
    if (stat.isFile()) this.#bytes += stat.size;
    if (this.#found > maxEntries) {
      throw new WorkspaceTooLarge(`The workspace has more than ${maxEntries} files and directories.`);
    }
    if (this.#bytes > maxBytes) throw new WorkspaceTooLarge(`The workspace has more than ${maxBytes} bytes.`);
  }
}

/** Something was not the same before and after. */
class Changed extends Error {}

function isSame(directory: KnownDirectory, known: KnownDirectory | undefined): boolean {
  if (known?.sha256 === undefined || known.entries.size !== directory.entries.size) return false;
  for (const [name, entry] of directory.entries) if (!isEqual(entry, known.entries.get(name))) return false;
  return true;
}

/** Of a file's permissions a snapshot keeps this one. */
export function isExecutable({ mode }: Stats): boolean {
  return (mode & 0o100) !== 0;
}
