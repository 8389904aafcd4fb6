import { statSync } from 'node:fs';
import * as z from 'zod';

/**
 * The identity of a database's file, as the database itself remembers it. A moved file keeps all of it; a copy has
 * another inode, or another birth time where it was given a deleted file's inode.
 */
export const filePlace = z.strictObject({
  device: z.string(),
  inode: z.string(),
  /** Birth time in nanoseconds since 1970; null where the file system has none. */
  bornNs: z.string().nullable(),
});
export type FilePlace = z.infer<typeof filePlace>;

/** The present identity of a file. @throws where there is none */
export function placeOf(file: string): FilePlace {
  const { dev, ino, birthtimeNs, ctimeNs } = statSync(file, { bigint: true });
  // Without a birth time, Node reports 1970 or the time of the last change.
  const known = birthtimeNs > 0n && birthtimeNs !== ctimeNs;
  return { device: String(dev), inode: String(ino), bornNs: known ? String(birthtimeNs) : null };
}

/**
 * Whether two identities are of one file. Device numbers change when a machine restarts or a volume is mounted
 * elsewhere, so they count only where no birth time tells a file from an earlier one with its inode.
 */
export function samePlace(one: FilePlace, other: FilePlace): boolean {
  if (one.inode !== other.inode) return false;
  if (one.bornNs !== null && other.bornNs !== null) return one.bornNs === other.bornNs;
  return one.device === other.device;
}

/** Epochs have at most nine digits: seconds counted from here have nine until 2051. */
const epochsFromMs = Date.UTC(2020, 0, 1);

/** The least epoch that no earlier copy of the same data can have had: a number of seconds. */
export function epochFrom(nowMs: number): number {
  return Math.max(1, Math.floor((nowMs - epochsFromMs) / 1000));
}
