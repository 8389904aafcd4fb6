/** The smallest part of a disk that file systems commonly give to a file. */
const blockBytes = 4_096;

/** What a file or directory is counted as: whole blocks, and one at least, since its entry takes room as well. */
export function inBlocks(sizeBytes: number): number {
  return Math.max(1, Math.ceil(sizeBytes / blockBytes)) * blockBytes;
}

/** How many files can be made where so many bytes are kept free: as many as ext4 makes room for by default. */
export function filesFor(reserveBytes: number): number {
  return Math.floor(reserveBytes / (16 * 1024));
}

/** What may still be written to a file system. */
export interface FreeSpace {
  bytes: number;
  /** How many files; infinite where their number has no bound of its own. */
  files: number;
}

/** The room that `statfs` tells of. File systems that make inodes as they need them say that they have none. */
export function freeSpaceOf(told: { bavail: number; bsize: number; files: number; ffree: number }): FreeSpace {
  return { bytes: told.bavail * told.bsize, files: told.files === 0 ? Infinity : told.ffree };
}
