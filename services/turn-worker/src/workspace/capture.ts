import { createHash } from 'node:crypto';
import { readlinkSync, type Stats, unlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AttemptStats, maxLeftOutNameLength, maxLeftOutNames } from '@suzumio/protocol/attempts';
import { beginningOf } from '@suzumio/protocol/cut-text';
import { type CaptureScope, captureScope } from '@suzumio/protocol/ignored-roots';
import { ownArtifacts } from '@suzumio/protocol/own-artifacts';
import { maxWorkspacePathLength } from '@suzumio/protocol/workspace-manifest';
import { maxWorkspaceManifestBytes } from '@suzumio/protocol/workspace-snapshot';
import { countFiles } from '../files/count-files.js';
import { errnoOf } from '../files/errno.js';
import { isText, OpenDirectory } from '../files/open-directory.js';
import { NotARegularFile } from '../files/regular-file.js';
import { removeTree } from '../files/remove-tree.js';
import { CaptureSize } from './capture-size.js';
import { isLeftover, weigh } from './weigh.js';
import { type FileClock, hasSameTimes } from './file-clock.js';
import { isEqual, type KnownDirectory, type KnownEntry, manifestOf, partsOf } from './known-tree.js';
import { type OwnDirectory, seenIn } from './own-directory.js';
import { type Content, FileReader } from './read-file.js';
import type { WorkspaceBounds } from './workspace-bounds.js';
import { WorkspaceTooLarge, WorkspaceUnreadable } from './workspace-errors.js';

export interface CaptureOptions {
  bounds: WorkspaceBounds;
  /** What is captured. A directory that is not is left as the last known content has it, or out. @default everything */
  scope?: CaptureScope;
  /** Is captured with it. */
  own?: OwnDirectory | undefined;
  /**
   * Whether a program may be writing there now. A live capture changes nothing in the directory, but for permissions without
   * which it could not read it.
   */
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
  /** How long a live capture waits for programs that hold leases on files, in all. @default longer than the system lets them */
  leasePatienceMs?: number | undefined;
}

/** The content of a workspace; while a program writes there, as a power cut would leave it. */
export interface Captured {
  /** The SHA-256 of the root's manifest, or null where the workspace is empty. */
  id: string | null;
  /** The last known content itself where nothing of it changed. */
  root: KnownDirectory;
  /** What no snapshot can hold. Unless live, it was removed, so that the directory equals the snapshot. */
  leftOut?: AttemptStats['leftOut'];
  /** How many files are in directories that are not captured; absent if live. */
  ignoredFiles?: number | undefined;
}

/**
 * Captures `root` and stores its new content. The walk goes from descriptor to descriptor and follows no link, whatever
 * other programs do there meanwhile. Without `/proc`, no program may run there.
 *
 * @throws WorkspaceTooLarge beyond `bounds`; WorkspaceUnreadable where a live capture would lack what it cannot read; what `store`
 *   and `check` throw
 */
export async function capture(root: string, options: CaptureOptions): Promise<Captured> {
  return new Walk(root, options).all();
}

/** Where files that are not captured are no longer counted: a worker lets no more be there. */
const mostIgnoredFiles = 500_000;

/** System errors of an entry that was moved or replaced between two looks at it. */
const moved = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EINVAL', 'ESTALE']);
const unreadable = new Set(['EACCES', 'EPERM']);

/**
 * The system error of a file on which a program holds a lease, as a server of files does. The system has asked the program to
 * give it back, and takes it away after `fs.lease-break-time`, 45 seconds unless set otherwise.
 */
const leased = 'EAGAIN';
const usualLeasePatienceMs = 60_000;
const leasePollMs = 50;

class Walk {
  #leftOut: AttemptStats['leftOut'];
  #ignoredFiles = 0;
  #stored: Set<string> | undefined;
  readonly #reader: FileReader;
  /** How long this may still wait for leases. */
  #leasePatienceMs: number;
  readonly #scope: CaptureScope;
  readonly #size: CaptureSize;

