import { createHash } from 'node:crypto';

/** A pack with this many objects, as its header says, and a checksum that fits. */
export function sealed(objects: Buffer, count: number): Buffer {
  const header = Buffer.alloc(12, 'PACK');
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(count, 8);
  const all = Buffer.concat([header, objects]);
  return Buffer.concat([all, createHash('sha1').update(all).digest()]);
}
