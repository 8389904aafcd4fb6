import { statfsSync } from 'node:fs';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { bytesInWords, defaultStorageLimits, type DiskUse, type StorageLimits } from '@suzumio/contract/model/storage';

/** Bytes that may still be written to the file system that a path is on. */
export function freeBytesAt(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

/**
 * The disk of a data directory. The largest uses stop first, which leaves room for people's mail, and at last for
 * leases and deletions, which are never refused.
 */
export class DiskSpace {
  #freeBytes: number | undefined;

  constructor(
    private readonly path: string,
    private readonly limits: Pick<StorageLimits, 'reserve'> = defaultStorageLimits,
    private readonly free: (path: string) => number = freeBytesAt,
  ) {}

  /** Asks the system once in each turn of the event loop, however many requests need the answer. */
  get freeBytes(): number {
    if (this.#freeBytes === undefined) {
      this.#freeBytes = this.free(this.path);
      setImmediate(() => (this.#freeBytes = undefined));
    }
    return this.#freeBytes;
  }

  /** Whether less is free than this use must leave. */
  isShortFor(use: DiskUse): boolean {
    return this.freeBytes < this.limits.reserve[use];
  }

  /** @throws SuzumioError `disk-reserve` */
  require(use: DiskUse): void {
    const { freeBytes } = this;
    const reserveBytes = this.limits.reserve[use];
    if (freeBytes >= reserveBytes) return;
    throw new SuzumioError(
      'disk-reserve',
      `The server's disk has ${bytesInWords(freeBytes)} left, and keeps ${bytesInWords(reserveBytes)} from ${refused[use]} (policy: storage.reserve.${use}). Deleting projects gives room back.`,
      { for: use, freeBytes, reserveBytes },
    );
  }
}

const refused = { files: 'files', rows: 'what agents do', mail: 'changes other than deletions' } as const;
