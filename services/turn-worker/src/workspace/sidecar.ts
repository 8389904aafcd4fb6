import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { sha256 } from '@suzumio/protocol/ids';
import { errnoOf } from '../files/errno.js';
import { writeFileAtomically } from '../files/write-file-atomically.js';
import { fileHash } from './file-hashes.js';

/** A worker's knowledge of a workspace's directory, stored outside it. */
const sidecar = z.object({
  version: z.literal(1),
  /** The boot in which this was written: after a reboot it is unreliable. */
  boot: z.string(),
  /** The snapshot that the directory equals; absent while something may be writing in it. */
  at: z.object({ snapshot: sha256.nullable() }).optional(),
  hashes: z.array(z.tuple([z.string(), fileHash])),
});
export type Sidecar = z.infer<typeof sidecar>;

/** The knowledge of a new directory. */
export function nothingKnown(boot: string): Sidecar {
  return { version: 1, boot, hashes: [] };
}

/** The knowledge recorded in this boot, or none. */
export async function readSidecar(path: string, boot: string): Promise<Sidecar> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return nothingKnown(boot);
  try {
    const read = sidecar.parse(JSON.parse(text));
    return read.boot === boot ? read : nothingKnown(boot);
  } catch {
    return nothingKnown(boot);
  }
}

export async function writeSidecar(path: string, content: Sidecar): Promise<void> {
  await writeFileAtomically(path, JSON.stringify(content));
}
