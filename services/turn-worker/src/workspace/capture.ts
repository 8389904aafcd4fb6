import { readlinkSync, type Stats, unlinkSync } from 'node:fs';
import type { AttemptStats } from '@suzumio/protocol/attempts';
import { type CaptureScope, captureScope } from '@suzumio/protocol/ignored-roots';
import { isLeftover, ownArtifacts } from '@suzumio/protocol/own-artifacts';
import { type EntryAttributes, maxWorkspacePathLength } from '@suzumio/protocol/workspace-manifest';
import { errnoOf } from '../files/errno.js';
import { isText, OpenDirectory } from '../files/open-directory.js';
import { NotARegularFile } from '../files/regular-file.js';
import { removeTree } from '../files/remove-tree.js';
import { CaptureSize } from './capture-size.js';
import { attributesOf, hasSameAttributes, isExecutable } from './entry-attributes.js';
import type { FileClock } from './file-clock.js';
import { hasEntriesOf, hasSameManifest, isEqual, type KnownDirectory, type KnownEntry } from './known-tree.js';
import { discard, NewContent } from './new-content.js';
import { type OwnDirectory, seenIn } from './own-directory.js';
import { type Content, FileReader, type ReadFile } from './read-file.js';
import {
  asBefore,
  leased,
  LeasePatience,
  permit,
  permitRoot,
  unreadable,
  usualLeasePatienceMs,
} from './unreadable-entry.js';
import { Uncaptured } from './uncaptured.js';
import type { WorkspaceBounds } from './workspace-bounds.js';
import { weigh } from './weigh.js';
import { WorkspaceTooLarge } from './workspace-errors.js';

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
  /** How much memory its tree may take. @default any */
  maxHeldBytes?: number | undefined;
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

/** System errors of an entry that was moved or replaced between two looks at it. */
const moved = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EINVAL', 'ESTALE']);

class Walk {
  readonly #reader: FileReader;
  readonly #newContent: NewContent;
  readonly #uncaptured: Uncaptured;
  readonly #leases: LeasePatience;
  readonly #scope: CaptureScope;
  readonly #size: CaptureSize;

  constructor(
    private readonly root: string,
    private readonly options: CaptureOptions,
  ) {
    const { live, leasePatienceMs = usualLeasePatienceMs, check } = options;
    this.#scope = options.scope ?? captureScope([]);
    // Nobody is told at the end of a turn; nor does a program of its own hold a lease then.
    this.#leases = new LeasePatience(live ? leasePatienceMs : Number.POSITIVE_INFINITY, check);
    this.#size = new CaptureSize(options.bounds, options.maxHeldBytes ?? Number.POSITIVE_INFINITY, () =>
      weigh(root, { isIgnored: this.#scope.isIgnored, own: options.own, check }),
    );
    this.#reader = new FileReader(options.staging, options.bounds.maxFileBytes, check);
    this.#newContent = new NewContent(options.known, options.store);
    this.#uncaptured = new Uncaptured(options.own, check);
  }

  async all(): Promise<Captured> {
    if (!this.options.live) permitRoot(this.root);
    const directory = OpenDirectory.open(this.root);
    try {
      const root = await this.#directory(directory, '', this.options.known);
      return {
        id: root.entries.size === 0 ? null : (root.sha256 ?? null),
        root,
        leftOut: this.#uncaptured.leftOut,
        ...(this.options.live ? {} : { ignoredFiles: this.#uncaptured.ignoredFiles }),
      };
    } finally {
      directory.close();
    }
  }

  async #directory(
    directory: OpenDirectory,
    prefix: string,
    known: KnownDirectory | undefined,
    attributes: EntryAttributes = {},
  ): Promise<KnownDirectory> {
    const { live } = this.options;
    const isRoot = prefix === '';
    const tracked = this.#scope.trackedIn(prefix.slice(0, -1));
    const names = tracked ? [...tracked].sort() : await this.#names(directory, prefix);
    const entries = new Map<string, KnownEntry>();
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
      if (isCounted) this.#uncaptured.addIgnored(directory, name, path);
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
      this.#size.hold(name);
      const entry = this.#unchanged(directory, name, before) ?? (await this.#entry(directory, name, path, before));
      if (entry) entries.set(name, entry);
      if (isCounted && entry) this.#uncaptured.subtract(entry);
    }
    const hasManifest = known?.sha256 !== undefined || (isRoot && entries.size === 0);
    if (known && hasManifest && hasEntriesOf(known, entries)) {
      return hasSameAttributes(known, attributes) ? known : { ...known, ...attributes };
    }
    const result: KnownDirectory = { kind: 'directory', entries, ...attributes };
    if (hasSameManifest(result, known)) result.sha256 = known?.sha256;
    else if (!isRoot || entries.size > 0) result.sha256 = await this.#newContent.addManifest(result);
    return result;
  }

  /** The names in a directory, sorted. What has a name that is no text is left out. */
  async #names(directory: OpenDirectory, prefix: string): Promise<string[]> {
    const { names, strange } = directory.list(this.options.bounds.maxEntries);
    for (const name of strange) {
      this.#uncaptured.leaveOut(`${prefix}${name.toString()}`);
      if (!this.options.live) await removeTree(directory.atBytes(name));
    }
    return names;
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

  #seen(path: string): string {
    return seenIn(this.options.own, path);
  }

