import { PackInvalid } from './pack-invalid.js';

/** Reads the numbers of a pack, and nothing behind the end of what it was given. */
export class NumberReader {
  constructor(
    private readonly bytes: Uint8Array,
    public at = 0,
  ) {}

  /** How many bytes are left. */
  get left(): number {
    return this.bytes.length - this.at;
  }

  byte(): number {
    const byte = this.bytes[this.at];
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
