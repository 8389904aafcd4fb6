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
  /** Bytes in open files without a name, as far as they can be seen. */
  unlinkedBytes: () => Promise<number>;
  everyMs: number;
  now: () => number;
  onTooLarge: (why: string) => void;
  /** Given every measurement of it while it runs. */
  onMeasured?: (size: TreeSize) => void;
}

/** The share of its time that a watch may spend measuring. */
const share = 0.05;

/** Measures what a sandbox writes, less often where that takes long, until it is stopped. */
export class SizeWatch {
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(private readonly options: SizeWatchOptions) {
    this.#schedule(options.everyMs);
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
    const unlinked = await this.options.unlinkedBytes();
    const size = await this.#size({ alsoBytes: unlinked });
    if (size.beyond === undefined || unlinked === 0) return size;
    return { ...size, beyond: `${size.beyond}, ${unlinked} of them in open files that have no name any more` };
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
    const startedAt = now();
    const size = await this.#size({ ended: () => this.#stopped, leaveUnseen: endsAt !== undefined }, endsAt);
    if (this.#stopped) return;
    onMeasured?.(size);
    if (size.beyond !== undefined) onTooLarge(size.beyond);
    else this.#schedule(Math.max(everyMs, (now() - startedAt) / share));
  }
}