  constructor(
    private readonly root: string,
    private readonly options: CaptureOptions,
  ) {
    const { live, leasePatienceMs = usualLeasePatienceMs } = options;
    // Nobody is told at the end of a turn; nor does a program of its own hold a lease then.
    this.#scope = options.scope ?? captureScope([]);
    this.#leasePatienceMs = live ? leasePatienceMs : Number.POSITIVE_INFINITY;
    this.#size = new CaptureSize(options.bounds, () =>
      weigh(root, { isIgnored: this.#scope.isIgnored, own: options.own, check: options.check }),
    );
    this.#reader = new FileReader(options.staging, options.bounds.maxFileBytes, options.check);
  }

  async all(): Promise<Captured> {
    const directory = OpenDirectory.open(this.root);
    try {
      const root = await this.#directory(directory, '', this.options.known);
      return {
        id: root.entries.size === 0 ? null : (root.sha256 ?? null),
        root,
        leftOut: this.#leftOut,
        ...(this.options.live ? {} : { ignoredFiles: Math.max(0, this.#ignoredFiles) }),
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
    const tracked = this.#scope.trackedIn(prefix.slice(0, -1));
    const { names, strange } = tracked
      ? { names: [...tracked].sort(), strange: [] }
      : directory.list(bounds.maxEntries);
    for (const name of strange) {
      this.#leaveOut(`${prefix}${name.toString()}`);
      if (!live) await removeTree(directory.atBytes(name));
    }
    const entries = new Map<string, KnownEntry>();
    const isRoot = prefix === '';
    for (const name of isRoot && this.options.own ? withOwn(names) : names) {
      this.options.check();
      const path = `${prefix}${name}`;
      if (isLeftover(path)) {
        if (!live) await removeTree(directory.at(name));
        const own = path === ownArtifacts ? await this.#own(known?.entries.get(name)) : undefined;
        if (own) entries.set(name, own);
        continue;
      }
      const before = known?.entries.get(name);
      const isIgnored = this.#scope.isIgnored(path) && directory.look(name)?.isDirectory() === true;
      // In a directory that is ignored, all was counted before.
      const isCounted = isIgnored && !tracked && !live;
      if (isCounted) this.#ignoredFiles += this.#filesIn(directory, name, path);
      if (isIgnored && !this.#scope.trackedIn(path)) {
        if (before?.kind === 'directory' && before.sha256 !== undefined) {
          // The workspace began with it: every snapshot has it as it was then.
          this.#size.addKnown(before);
          entries.set(name, before);
        }
        continue;
      }
      if (path.length > maxWorkspacePathLength) {
        throw new WorkspaceTooLarge(`The workspace has a path of more than ${maxWorkspacePathLength} characters.`);
      }
      const entry = this.#unchanged(directory, name, before) ?? (await this.#entry(directory, name, path, before));
      if (entry) entries.set(name, entry);
      if (isCounted && entry) this.#ignoredFiles -= filesOf(entry);
    }
    const hasManifest = known?.sha256 !== undefined || (isRoot && entries.size === 0);
    if (known && hasManifest && hasEntriesOf(known, entries)) return known;
    const result: KnownDirectory = { kind: 'directory', entries };
    result.sha256 = isSame(result, known) ? known?.sha256 : await this.#storeManifest(result, isRoot);
    return result;
  }

  /** What is in the agent's own directory of artifacts; undefined where it is empty. */
  async #own(before: KnownEntry | undefined): Promise<KnownDirectory | undefined> {
    const { own } = this.options;
    if (!own) return undefined;
    const directory = OpenDirectory.open(own.directory);
    try {
      const known = before?.kind === 'directory' ? before : undefined;
      const { files, directories } = directory.kinds(0);
      // Most agents have none: no manifest is stored of it.
      if (files + directories.length === 0) return undefined;
      const captured = await this.#directory(directory, `${ownArtifacts}/`, known);
      return captured.entries.size === 0 ? undefined : captured;
    } finally {
      directory.close();
    }
  }

  #leaveOut(path: string): void {
    this.#leftOut ??= { count: 0, names: [] };
    this.#leftOut.count += 1;
    if (this.#leftOut.names.length >= maxLeftOutNames) return;
    this.#leftOut.names.push(beginningOf(this.#seen(path), maxLeftOutNameLength));
  }

  #seen(path: string): string {
    return seenIn(this.options.own, path);
  }

  #filesIn(parent: OpenDirectory, name: string, path: string): number {
    const atMost = mostIgnoredFiles - this.#ignoredFiles;
    return countFiles(parent, name, {
      atMost,
      maxDepth: maxWorkspacePathLength - path.length,
      check: this.options.check,
    });
  }

  /** An unchanged file. Most files are, so this takes no promise. */
  #unchanged(directory: OpenDirectory, name: string, before: KnownEntry | undefined): KnownEntry | undefined {
    if (before?.kind !== 'file' || !before.seen) return undefined;
    const stat = directory.look(name);
    if (!stat?.isFile() || !this.options.clock.isUnchanged(stat, before.seen)) return undefined;
    this.#size.add(stat);
    return before;
  }

  /** Reads an entry; once more if it moves or changes meanwhile. */
  async #entry(
    directory: OpenDirectory,
    name: string,
    path: string,
    before: KnownEntry | undefined,
  ): Promise<KnownEntry | undefined> {
    let isCounted = false;
    for (let look = 1; ; look += 1) {
      let stat: Stats | undefined;
      try {
        stat = directory.look(name);
        if (!stat) return undefined;
        if (!isCounted) this.#size.add(stat);
        isCounted = true;
        if (stat.isDirectory()) return await this.#subdirectory(directory, name, path, before, stat, look);
        if (stat.isFile()) return await this.#file(directory, name, path, stat, look);
        const target = stat.isSymbolicLink() ? readlinkSync(directory.at(name), { encoding: 'buffer' }) : undefined;
        if (target && isText(target)) {
          this.#size.addTarget(target);
          const link: KnownEntry = { kind: 'link', target: target.toString('utf8') };
          return before && isEqual(link, before) ? before : link;
        }
        this.#leaveOut(path);
        if (!this.options.live) unlinkSync(directory.at(name));
        return undefined;
      } catch (error) {
        const code = errnoOf(error) ?? '';
        if (code === leased && (await this.#waitForLease())) {
          look -= 1;
          continue;
        }
        if (this.options.live && (code === leased || unreadable.has(code)))
          return asBefore(stat, this.#seen(path), before, code);
        const isMoved = error instanceof Changed || error instanceof NotARegularFile || moved.has(code);
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
    if (this.options.live) permit(parent, name, stat, 0o500);
    else if ((stat.mode & 0o700) !== 0o700) parent.chmod(name, 0o755);
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
    if (live) permit(directory, name, found, 0o400);
    else if ((found.mode & 0o400) === 0) directory.chmod(name, 0o644);
    this.#size.addRead(found.size);
    const { content, stat, isSteady } = this.#reader.read(directory.at(name), this.#seen(path));
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

  /** @returns whether it is worth another look */
  async #waitForLease(): Promise<boolean> {
    this.options.check();
    if (this.#leasePatienceMs <= 0) return false;
    this.#leasePatienceMs -= leasePollMs;
    await sleep(leasePollMs);
    return true;
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
}

/** The names in a workspace, and the one under which its snapshots have the agent's own artifacts, sorted. */
function withOwn(names: string[]): string[] {
  return names.includes(ownArtifacts) ? names : [...names, ownArtifacts].sort();
}

/** Gives the owner permissions that it has taken from itself, if this process may: root needs none. */
function permit(directory: OpenDirectory, name: string, { mode }: Stats, needed: number): void {
  if ((mode & needed) === needed || process.geteuid?.() === 0) return;
  try {
    directory.chmod(name, (mode & 0o7777) | needed);
  } catch (error) {
    // It is another user's, or was replaced: reading it says which.
    if (errnoOf(error) === undefined) throw error;
  }
}

/**
 * A file that cannot be read, as it was known. What has happened since depends on files as they are, so it must not have changed.
 *
 * @throws WorkspaceUnreadable
 */
function asBefore(stat: Stats | undefined, path: string, before: KnownEntry | undefined, code: string): KnownEntry {
  if (stat?.isFile() && before?.kind === 'file' && before.seen && hasSameTimes(stat, before.seen)) {
    const executable = isExecutable(stat);
    return executable === before.executable ? before : { ...before, executable };
  }
  const what = stat?.isDirectory() ? 'directory' : 'file';
  const named = JSON.stringify(path.slice(0, maxShownPath));
  throw new WorkspaceUnreadable(
    code === leased
      ? `The ${what} ${named} cannot be read now, because a program holds a lease on it (F_SETLEASE).`
      : `The ${what} ${named} cannot be read: its owner or its permissions forbid it (${code}).`,
  );
}
const maxShownPath = 500;

/** An entry changed between two looks at it. */
class Changed extends Error {}

/** Whether these are the very entries that were known. */
function hasEntriesOf(known: KnownDirectory, entries: KnownDirectory['entries']): boolean {
  if (known.entries.size !== entries.size) return false;
  for (const [name, entry] of entries) if (known.entries.get(name) !== entry) return false;
  return true;
}

/** How many files and links are in what was captured. */
function filesOf(entry: KnownEntry): number {
  if (entry.kind !== 'directory') return 1;
  return [...entry.entries.values()].reduce((sum, inner) => sum + filesOf(inner), 0);
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
