import { statSync } from 'node:fs';
import { z } from 'zod';

/**
 * Which file of the machine a database is, as the database itself remembers it. A file that was moved keeps all of it; a
 * copy has another inode, or was born at another time where the system gave it the inode of a file that was deleted.
 */
export const filePlace = z.strictObject({
  device: z.string(),
  inode: z.string(),
  /** In nanoseconds since 1970; null where the file system does not say. */
  bornNs: z.string().nullable(),
});
export type FilePlace = z.infer<typeof filePlace>;

/** The place of a file now. @throws where there is none */
export function placeOf(file: string): FilePlace {
  const { dev, ino, birthtimeNs, ctimeNs } = statSync(file, { bigint: true });
  // Where a file system keeps no birth time, Node says 1970 or gives the time of the last change in its place.
  const known = birthtimeNs > 0n && birthtimeNs !== ctimeNs;
  return { device: String(dev), inode: String(ino), bornNs: known ? String(birthtimeNs) : null };
}

/**
 * Whether two places are of one file. Device numbers change when a machine starts anew or a volume is mounted elsewhere, so
 * they count only where there is no birth time to tell a file from an earlier one of its inode.
 */
export function samePlace(one: FilePlace, other: FilePlace): boolean {
  if (one.inode !== other.inode) return false;
  if (one.bornNs !== null && other.bornNs !== null) return one.bornNs === other.bornNs;
  return one.device === other.device;
}

/** Epochs have at most nine digits: counted from here, seconds have those until 2051. */
const epochsFromMs = Date.UTC(2020, 0, 1);

/** The first epoch that no life of the same data can have had before a moment: a number of seconds. */
export function epochFrom(nowMs: number): number {
  return Math.max(1, Math.floor((nowMs - epochsFromMs) / 1000));
}
