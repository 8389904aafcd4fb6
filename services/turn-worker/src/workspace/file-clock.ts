import { closeSync, fstatSync, futimesSync, openSync, type Stats, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

/** What the system said of a file when its content was read. */
export const seenFile = z.object({
  dev: z.number(),
  ino: z.number(),
  size: z.number(),
  mtimeMs: z.number(),
  /** Of its last change: it cannot be set by whoever writes the file. */
  ctimeMs: z.number(),
  /**
   * Whether any later change shows. A program that had mapped the file into its memory before may go on writing there for a
   * while without a new time of change.
   */
  sure: z.boolean(),
});
export type SeenFile = z.infer<typeof seenFile>;

/** File systems that note times in steps: two changes within one step have the same time. */
const stepMs = 20;
/** Where a file system shows whole seconds only. */
const coarseStepMs = 2_000;

/**
 * So long after a change the system has written a file's pages back, and notes the next change of each, also one through
 * mapped memory. It does that after 30 seconds, looking every five.
 */
export const writtenBackMs = 60_000;

/** tmpfs, ramfs: nothing is written back there, and changes through mapped memory never show. */
const withoutTimes = new Set([0x01021994, 0x858458f6]);

/**
 * Says of files whether they changed since they were read, by the clock of their file system, so that neither another
 * machine's nor a step of this one's deceives: as Git does, a file that changed so late before it was read that another
 * change could have the same time is read again.
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

  /** What to remember of a file that was read after this moment, or that nothing writes until it; nothing where no later change could be told from it. */
  seen({ dev, ino, size, mtimeMs, ctimeMs }: Stats): SeenFile | undefined {
    if (ctimeMs + this.step >= this.nowMs) return undefined;
    const sure = !this.isLive || ctimeMs + writtenBackMs < this.nowMs;
    return { dev, ino, size, mtimeMs, ctimeMs, sure };
  }

  /** Whether a file is as it was seen. */
  isUnchanged(stat: Stats, seen: SeenFile): boolean {
    return (
      seen.ctimeMs === stat.ctimeMs &&
      seen.mtimeMs === stat.mtimeMs &&
      seen.size === stat.size &&
      seen.ino === stat.ino &&
      seen.dev === stat.dev &&
      // Once more when it must have been written back, and at the end, whatever may have been written without a trace.
      (seen.sure || (this.isLive && this.nowMs <= seen.ctimeMs + writtenBackMs))
    );
  }
}
