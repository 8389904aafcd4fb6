import { createHash } from 'node:crypto';

/** The hash of bytes that are read once, and how many there were. */
export async function hashBytes(bytes: AsyncIterable<unknown>): Promise<{ sha256: string; sizeBytes: number }> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  for await (const some of bytes as AsyncIterable<Uint8Array>) {
    hash.update(some);
    sizeBytes += some.length;
  }
  return { sha256: hash.digest('hex'), sizeBytes };
}
