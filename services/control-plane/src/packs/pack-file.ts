import { createHash } from 'node:crypto';
import { closeSync, createReadStream, fstatSync, openSync, readSync } from 'node:fs';
import { pipeline } from 'node:stream';
import { createInflate, type Inflate, inflateSync } from 'node:zlib';
import { PackInvalid } from './pack-invalid.js';

/** Before the objects: `PACK`, a version, and their number. Behind them: the SHA-1 of all before it. */
const headerBytes = 12;
const trailerBytes = 20;

const windowBytes = 1024 * 1024;

/** Objects up to this size are unpacked at once, which is ten times as fast: most are small. */
const smallBytes = 64 * 1024;

/** More than zlib makes of a small object. */
const smallPackedBytes = 2 * smallBytes;

const notUnpacked = 'cannot be unpacked, or has another size than it says';

/** A pack on a disk, of which little is in memory at a time. For a thread: it waits for the disk. */
export class PackFile {
  /** Where its objects begin and end. */
  readonly begin = headerBytes;
  readonly end: number;
  readonly #file: number;
  readonly #window = Buffer.allocUnsafe(windowBytes);
  #from = 0;
  #length = 0;

  constructor(private readonly path: string) {
    this.#file = openSync(path, 'r');
    this.end = fstatSync(this.#file).size - trailerBytes;
  }

  close(): void {
    closeSync(this.#file);
  }

  /** @throws PackInvalid where it is none, or is not whole */
  async header(): Promise<{ version: number; objects: number }> {
    const header = this.bytesAt(0, headerBytes);
    if (header.length < headerBytes || header.toString('latin1', 0, 4) !== 'PACK') throw new PackInvalid('is none');
    const [version, objects] = [header.readUInt32BE(4), header.readUInt32BE(8)];
    const hash = createHash('sha1');
    for await (const bytes of createReadStream(this.path, { end: this.end - 1 })) hash.update(bytes as Buffer);
    const trailer = Buffer.alloc(trailerBytes);
    readSync(this.#file, trailer, 0, trailerBytes, this.end);
    if (!hash.digest().equals(trailer)) throw new PackInvalid('is not whole: its checksum is another');
    return { version, objects };
  }

  /** What begins at a place: up to `most` bytes, and fewer only at the end. They are there until the next call. */
  bytesAt(at: number, most: number): Buffer {
    const wanted = Math.max(0, Math.min(most, this.end - at));
    if (at < this.#from || at + wanted > this.#from + this.#length) {
      this.#from = at;
      this.#length = readSync(this.#file, this.#window, 0, Math.min(windowBytes, this.end - at), at);
    }
    return this.#window.subarray(at - this.#from, at - this.#from + wanted);
  }

  /**
   * Unpacks what begins at a place and has `size` bytes, and passes it on piece by piece.
   *
   * @returns where it ends in the pack
   * @throws PackInvalid; what `take` throws
   */
  async unpack(at: number, size: number, take: (bytes: Uint8Array) => void): Promise<number> {
    if (at >= this.end) throw new PackInvalid('ends too early');
    try {
      return at + (size <= smallBytes ? this.#atOnce(at, size, take) : await this.#inPieces(at, size, take));
    } catch (error) {
      throw isOfZlib(error) ? new PackInvalid(notUnpacked) : error;
    }
  }

  #atOnce(at: number, size: number, take: (bytes: Uint8Array) => void): number {
    const options = { info: true, maxOutputLength: Math.max(1, size), chunkSize: Math.max(64, size + 1) };
    const unpacked = inflateSync(this.bytesAt(at, smallPackedBytes), options);
    const { buffer, engine } = unpacked as unknown as { buffer: Buffer; engine: Inflate };
    if (buffer.length !== size) throw new PackInvalid(notUnpacked);
    take(buffer);
    return engine.bytesWritten;
  }

  async #inPieces(at: number, size: number, take: (bytes: Uint8Array) => void): Promise<number> {
    const engine = createInflate({ chunkSize: smallBytes });
    // What fails on the way to the engine ends the engine, and so the loop.
    pipeline(createReadStream(this.path, { start: at, end: this.end - 1 }), engine, () => undefined);
    let left = size;
    for await (const bytes of engine as AsyncIterable<Buffer>) {
      left -= bytes.length;
      if (left < 0) break;
      take(bytes);
    }
    if (left !== 0) throw new PackInvalid(notUnpacked);
    return engine.bytesWritten;
  }
}

/** Whether zlib says of bytes that they are none of its own, are cut, or are more than expected. */
function isOfZlib(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  return /^Z_(?:DATA_ERROR|BUF_ERROR|NEED_DICT)$|^ERR_BUFFER_TOO_LARGE$/.test(code);
}
