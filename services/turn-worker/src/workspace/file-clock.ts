import { closeSync, fstatSync, futimesSync, openSync, type Stats, statfsSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';

/** The identity of a file at the time when its content was read. */
export const seenFile = z.object({
  dev: z.number(),
  ino: z.number(),
  size: z.number(),
  mtimeMs: z.number(),
  /** The writer of a file cannot set its change time. */
  ctimeMs: z.number(),
  /**
   * Whether every later change updates the change time. Writes through a memory mapping do not, until the system has written
   * the page back.
   */
  sure: z.boolean(),
});
export type SeenFile = z.infer<typeof seenFile>;

/** The resolution of file times: two changes within one step may have the same time. */
const stepMs = 20;
/** The resolution of file systems with whole seconds. */
const coarseStepMs = 2_000;

/**
 * The time after which the system has written changed pages back, and records the next write to each, also one through a
 * mapping. By default Linux does so after 30 seconds, checked every five.
 */
export const writtenBackMs = 60_000;

/** tmpfs and ramfs write nothing back: later writes through a mapping never update the change time. */
const withoutTimes = new Set([0x01021994, 0x858458f6]);

/** Whether a file is the one that was read, and has not been changed: whoever writes it can set its time of modification, but not this. */
export function isSameFile(stat: Stats, seen: SeenFile): boolean {
  return (
    seen.ctimeMs === stat.ctimeMs &&
    seen.mtimeMs === stat.mtimeMs &&
    seen.size === stat.size &&
    seen.ino === stat.ino &&
    seen.dev === stat.dev
  );
}

/**
 * Decides whether files have changed since they were read, by the clock of their file system: it may be another machine's, or
 * have been set. As in Git, a file that changed so shortly before it was read that a later change could have the same time is
 * read again.
 */
export class FileClock {
  private constructor(
    readonly nowMs: number,
    private readonly step: number,
    private readonly isLive: boolean,
  ) {}

  /**
   * @param directory of the same file system, and nobody else's
   * @param isLive whether a program may be writing files now
   */
  static read(directory: string, isLive: boolean): FileClock {
    const file = openSync(join(directory, 'clock'), 'w', 0o600);
    try {
      futimesSync(file, 0, 0);
      const { ctimeMs } = fstatSync(file);
      if (withoutTimes.has(statfsSync(directory).type)) return new FileClock(ctimeMs, Number.POSITIVE_INFINITY, isLive);
      return new FileClock(ctimeMs, ctimeMs % 1_000 === 0 ? coarseStepMs : stepMs, isLive);
    } finally {
      closeSync(file);
    }
  }

  /**
   * The identity of a file that was read after this moment, or that nobody writes until it; undefined where a later change
   * might not differ.
   */
  seen({ dev, ino, size, mtimeMs, ctimeMs }: Stats): SeenFile | undefined {
    if (ctimeMs + this.step >= this.nowMs) return undefined;
    const sure = !this.isLive || ctimeMs + writtenBackMs < this.nowMs;
    return { dev, ino, size, mtimeMs, ctimeMs, sure };
  }

  /** Whether a file is as it was read. */
  isUnchanged(stat: Stats, seen: SeenFile): boolean {
    return (
      isSameFile(stat, seen) &&
      // Writes through mappings may be unrecorded: read once more after the write-back, and when the turn has ended.
      (seen.sure || (this.isLive && this.nowMs <= seen.ctimeMs + writtenBackMs))
    );
  }
}
