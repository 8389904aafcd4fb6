import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { sha256 } from '@suzumio/protocol/ids';
import { errnoOf } from '../files/errno.js';
import { writeFileAtomically } from '../files/write-file-atomically.js';

/** The state of a workspace's directory, stored outside it. The knowledge of its files is stored beside, as a tree. */
const sidecar = z.object({
  version: z.literal(2),
  /** The boot in which this was written: after a reboot it is unreliable. */
  boot: z.string(),
  /** The snapshot that the directory equals; absent while something may be writing in it. */
  at: z.object({ snapshot: sha256.nullable() }).optional(),
});
export type Sidecar = z.infer<typeof sidecar>;

/** The knowledge of a new directory. */
export function nothingKnown(boot: string): Sidecar {
  return { version: 2, boot };
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
