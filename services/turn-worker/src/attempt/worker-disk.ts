import { statfs } from 'node:fs/promises';
import { filesFor, type FreeSpace, freeSpaceOf } from '@suzumio/protocol/disk-blocks';
import type { TreeSize } from '../files/tree-size.js';
import { AttemptFailure } from '../engine/attempt-failure.js';

export interface WorkerDiskOptions {
  path: string;
  /** Free bytes below which no attempt begins, and their share of files; below half, running attempts are ended. */
  minFreeBytes: number;
  /** Called while so little is left that attempts are ended. */
  onShort: () => void;
  /** A monotonic clock. */
  now: () => number;
  /** The room of the file system that a path is on. @default what the system says */
  free?: (path: string) => Promise<FreeSpace>;
}

/** A running attempt. */
export interface DiskUser {
  /** Its present disk usage. */
  measure: () => Promise<TreeSize>;
  /** Ends it, because it exceeds its limits, or because it uses most and others need room. */
  end: (beyond: string | undefined) => void;
}

const lookMs = 250;
/** How many attempts are measured at a time: each may cost a container. */
const measuredAtATime = 8;
/** Failures this long after the disk was short may be a consequence. */
const aftermathMs = 10_000;

/**
 * The disk of a worker's directory, which its attempts share. A container can fill it faster than that is noticed, so a
 * reserve stays free: once it is touched, attempts over their limits are ended, or, if there are none, the largest.
 */
export class WorkerDisk {
  readonly #users = new Set<DiskUser>();
  /** Attempts that were ended but not yet removed: they are about to free space. */
  readonly #ending = new Set<DiskUser>();
  #timer: NodeJS.Timeout | undefined;
  #shortAt = -Infinity;

  constructor(private readonly options: WorkerDiskOptions) {}

  /** Whether the disk was full a moment ago, so that a failure may be a consequence. */
  get wasShort(): boolean {
    return this.options.now() - this.#shortAt < aftermathMs;
  }

  /** Bytes that may still be written. */
  async freeBytes(): Promise<number> {
    return (await this.#free()).bytes;
  }

  /** @throws AttemptFailure `disk-full` where there is no room for another attempt */
  async requireRoom(): Promise<void> {
    const { path, minFreeBytes } = this.options;
    const short = await this.#shortOf(minFreeBytes);
    if (!short) return;
    const least = short === 'bytes' ? `${minFreeBytes} bytes` : `room for ${filesFor(minFreeBytes)} files`;
    throw new AttemptFailure('disk-full', `The disk of ${path} has less than ${least} left.`);
  }

  /** Registers an attempt as one that may be ended, until the returned function is called. */
  add(user: DiskUser): () => void {
    this.#users.add(user);
    this.#timer ??= this.#schedule();
    return () => {
      this.#users.delete(user);
      this.#ending.delete(user);
      if (this.#users.size > 0) return;
      clearTimeout(this.#timer);
      this.#timer = undefined;
    };
  }

  #schedule(): NodeJS.Timeout {
    return setTimeout(() => {
      this.#look()
        // A file system that does not report its free space, for instance while it is unmounted, does not count as
        // full.
        .catch(() => undefined)
        .finally(() => {
          if (this.#users.size > 0) this.#timer = this.#schedule();
        });
    }, lookMs);
  }

  async #look(): Promise<void> {
    if (!(await this.#shortForTurns())) return;
    this.#shortAt = this.options.now();
    this.options.onShort();
    if (this.#ending.size > 0) return;
    const sizes = await this.#measure();
    const beyond = sizes.filter((size) => size.beyond !== undefined);
    if (beyond.length > 0) for (const { user, beyond: why } of beyond) this.#end(user, why);
    else {
      const short = await this.#shortForTurns();
      const takes = ({ bytes, entries }: TreeSize) => (short === 'files' ? entries : bytes);
      const [most] = sizes.sort((a, b) => takes(b) - takes(a));
      if (short && most) this.#end(most.user, undefined);
    }
  }

  /** Measures attempts until some exceed their limits. */
  async #measure(): Promise<({ user: DiskUser } & TreeSize)[]> {
    const users = [...this.#users];
    const sizes: ({ user: DiskUser } & TreeSize)[] = [];
    for (let at = 0; at < users.length && sizes.every(({ beyond }) => beyond === undefined); at += measuredAtATime) {
      const part = users.slice(at, at + measuredAtATime);
      sizes.push(...(await Promise.all(part.map(async (user) => ({ user, ...(await user.measure()) })))));
    }
    return sizes.filter(({ user }) => this.#users.has(user));
  }

  #end(user: DiskUser, beyond: string | undefined): void {
    this.#ending.add(user);
    user.end(beyond);
  }

  /** What running attempts leave too little of. */
  #shortForTurns(): Promise<'bytes' | 'files' | undefined> {
    return this.#shortOf(this.options.minFreeBytes / 2);
  }

  async #shortOf(reserveBytes: number): Promise<'bytes' | 'files' | undefined> {
    const { bytes, files } = await this.#free();
    if (bytes < reserveBytes) return 'bytes';
    return files < filesFor(reserveBytes) ? 'files' : undefined;
  }

  async #free(): Promise<FreeSpace> {
    const { path, free } = this.options;
    return free ? free(path) : freeSpaceOf(await statfs(path));
  }
}
