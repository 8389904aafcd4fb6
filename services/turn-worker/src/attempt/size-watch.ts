import { type TreeBounds, type TreeSize, treeSize } from '../files/tree-size.js';

export interface SizeWatchOptions {
  directories: readonly string[];
  bounds: TreeBounds;
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
    return (await treeSize(this.options.directories, this.options.bounds)).beyond;
  }

  /** The sandbox's disk usage, unlinked open files included. More expensive than `check`. */
  async measure(): Promise<TreeSize> {
    const { directories, bounds, unlinkedBytes } = this.options;
    const unlinked = await unlinkedBytes();
    const size = await treeSize(directories, bounds, { alsoBytes: unlinked });
    if (size.beyond === undefined || unlinked === 0) return size;
    return { ...size, beyond: `${size.beyond}, ${unlinked} of them in open files that have no name any more` };
  }

  #schedule(afterMs: number): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#looking = this.#look();
    }, afterMs);
  }

  async #look(): Promise<void> {
    const { directories, bounds, everyMs, now, onTooLarge, onMeasured } = this.options;
    const startedAt = now();
    const size = await treeSize(directories, bounds, { ended: () => this.#stopped });
    if (this.#stopped) return;
    onMeasured?.(size);
    if (size.beyond !== undefined) onTooLarge(size.beyond);
    else this.#schedule(Math.max(everyMs, (now() - startedAt) / share));
  }
}
