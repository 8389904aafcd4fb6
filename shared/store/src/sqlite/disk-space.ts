import { statfsSync } from 'node:fs';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { filesFor, type FreeSpace, freeSpaceOf } from '@suzumio/protocol/disk-blocks';
import { bytesInWords, defaultStorageLimits, type DiskUse, type StorageLimits } from '@suzumio/contract/model/storage';

/** The room of the file system that a path is on. */
export function freeSpaceAt(path: string): FreeSpace {
  return freeSpaceOf(statfsSync(path));
}

/**
 * The disk of a data directory. The largest uses stop first, which leaves room for people's mail, and at last for
 * leases and deletions, which are never refused.
 */
export class DiskSpace {
  #free: FreeSpace | undefined;

  constructor(
    private readonly path: string,
    private readonly limits: Pick<StorageLimits, 'reserve'> = defaultStorageLimits,
    private readonly freeAt: (path: string) => FreeSpace = freeSpaceAt,
  ) {}

  /** Asks the system once in each turn of the event loop, however many requests need the answer. */
  get free(): FreeSpace {
    if (this.#free === undefined) {
      this.#free = this.freeAt(this.path);
      setImmediate(() => (this.#free = undefined));
    }
    return this.#free;
  }

  /** Whether less is free than this use must leave. */
  isShortFor(use: DiskUse): boolean {
    const { bytes, files } = this.free;
    return bytes < this.limits.reserve[use] || files < this.#reserveFiles(use);
  }

  /** @throws SuzumioError `disk-reserve` */
  require(use: DiskUse): void {
    if (!this.isShortFor(use)) return;
    const { bytes: freeBytes, files: freeFiles } = this.free;
    const reserveBytes = this.limits.reserve[use];
    const reserveFiles = this.#reserveFiles(use);
    const [left, kept, counted] =
      freeBytes < reserveBytes
        ? [`has ${bytesInWords(freeBytes)} left`, bytesInWords(reserveBytes), { freeBytes, reserveBytes }]
        : [`has room for ${String(freeFiles)} more files`, String(reserveFiles), { freeFiles, reserveFiles }];
    throw new SuzumioError(
      'disk-reserve',
      `The server's disk ${left}, and keeps ${kept} from ${refused[use]} (policy: storage.reserve.${use}). Deleting projects gives room back.`,
      { for: use, ...counted },
    );
  }

  #reserveFiles(use: DiskUse): number {
    return filesFor(this.limits.reserve[use]);
  }
}

const refused = { files: 'files', rows: 'what agents do', mail: 'changes other than deletions' } as const;
