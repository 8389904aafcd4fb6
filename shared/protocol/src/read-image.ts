import { crc32 } from 'node:zlib';
import { type ImageMediaType, type ImageShape, maxImageBytes, maxImageSide } from './images.js';

/** Why an image is not shown to any model: `why` ends a sentence. */
interface NotShown {
  readonly code: 'image-broken' | 'image-too-large';
  readonly mediaType: ImageMediaType;
  readonly why: string;
}

/** The kind of image that some bytes begin as; undefined for anything else. */
export function imageMediaType(beginning: Uint8Array): ImageMediaType | undefined {
  const reader = new Reader(beginning);
  return kinds.find(({ begins }) => begins(reader))?.mediaType;
}

/**
 * Reads what an image says of itself, by its bytes alone: kind and size, whether its end is there, and whether it is made
 * of the parts that its kind has, with the checksums that they say. Pixels are not decoded.
 *
 * @returns undefined for what does not begin as an image
 */
export function readImage(bytes: Uint8Array): ImageShape | NotShown | undefined {
  const reader = new Reader(bytes);
  const kind = kinds.find(({ begins }) => begins(reader));
  if (kind === undefined) return undefined;
  const { mediaType, read } = kind;
  if (bytes.length > maxImageBytes) return tooManyBytes(mediaType, bytes.length);
  const size = read(reader);
  if (size === 'cut') return { code: 'image-broken', mediaType, why: 'its end is missing' };
  if (size === 'damaged') return { code: 'image-broken', mediaType, why: 'it is damaged; make it again' };
  if (size === undefined || size.width < 1 || size.height < 1) {
    return { code: 'image-broken', mediaType, why: 'it does not say its size' };
  }
  const { width, height } = size;
  if (Math.max(width, height) <= maxImageSide) return { mediaType, width, height };
  const why = `it has ${width}x${height} pixels, and may have ${maxImageSide} on each side`;
  return { code: 'image-too-large', mediaType, why };
}

/** An image that is not even read. */
export function tooManyBytes(mediaType: ImageMediaType, sizeBytes: number): NotShown {
  const why = `it has ${sizeBytes} bytes, and may have ${maxImageBytes}`;
  return { code: 'image-too-large', mediaType, why };
}

/** What a model is told of an image that is not shown. */
export function notShownText(name: string, { mediaType, why }: NotShown): string {
  const kind = mediaType === 'image/webp' ? 'WebP' : mediaType.slice('image/'.length).toUpperCase();
  return `${JSON.stringify(name)} is a ${kind} image that is not shown: ${why}.`;
}

/** `damaged` where its parts are not those of its kind; undefined where it does not say its size. */
type Size = { width: number; height: number } | 'cut' | 'damaged' | undefined;

interface Kind {
  readonly mediaType: ImageMediaType;
  readonly begins: (reader: Reader) => boolean;
  readonly read: (reader: Reader) => Size;
}

/** Big-endian unless a name says otherwise. What is beyond the end is 0. */
class Reader {
  constructor(private readonly bytes: Uint8Array) {}

  get length(): number {
    return this.bytes.length;
  }

  u8(at: number): number {
    return this.bytes[at] ?? 0;
  }

  u16(at: number): number {
    return this.u8(at) * 0x100 + this.u8(at + 1);
  }

  u32(at: number): number {
    return this.u16(at) * 0x10000 + this.u16(at + 2);
  }

  u16le(at: number): number {
    return this.u8(at) + this.u8(at + 1) * 0x100;
  }

  u24le(at: number): number {
    return this.u16le(at) + this.u8(at + 2) * 0x10000;
  }

  u32le(at: number): number {
    return this.u24le(at) + this.u8(at + 3) * 0x1000000;
  }

  has(text: string, at: number): boolean {
    for (let index = 0; index < text.length; index += 1) {
      if (this.u8(at + index) !== text.charCodeAt(index)) return false;
    }
    return true;
  }

  /** The checksum of some bytes. */
  crc(from: number, to: number): number {
    return crc32(this.bytes.subarray(from, to));
  }

  /** Where a text begins, at a place or after it. */
  find(text: string, from: number): number | undefined {
    const { buffer, byteOffset, byteLength } = this.bytes;
    const at = Buffer.from(buffer, byteOffset, byteLength).indexOf(text, from, 'latin1');
    return at === -1 ? undefined : at;
  }
}

