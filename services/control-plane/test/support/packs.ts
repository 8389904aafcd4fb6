import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';

/** A pack with this many objects, as its header says, and a checksum that fits. */
export function sealed(objects: Buffer, count: number): Buffer {
  const header = Buffer.alloc(12, 'PACK');
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(count, 8);
  const all = Buffer.concat([header, objects]);
  return Buffer.concat([all, createHash('sha1').update(all).digest()]);
}

/** An object's header: its type and its size. */
export function head(type: number, size: number): Buffer {
  const bytes = [(type << 4) | (size % 16)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 0x80;
    bytes.push(rest % 128);
  }
  return Buffer.from(bytes);
}

/** An object that says that it has `size` bytes. */
export function blob(bytes: Buffer, size = bytes.length): Buffer {
  return Buffer.concat([head(3, size), deflateSync(bytes)]);
}

/** A delta against the object that begins `offset` bytes before it. */
export function deltaOf(offset: number, delta: Buffer | number[]): Buffer {
  return Buffer.concat([head(6, delta.length), Buffer.from([offset]), deflateSync(Buffer.from(delta))]);
}

/** A size as a delta writes it. */
export function varint(size: number): number[] {
  const [low, rest] = [size % 128, Math.floor(size / 128)];
  return rest > 0 ? [low | 0x80, ...varint(rest)] : [low];
}
