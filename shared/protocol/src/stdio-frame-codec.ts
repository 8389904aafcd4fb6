import { crc32 } from 'node:zlib';

/**
 * Frames over a byte stream that may be cut anywhere, such as a container's attached stdin and stdout.
 *
 * A frame is `type (1 byte), stream id (4), number of the frame in its stream (4), payload, CRC-32 of all that (4)`,
 * byte-stuffed (COBS) so that it contains no zero byte, between two zero bytes. A zero byte is therefore always a
 * frame's boundary: a reader that starts in the middle or loses bytes resynchronizes at the next frame, the checksum
 * drops damaged frames, and the numbers show what was dropped.
 */
export const frameTypes = {
  /** From the serving side at each attachment: streams opened before are lost. */
  hello: 1,
  /** A stream begins; only the side that uses the door opens streams. */
  open: 2,
  /** From the serving side every few seconds, for each stream: a heartbeat. */
  alive: 3,
  data: 4,
  /** No more data from this side. */
  end: 5,
  /** The stream is over, in both directions, at once. */
  reset: 6,
  /** The payload (u32) is the number of bytes that may be sent in addition. */
  credit: 7,
} as const;
export type FrameType = (typeof frameTypes)[keyof typeof frameTypes];

/** One frame. `stream` is 0 where the frame is about the connection itself. */
export interface Frame {
  readonly type: FrameType;
  readonly stream: number;
  /** Counts the frames that one side sends on a stream, from 0, modulo 2^32. */
  readonly number: number;
  readonly payload: Buffer;
}

/** The most payload that one frame carries. */
export const maxFramePayloadBytes = 16 * 1024;

const headerBytes = 9;
const checksumBytes = 4;
const longestRun = 254;
const maxBodyBytes = headerBytes + maxFramePayloadBytes + checksumBytes;
const maxStuffedBytes = maxBodyBytes + Math.ceil(maxBodyBytes / longestRun) + 1;
const knownTypes: ReadonlySet<number> = new Set(Object.values(frameTypes));
const nothing = Buffer.alloc(0);

/** The bytes of one frame, with the zero bytes around it. */
export function encodeFrame({ type, stream, number, payload }: Frame): Buffer {
  if (payload.length > maxFramePayloadBytes)
    throw new RangeError(`a frame carries at most ${maxFramePayloadBytes} bytes`);
  const body = Buffer.allocUnsafe(headerBytes + payload.length + checksumBytes);
  body.writeUInt8(type, 0);
  body.writeUInt32BE(stream, 1);
  body.writeUInt32BE(number, 5);
  payload.copy(body, headerBytes);
  body.writeUInt32BE(crc32(body.subarray(0, -checksumBytes)), body.length - checksumBytes);
  return stuff(body);
}

/** Finds the frames in a stream of chunks; incomplete and damaged ones are skipped. */
export class FrameDecoder {
  #pending: Buffer[] = [];
  #pendingBytes = 0;

  /** The frames that `chunk` completes. */
  decode(chunk: Buffer): Frame[] {
    const frames: Frame[] = [];
    let start = 0;
    for (let edge = chunk.indexOf(0); edge !== -1; edge = chunk.indexOf(0, start)) {
      this.#keep(chunk.subarray(start, edge));
      const frame = this.#take();
      if (frame !== undefined) frames.push(frame);
      start = edge + 1;
    }
    this.#keep(chunk.subarray(start));
    return frames;
  }

  /** Beyond the largest frame bytes are only counted: they cannot be a valid frame. */
  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#pendingBytes += bytes.length;
    if (this.#pendingBytes <= maxStuffedBytes) this.#pending.push(Buffer.from(bytes));
    else this.#pending = [];
  }

  #take(): Frame | undefined {
    const bytes = this.#pendingBytes <= maxStuffedBytes ? Buffer.concat(this.#pending) : nothing;
    this.#pending = [];
    this.#pendingBytes = 0;
    const body = unstuff(bytes);
    if (body === undefined || body.length < headerBytes + checksumBytes) return undefined;
    const checksum = body.readUInt32BE(body.length - checksumBytes);
    if (checksum !== crc32(body.subarray(0, -checksumBytes))) return undefined;
    const type = body.readUInt8(0);
    if (!isFrameType(type)) return undefined;
    const payload = body.subarray(headerBytes, -checksumBytes);
    return { type, stream: body.readUInt32BE(1), number: body.readUInt32BE(5), payload };
  }
}

function isFrameType(type: number): type is FrameType {
  return knownTypes.has(type);
}

/**
 * Each run of up to 254 bytes without a zero is preceded by its length plus one. A shorter run implies a zero after it,
 * the last one the end. Works byte by byte: faster methods only help where zeros are few, and then little.
 */
function stuff(body: Buffer): Buffer {
  const stuffed = Buffer.allocUnsafe(body.length + Math.floor(body.length / longestRun) + 3);
  let lengthAt = 1;
  let at = 2;
  for (const byte of body) {
    if (byte !== 0) stuffed[at++] = byte;
    if (byte === 0 || at - lengthAt > longestRun) {
      stuffed[lengthAt] = at - lengthAt;
      lengthAt = at++;
    }
  }
  stuffed[lengthAt] = at - lengthAt;
  stuffed[0] = 0;
  stuffed[at++] = 0;
  return stuffed.subarray(0, at);
}

function unstuff(stuffed: Buffer): Buffer | undefined {
  const body = Buffer.allocUnsafe(stuffed.length);
  let at = 0;
  let left = 0;
  let zeroAfter = false;
  for (const byte of stuffed) {
    if (left > 0) {
      body[at++] = byte;
      left -= 1;
      continue;
    }
    if (zeroAfter) body[at++] = 0;
    left = byte - 1;
    zeroAfter = left < longestRun;
  }
  return left > 0 ? undefined : body.subarray(0, at);
}
