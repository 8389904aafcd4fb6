import { createHash } from 'node:crypto';
import { type Inflate, inflateSync } from 'node:zlib';
import { maxObjectBytes, maxPackObjects, maxUnpackedBytes } from '@suzumio/protocol/shared-repository';

/** What was sent is no pack that is taken. The message follows "The pack". */
export class PackInvalid extends Error {}

/** The header: `PACK`, a version, and the number of objects. The trailer is the SHA-1 of all before it. */
export const packHeaderBytes = 12;
export const packTrailerBytes = 20;

const typeOfDelta = 6;
const plainTypes: ReadonlySet<number> = new Set([1, 2, 3, 4]);

/** Bounds that a test may lower. */
const usualBounds = { objects: maxPackObjects, objectBytes: maxObjectBytes, unpackedBytes: maxUnpackedBytes };

/**
 * Requires of some bytes that they are a pack which Git can take to its end, and which unpacks to no more than is allowed:
 * every object is there in full, and every delta is against an earlier object of the same pack, and fits it. What the objects say is
 * for the containers to check, which read them.
 *
 * @returns how many objects it has
 * @throws PackInvalid
 */
export function inspectPack(pack: Buffer, bounds: typeof usualBounds = usualBounds): number {
  if (pack.length < packHeaderBytes + packTrailerBytes || pack.toString('latin1', 0, 4) !== 'PACK') {
    throw new PackInvalid('is none');
  }
  if (pack.readUInt32BE(4) !== 2) throw new PackInvalid('is of a version that is not taken: expected 2');
  const objects = pack.readUInt32BE(8);
  if (objects === 0) throw new PackInvalid('has no objects');
  if (objects > bounds.objects) throw new PackInvalid(`has more than ${String(bounds.objects)} objects`);
  const end = pack.length - packTrailerBytes;
  const hash = createHash('sha1').update(pack.subarray(0, end)).digest();
  if (!hash.equals(pack.subarray(end))) throw new PackInvalid('is not whole: its checksum is another');
  const sizes = new Map<number, number>();
  let unpackedBytes = 0;
  let at = packHeaderBytes;
  const take = (bytes: number) => {
    if (bytes > bounds.objectBytes)
      throw new PackInvalid(`has an object of more than ${String(bounds.objectBytes)} bytes`);
    unpackedBytes += bytes;
    if (unpackedBytes > bounds.unpackedBytes) {
      throw new PackInvalid(`unpacks to more than ${String(bounds.unpackedBytes)} bytes`);
    }
  };
  for (let object = 0; object < objects; object += 1) {
    const start = at;
    const header = new Reader(pack, at, end);
    const { type, size } = header.objectHeader();
    take(size);
    if (!plainTypes.has(type) && type !== typeOfDelta) {
      throw new PackInvalid('has a delta against an object that is not in it, or an unknown kind of object');
    }
    const base = type === typeOfDelta ? sizes.get(start - header.offset()) : undefined;
    if (type === typeOfDelta && base === undefined) throw new PackInvalid('has a delta against no object');
    const { bytes, took } = inflated(pack.subarray(header.at, end), size);
    const whole = base === undefined ? size : sizeAfter(bytes, base);
    if (base !== undefined) take(whole);
    sizes.set(start, whole);
    at = header.at + took;
  }
  if (at !== end) throw new PackInvalid('has more in it than its objects');
  return objects;
}

/** Reads numbers, and nothing behind the end. */
class Reader {
  constructor(
    private readonly bytes: Uint8Array,
    public at: number,
    private readonly end = bytes.length,
  ) {}

  byte(): number {
    const byte = this.at < this.end ? this.bytes[this.at] : undefined;
    if (byte === undefined) throw new PackInvalid('ends too early');
    this.at += 1;
    return byte;
  }

  /** The type of an object and its size. */
  objectHeader(): { type: number; size: number } {
    const first = this.byte();
    const more = first & 0x80 ? this.varint() : 0;
    return { type: (first >> 4) & 7, size: bounded((first & 15) + more * 16) };
  }

  /** A size, its low bits first. */
  varint(): number {
    let [value, factor, byte] = [0, 1, 0x80];
    while (byte & 0x80) {
      byte = this.byte();
      value = bounded(value + (byte & 0x7f) * factor);
      factor *= 128;
    }
    return value;
  }

  /** How far before an object its base begins. */
  offset(): number {
    let byte = this.byte();
    let value = byte & 0x7f;
    while (byte & 0x80) {
      byte = this.byte();
      value = bounded((value + 1) * 128 + (byte & 0x7f));
    }
    return value;
  }
}

function bounded(value: number): number {
  if (value <= Number.MAX_SAFE_INTEGER / 256) return value;
  throw new PackInvalid('has a size that no object has');
}

/** What begins here, unpacked, and how many bytes of the pack it took. */
function inflated(from: Buffer, size: number): { bytes: Buffer; took: number } {
  try {
    const options = {
      info: true,
      maxOutputLength: Math.max(1, size),
      chunkSize: Math.min(65_536, Math.max(64, size + 1)),
    };
    const { buffer, engine } = inflateSync(from, options) as unknown as { buffer: Buffer; engine: Inflate };
    if (buffer.length === size) return { bytes: buffer, took: engine.bytesWritten };
  } catch (error) {
    // What zlib says of the bytes has a code.
    if (typeof error !== 'object' || error === null || !('code' in error)) throw error;
  }
  throw new PackInvalid('has an object that cannot be unpacked, or has another size than it says');
}

/** The size of an object that a delta makes of its base. */
function sizeAfter(delta: Buffer, base: number): number {
  const reader = new Reader(delta, 0);
  if (reader.varint() !== base) throw new PackInvalid('has a delta for another object');
  const size = reader.varint();
  let made = 0;
  while (reader.at < delta.length) {
    const command = reader.byte();
    if (command === 0) throw new PackInvalid('has a delta with an unknown command');
    if (command & 0x80) {
      let [from, length] = [0, 0];
      for (let index = 0; index < 4; index += 1) if (command & (1 << index)) from += reader.byte() * 256 ** index;
      for (let index = 0; index < 3; index += 1) if (command & (16 << index)) length += reader.byte() * 256 ** index;
      if (length === 0) length = 0x10000;
      if (from + length > base) throw new PackInvalid('has a delta that copies what is not there');
      made += length;
    } else {
      reader.at += command;
      made += command;
    }
  }
  if (reader.at !== delta.length || made !== size) throw new PackInvalid('has a delta that makes another size');
  return size;
}
