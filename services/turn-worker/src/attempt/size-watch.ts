import { beyondBounds, type TreeBounds } from '../files/tree-size.js';

export interface SizeWatchOptions {
  directories: readonly string[];
  bounds: TreeBounds;
  everyMs: number;
  now: () => number;
  onTooLarge: (why: string) => void;
}

/** The part of its time that a watch may spend looking. */
const share = 0.05;

/** Looks at the size of what a sandbox writes, less often where looking takes long, until it is stopped. */
export class SizeWatch {
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(private readonly options: SizeWatchOptions) {
    this.#schedule(options.everyMs);
  }

  /** No look is under way when this resolves. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  /** Why the directories are beyond their bounds now, if they are. */
  check(): Promise<string | undefined> {
    return beyondBounds(this.options.directories, this.options.bounds);
  }

  #schedule(afterMs: number): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#looking = this.#look();
    }, afterMs);
  }

  async #look(): Promise<void> {
    const startedAt = this.options.now();
    const why = await this.check();
    if (why !== undefined && !this.#stopped) this.options.onTooLarge(why);
    else this.#schedule(Math.max(this.options.everyMs, (this.options.now() - startedAt) / share));
  }
}
