import { createHash } from 'node:crypto';
import { readlinkSync, type Stats, unlinkSync } from 'node:fs';
import { maxContentBytes } from '@suzumio/protocol/content';
import { inBlocks } from '@suzumio/protocol/disk-blocks';
import { maxWorkspacePathLength, type WorkspaceLimits } from '@suzumio/protocol/workspace-manifest';
import { maxWorkspaceManifestBytes } from '@suzumio/protocol/workspace-snapshot';
import { errnoOf } from '../files/errno.js';
import { isText, OpenDirectory } from '../files/open-directory.js';
import { NotARegularFile } from '../files/regular-file.js';
import { removeTree } from '../files/remove-tree.js';
import { isLeftover, weigh } from './weigh.js';
import type { FileClock } from './file-clock.js';
import { isEqual, type KnownDirectory, type KnownEntry, manifestOf, partsOf } from './known-tree.js';
import { type Content, FileReader } from './read-file.js';
import { WorkspaceTooLarge } from './workspace-errors.js';

export interface WorkspaceBounds {
  maxBytes: number;
  /** The largest file that can be stored. */
  maxFileBytes: number;
  maxEntries: number;
}

/** What is captured of a workspace with these limits. */
export function boundsOf({ maxBytes, maxFiles }: WorkspaceLimits): WorkspaceBounds {
  return { maxBytes, maxEntries: maxFiles, maxFileBytes: maxContentBytes };
}

export interface CaptureOptions {
  bounds: WorkspaceBounds;
  /** Whether a directory at this path is left as the last known content has it, or out. @default none is */
  isIgnored?: (path: string) => boolean;
  /** Whether a program may be writing there now. A live capture changes nothing in the directory. */
  live: boolean;
  clock: FileClock;
  /** The last known content, all of it stored. Unchanged files are not read. */
  known: KnownDirectory | undefined;
  /** The worker's own directory for content that is being uploaded. */
  staging: string;
  /** Stores new content: files before the manifests that name them. The walk waits for it (backpressure). */
  store: (content: Content) => Promise<void> | void;
  /** Called between steps; throws to cancel. */
  check: () => void;
}

/** The content of a workspace; while a program writes there, as a power cut would leave it. */
export interface Captured {
  /** The SHA-256 of the root's manifest, or null where the workspace is empty. */
  id: string | null;
  /** The last known content itself where nothing of it changed. */
  root: KnownDirectory;
  /** How many entries no snapshot can hold. Unless live, they were removed, so that the directory equals the snapshot. */
  dropped: number;
}

/**
 * Captures `root` and stores its new content. The walk goes from descriptor to descriptor and follows no link, whatever
 * other programs do there meanwhile. Without `/proc`, no program may run there.
 *
 * @throws WorkspaceTooLarge beyond `bounds`; what `store` and `check` throw
 */
export async function capture(root: string, options: CaptureOptions): Promise<Captured> {
  return new Walk(options).all(root);
}

/** Before more than this is read and stored, everything is counted: what is too large is not stored in vain. */
const readUncounted = 64 * 1024 * 1024;

/** The most that links may lead to, by the lengths of what they say: they count as no bytes otherwise. */
const maxLinkBytes = 8 * 1024 * 1024;

/** System errors of an entry that was moved or replaced between two looks at it. */
const moved = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EINVAL', 'ESTALE']);
const unreadable = new Set(['EACCES', 'EPERM']);

class Walk {
  #dropped = 0;
  #found = 0;
  #bytes = 0;
  #linkBytes = 0;
  #readBytes = 0;
  #root = '';
  #stored: Set<string> | undefined;
  readonly #reader: FileReader;

  constructor(private readonly options: CaptureOptions) {
    this.#reader = new FileReader(options.staging, options.bounds.maxFileBytes, options.check);
  }

  async all(path: string): Promise<Captured> {
    this.#root = path;
    const directory = OpenDirectory.open(path);
    try {
      const root = await this.#directory(directory, '', this.options.known);
      return {
        id: root.entries.size === 0 ? null : (root.sha256 ?? null),
        root,
        dropped: this.#dropped,
      };
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
      this.options.check();
      const path = `${prefix}${name}`;
      if (isLeftover(path)) {
        if (!live) await removeTree(directory.at(name));
        continue;
      }
      const before = known?.entries.get(name);
      if (this.options.isIgnored?.(path) === true && directory.look(name)?.isDirectory()) {
        if (before?.kind === 'directory' && before.sha256 !== undefined) entries.set(name, this.#kept(before));
        continue;
      }
      if (path.length > maxWorkspacePathLength) {
        throw new WorkspaceTooLarge(`The workspace has a path of more than ${maxWorkspacePathLength} characters.`);
      }
      const entry = this.#unchanged(directory, name, before) ?? (await this.#entry(directory, name, path, before));
      if (entry) entries.set(name, entry);
    }
    const isRoot = prefix === '';
    const hasManifest = known?.sha256 !== undefined || (isRoot && entries.size === 0);
    if (known && hasManifest && hasEntriesOf(known, entries)) return known;
    const result: KnownDirectory = { kind: 'directory', entries };
    result.sha256 = isSame(result, known) ? known?.sha256 : await this.#storeManifest(result, isRoot);
    return result;
  }

  /** An ignored directory that the workspace began with: every snapshot has it as it was then. */
  #kept(directory: KnownDirectory): KnownDirectory {
    for (const part of partsOf(directory)) {
      this.#found += 1;
      this.#bytes += inBlocks(part.kind === 'file' ? part.sizeBytes : 0);
    }
    this.#require({ entries: this.#found, bytes: this.#bytes });
    return directory;
  }

