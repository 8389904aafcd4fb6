import type { BigIntStats } from 'node:fs';
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { sha256 } from '@suzumio/protocol/ids';
import { openRegularFile } from '../files/regular-file.js';

/** Size, change time in nanoseconds, inode, hash. The writer of a file cannot set its change time. */
export const fileHash = z.tuple([z.string(), z.string(), z.string(), sha256]);
export type FileHash = z.infer<typeof fileHash>;

/** The known hashes of unchanged files, by path. */
export class FileHashes {
  readonly #known: ReadonlyMap<string, FileHash>;
  readonly #seen = new Map<string, FileHash>();

  constructor(known: Iterable<readonly [string, FileHash]> = []) {
    this.#known = new Map(known);
  }

  /** The SHA-256 of the file at `absolute`, read only if it changed. */
  async of(path: string, absolute: string, stat: BigIntStats): Promise<string> {
    const key = keyOf(stat);
    const known = this.#known.get(path);
    const hash = known && sameKey(known, key) ? known[3] : await hashFile(absolute);
    this.#seen.set(path, [...key, hash]);
    return hash;
  }

  /** Records the hash of a file that was just written. */
  note(path: string, stat: BigIntStats, hash: string): void {
    this.#seen.set(path, [...keyOf(stat), hash]);
  }

  /** The hashes that were read or recorded, for the next time. */
  entries(): [string, FileHash][] {
    return [...this.#seen];
  }
}

function keyOf(stat: BigIntStats): [string, string, string] {
  return [String(stat.size), String(stat.ctimeNs), String(stat.ino)];
}

function sameKey(known: FileHash, key: readonly [string, string, string]): boolean {
  return key.every((part, i) => known[i] === part);
}

async function hashFile(path: string): Promise<string> {
  const file = await openRegularFile(path);
  const hash = createHash('sha256');
  for await (const chunk of file.createReadStream({ highWaterMark: 256 * 1024 })) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
