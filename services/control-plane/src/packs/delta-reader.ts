import { NumberReader } from './number-reader.js';
import { PackInvalid } from './pack-invalid.js';

/** No command is longer, nor is a size that an object may have. */
const longestCommand = 8;

/**
 * Reads a delta piece by piece, and keeps none of it: of its base and of what it makes of that, only the sizes matter.
 */
export class DeltaReader {
  /** The beginning of what was not given to its end yet. */
  #rest: Uint8Array = new Uint8Array();
  #baseSize: number | undefined;
  #size: number | undefined;
  #made = 0;
  /** How many bytes follow that are no commands. */
  #inserted = 0;

  constructor(private readonly base: number) {}

  /** @throws PackInvalid */
  take(bytes: Uint8Array): void {
    this.#read(this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]), longestCommand);
  }

  /**
   * @returns the size of what it makes
   * @throws PackInvalid
   */
  end(): number {
    this.#read(this.#rest, 1);
    if (this.#size === undefined || this.#inserted > 0) throw new PackInvalid('ends too early');
    if (this.#made !== this.#size) throw new PackInvalid('is a delta that makes another size than it says');
    return this.#size;
  }

  /** Reads until fewer than `least` bytes are left, which are kept. */
  #read(bytes: Uint8Array, least: number): void {
    const reader = new NumberReader(bytes);
    while (reader.left >= least) {
      if (this.#inserted > 0) {
        const some = Math.min(this.#inserted, reader.left);
        reader.at += some;
        this.#inserted -= some;
      } else if (this.#baseSize === undefined) {
        this.#baseSize = reader.varint();
        if (this.#baseSize !== this.base) throw new PackInvalid('is a delta for another object');
      } else if (this.#size === undefined) this.#size = reader.varint();
      else this.#command(reader);
    }
    this.#rest = bytes.subarray(reader.at);
  }

  #command(reader: NumberReader): void {
    const command = reader.byte();
    if (command === 0) throw new PackInvalid('is a delta with an unknown command');
    if (command & 0x80) {
      let [from, length] = [0, 0];
      for (let index = 0; index < 4; index += 1) if (command & (1 << index)) from += reader.byte() * 256 ** index;
      for (let index = 0; index < 3; index += 1) if (command & (16 << index)) length += reader.byte() * 256 ** index;
      if (length === 0) length = 0x10000;
      if (from + length > this.base) throw new PackInvalid('is a delta that copies what is not there');
      this.#made += length;
    } else {
      this.#inserted = command;
      this.#made += command;
    }
  }
}