  /** An unchanged file. Most files are, so this takes no promise. */
  #unchanged(directory: OpenDirectory, name: string, before: KnownEntry | undefined): KnownEntry | undefined {
    if (before?.kind !== 'file' || !before.seen) return undefined;
    const stat = directory.look(name);
    if (!stat?.isFile() || !this.options.clock.isUnchanged(stat, before.seen)) return undefined;
    this.#count(stat);
    return before;
  }

  /** Reads an entry; once more if it moves or changes meanwhile. */
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
        if (target && isText(target)) {
          this.#linkBytes += target.length;
          if (this.#linkBytes > maxLinkBytes) {
            throw new WorkspaceTooLarge(`The workspace has links with more than ${maxLinkBytes} bytes together.`);
          }
          const link: KnownEntry = { kind: 'link', target: target.toString('utf8') };
          return before && isEqual(link, before) ? before : link;
        }
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

  /** @throws Changed at the first look, if another directory was opened than was listed */
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

  /** @throws Changed at the first look, if the file changed while it was read */
  async #file(directory: OpenDirectory, name: string, path: string, found: Stats, look: number): Promise<KnownEntry> {
    const { live, clock } = this.options;
    if (!live && (found.mode & 0o400) === 0) directory.chmod(name, 0o644);
    this.#countBefore(found.size);
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
    if (bytes.length > maxWorkspaceManifestBytes) {
      throw new WorkspaceTooLarge(
        `A directory of the workspace has names and links of more than ${maxWorkspaceManifestBytes} bytes together.`,
      );
    }
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    if (this.#isNew(sha256)) await this.options.store({ sha256, sizeBytes: bytes.length, bytes });
    return sha256;
  }

  /** Whether content must be stored; true once for each hash. */
  #isNew(sha256: string): boolean {
    this.#stored ??= new Set(
      [...(this.options.known ? partsOf(this.options.known) : [])].map((part) => part.sha256 ?? ''),
    );
    if (this.#stored.has(sha256)) return false;
    this.#stored.add(sha256);
    return true;
  }

  #countBefore(bytes: number): void {
    const wasLittle = this.#readBytes <= readUncounted;
    this.#readBytes += bytes;
    if (!wasLittle || this.#readBytes <= readUncounted) return;
    const { isIgnored = () => false, check } = this.options;
    this.#require(weigh(this.#root, { isIgnored, check }));
  }

  /** Counts an entry before it is read. */
  #count(stat: Stats): void {
    if (!stat.isFile() && !stat.isDirectory() && !stat.isSymbolicLink()) return;
    this.#found += 1;
    if (!stat.isSymbolicLink()) this.#bytes += inBlocks(stat.isFile() ? stat.size : 0);
    this.#require({ entries: this.#found, bytes: this.#bytes });
  }

  #require({ entries, bytes }: { entries: number; bytes: number }): void {
    const { maxBytes, maxEntries } = this.options.bounds;
    if (entries > maxEntries) {
      throw new WorkspaceTooLarge(
        `The workspace has more than ${maxEntries} files and directories (workspace.maxFiles).`,
      );
    }
    if (bytes > maxBytes)
      throw new WorkspaceTooLarge(`The workspace has more than ${maxBytes} bytes (workspace.maxBytes).`);
  }
}

/** An entry changed between two looks at it. */
class Changed extends Error {}

/** Whether these are the very entries that were known. */
function hasEntriesOf(known: KnownDirectory, entries: KnownDirectory['entries']): boolean {
  if (known.entries.size !== entries.size) return false;
  for (const [name, entry] of entries) if (known.entries.get(name) !== entry) return false;
  return true;
}

function isSame(directory: KnownDirectory, known: KnownDirectory | undefined): boolean {
  if (known?.sha256 === undefined || known.entries.size !== directory.entries.size) return false;
  for (const [name, entry] of directory.entries) if (!isEqual(entry, known.entries.get(name))) return false;
  return true;
}

/** The only permission that a snapshot keeps. */
export function isExecutable({ mode }: Stats): boolean {
  return (mode & 0o100) !== 0;
}