  /** An unchanged file. Most files are, so this takes no promise. */
  #unchanged(directory: OpenDirectory, name: string, before: KnownEntry | undefined): KnownEntry | undefined {
    if (before?.kind !== 'file' || !before.seen) return undefined;
    const stat = directory.look(name);
    if (!stat?.isFile() || !this.options.clock.isUnchanged(stat, before.seen)) return undefined;
    this.#size.add(stat);
    // Snapshots of earlier versions have no attributes.
    return before.mtimeUs === undefined ? { ...before, ...attributesOf(stat) } : before;
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
          const link: KnownEntry = { kind: 'link', target: target.toString('utf8'), ...attributesOf(stat) };
          return before && isEqual(link, before) ? before : link;
        }
        this.#uncaptured.leaveOut(path);
        if (!this.options.live) unlinkSync(directory.at(name));
        return undefined;
      } catch (error) {
        const code = errnoOf(error) ?? '';
        if (code === leased && (await this.#leases.wait())) {
          look -= 1;
          continue;
        }
        if (this.options.live && unreadable.has(code)) return asBefore(stat, this.#seen(path), before, code);
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
    const restrict = permit(parent, name, stat, this.options.live ? 0o500 : 0o700);
    try {
      const directory = parent.open(name);
      try {
        const { dev, ino } = directory.stat();
        if ((dev !== stat.dev || ino !== stat.ino) && look === 1) throw new Changed();
        const known = before?.kind === 'directory' ? before : undefined;
        return await this.#directory(directory, `${path}/`, known, attributesOf(stat));
      } finally {
        directory.close();
      }
    } finally {
      restrict();
    }
  }

  /** @throws Changed at the first look, if the file changed while it was read */
  async #file(directory: OpenDirectory, name: string, path: string, found: Stats, look: number): Promise<KnownEntry> {
    const { clock } = this.options;
    this.#size.addRead(found.size);
    const restrict = permit(directory, name, found, 0o400);
    const { content, stat, isSteady } = this.#readThen(restrict, directory.at(name), path);
    if (!isSteady && look === 1) {
      discard(content);
      throw new Changed();
    }
    await this.#newContent.add(content);
    const { sha256, sizeBytes } = content;
    // Its mode is what it was before it could be read.
    const { mode } = attributesOf(found);
    return {
      kind: 'file',
      sha256,
      sizeBytes,
      executable: isExecutable(found),
      ...attributesOf(stat),
      mode,
      seen: isSteady ? clock.seen(stat) : undefined,
    };
  }

  #readThen(restrict: () => void, at: string, path: string): ReadFile {
    try {
      return this.#reader.read(at, this.#seen(path));
    } finally {
      restrict();
    }
  }
}

/** The names in a workspace, and the one under which its snapshots have the agent's own artifacts, sorted. */
function withOwn(names: string[]): string[] {
  return names.includes(ownArtifacts) ? names : [...names, ownArtifacts].sort();
}

/** An entry changed between two looks at it. */
class Changed extends Error {}