const kinds: readonly Kind[] = [
  { mediaType: 'image/png', begins: (reader) => reader.has('\x89PNG\r\n\x1a\n', 0), read: png },
  { mediaType: 'image/jpeg', begins: (reader) => reader.has('\xff\xd8\xff', 0), read: jpeg },
  { mediaType: 'image/gif', begins: (reader) => reader.has('GIF87a', 0) || reader.has('GIF89a', 0), read: gif },
  { mediaType: 'image/webp', begins: (reader) => reader.has('RIFF', 0) && reader.has('WEBPVP8', 8), read: webp },
];

/** More chunks than any program writes: each of them costs a checksum. */
const mostChunks = 20_000;

/** Chunks of a length, a type, the data and a checksum of both; the first has the size, and the last is `IEND`. */
function png(reader: Reader): Size {
  if (!reader.has('IHDR', 12)) return undefined;
  const size = { width: reader.u32(16), height: reader.u32(20) };
  let hasPixels = false;
  let chunks = 0;
  for (let at = 8; at + 12 <= reader.length;) {
    chunks += 1;
    if (chunks > mostChunks) return 'damaged';
    const data = at + 8;
    const end = data + reader.u32(at);
    if (end + 4 > reader.length) return 'cut';
    if (reader.crc(at + 4, end) !== reader.u32(end)) return 'damaged';
    if (reader.has('IEND', at + 4)) return hasPixels ? size : 'damaged';
    hasPixels ||= reader.has('IDAT', at + 4);
    at = end + 4;
  }
  return 'cut';
}

/** Segments of a marker and a length. That of the first frame has the size; the picture follows the first scan's. */
function jpeg(reader: Reader): Size {
  let size: Size;
  for (let at = 2; at + 4 <= reader.length;) {
    if (reader.u8(at) !== 0xff) return size && 'damaged';
    const marker = reader.u8(at + 1);
    // Any number of these may come before a marker.
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker === 0xda) {
      // Within the picture these two bytes do not follow each other. Some cameras write something of their own after them.
      return size && (reader.find('\xff\xd9', at) === undefined ? 'cut' : size);
    }
    if (marker === 0xd9) return size && 'damaged';
    if (isFrame(marker)) size ??= { height: reader.u16(at + 5), width: reader.u16(at + 7) };
    at += 2 + Math.max(2, reader.u16(at + 2));
  }
  return 'cut';
}

/** Markers of frames: all of C0 to CF but those of tables and of extensions. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
}

/** Blocks after the header and its colours: pictures and extensions, each of pieces that say their length, and `;`. */
function gif(reader: Reader): Size {
  const size = { width: reader.u16le(6), height: reader.u16le(8) };
  let hasPicture = false;
  for (let at = 13 + gifColours(reader.u8(10)); at < reader.length;) {
    const block = reader.u8(at);
    if (block === 0x3b) return hasPicture ? size : 'damaged';
    if (block !== 0x21 && block !== 0x2c) return 'damaged';
    hasPicture ||= block === 0x2c;
    // A label; or a place, colours and how the pixels are coded.
    at += block === 0x21 ? 2 : 11 + gifColours(reader.u8(at + 9));
    while (reader.u8(at) > 0) at += 1 + reader.u8(at);
    at += 1;
  }
  return 'cut';
}

/** How many bytes the colours take that these flags announce. */
const gifColours = (flags: number) => ((flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 0x07) + 1));

/** Chunks of a name and a length, the first of one of three kinds; the length of all is at the beginning. */
function webp(reader: Reader): Size {
  if (reader.u32le(4) + 8 > reader.length) return 'cut';
  let hasPicture = false;
  for (let at = 12; at < reader.u32le(4) + 8;) {
    hasPicture ||= ['VP8 ', 'VP8L', 'ANMF'].some((name) => reader.has(name, at));
    at += 8 + reader.u32le(at + 4);
    if (at > reader.length) return 'damaged';
    // A chunk of odd length is filled up.
    at += at % 2;
  }
  if (!hasPicture) return 'damaged';
  if (reader.has('VP8X', 12)) return { width: reader.u24le(24) + 1, height: reader.u24le(27) + 1 };
  if (reader.has('VP8L', 12)) {
    if (reader.u8(20) !== 0x2f) return undefined;
    const bits = reader.u32le(21);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (!reader.has('VP8 ', 12) || !reader.has('\x9d\x01\x2a', 23)) return undefined;
  return { width: reader.u16le(26) & 0x3fff, height: reader.u16le(28) & 0x3fff };
}
