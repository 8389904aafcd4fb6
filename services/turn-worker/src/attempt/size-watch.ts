import { type TreeBounds, type TreeSize, type TreeSizeOptions, treeSize } from '../files/tree-size.js';

export interface SizeWatchOptions {
  directories: () => readonly string[] | Promise<readonly string[]>;
  /** Which directories below them are not counted: see {@link treeSize}. */
  leave?: (path: string) => boolean;
  /** What the directories are in: see {@link treeSize}. */
  within?: string;
  bounds: TreeBounds;
  /**
   * Where they are reached the sandbox is ended, and not for what cannot be looked into: that is for whoever is told of it to
   * mend. @default `bounds`
   */
  endsAt?: TreeBounds | undefined;
  /** What open files without a name take, where that can be found out. */
  unlinked?: {
    /** Counts their bytes, as far as they can be seen. It may cost a container. */
    bytes: () => Promise<number>;
    /** Bytes that are free on the disk: what takes so much more of it can be seen there for nothing. */
    freeBytes: () => Promise<number>;
  };
  everyMs: number;
  now: () => number;
  onTooLarge: (why: string) => void;
  /** Given every measurement of it while it runs. */
  onMeasured?: (size: TreeSize) => void;
}

/** Files without a name are counted again when this share of the bounds was taken of the disk, by whomever. */
const takenShare = 1 / 8;

/** The share of its time that a watch may spend measuring. */
const share = 0.05;

/** Measures what a sandbox writes, less often where that takes long, until it is stopped. */
export class SizeWatch {
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();
  #stopped = false;
  /** As it was counted last. */
  #unlinkedBytes = 0;
  /** The most that was free since then. */
  #mostFree = 0;
  #countAgainAt = -Infinity;

  constructor(private readonly options: SizeWatchOptions) {
    this.#looking = this.#mayHaveGrown().then(() => this.#schedule(options.everyMs));
  }

  /** Resolves once no measurement runs. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  /** How the directories exceed their limits now, if they do. */
  async check(): Promise<string | undefined> {
    return (await this.#size({})).beyond;
  }

  /** The sandbox's disk usage, unlinked open files included. More expensive than `check`. */
  async measure(): Promise<TreeSize> {
    await this.#countUnlinked();
    return this.#together({});
  }

  /** With files that have no name any more, as they were counted last. They alone may have no more than the bounds. */
  async #together(options: TreeSizeOptions, bounds?: TreeBounds): Promise<TreeSize> {
    const unlinked = this.#unlinkedBytes;
    const size = await this.#size({ ...options, alsoBytes: unlinked }, bounds);
    const { maxBytes } = this.options.bounds;
    const beyond = size.beyond ?? (unlinked > maxBytes ? `more than ${maxBytes} bytes` : undefined);
    if (beyond === undefined || unlinked === 0) return size;
    const told = Number.isFinite(unlinked)
      ? `${unlinked} of them in open files that have no name any more`
      : 'or so it may be: it has more open files than are looked at';
    return { ...size, beyond: `${beyond}, ${told}` };
  }

  async #countUnlinked(): Promise<void> {
    const { unlinked, now } = this.options;
    if (!unlinked) return;
    const startedAt = now();
    this.#mostFree = await unlinked.freeBytes().catch(() => Infinity);
    this.#unlinkedBytes = await unlinked.bytes();
    this.#countAgainAt = now() + (now() - startedAt) / share;
  }

  /** Whether so much of the disk was taken since they were counted that they may be many. */
  async #mayHaveGrown(): Promise<boolean> {
    const { unlinked, bounds } = this.options;
    if (!unlinked) return false;
    const free = await unlinked.freeBytes().catch(() => Infinity);
    this.#mostFree = Math.max(this.#mostFree, free);
    return this.#mostFree - free > bounds.maxBytes * takenShare;
  }

  async #size(options: TreeSizeOptions, bounds = this.options.bounds): Promise<TreeSize> {
    const { directories, leave, within } = this.options;
    return treeSize(await directories(), bounds, { ...options, leave, within });
  }

  #schedule(afterMs: number): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#looking = this.#look();
    }, afterMs);
  }

  async #look(): Promise<void> {
    const { everyMs, now, onTooLarge, onMeasured, endsAt } = this.options;
    const measure = () => this.#together({ ended: () => this.#stopped, leaveUnseen: endsAt !== undefined }, endsAt);
    const isCounted = (await this.#mayHaveGrown()) && now() >= this.#countAgainAt;
    if (isCounted) await this.#countUnlinked();
    const startedAt = now();
    let size = await measure();
    const tookMs = now() - startedAt;
    if (size.beyond !== undefined && this.#unlinkedBytes > 0 && !isCounted) {
      // They may be closed by now.
      await this.#countUnlinked();
      size = await measure();
    }
    if (this.#stopped) return;
    onMeasured?.(size);
    if (size.beyond !== undefined) onTooLarge(size.beyond);
    else this.#schedule(Math.max(everyMs, tookMs / share));
  }
}
