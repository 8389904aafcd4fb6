/** How a file's bytes are its text. */
export interface TextEncoding {
  readonly name: 'utf-8' | 'utf-16le' | 'utf-16be';
  /** Whether it begins with a byte order mark. */
  readonly hasMark: boolean;
}

export const utf8: TextEncoding = { name: 'utf-8', hasMark: false };

/** A byte order mark, as it is in a text. */
export const mark = '\ufeff';

/** Below so many units, a pattern of NUL bytes says nothing. */
const minUnits = 4;
/** The share of units that are ASCII or of the one other block of 256 characters, in UTF-16 without a mark. */
const minShare = 0.9;
/** The share of units that are printed ASCII there: every alphabet has its spaces and digits from it. */
const minAsciiShare = 0.1;

/** What encoding a file has, by its beginning. Whatever is no UTF-16 counts as UTF-8: {@link binaryKind} says what is no text. */
export function encodingOf(sample: Buffer): TextEncoding {
  if (startsWith(sample, 0xff, 0xfe) && isUtf16Text(sample.subarray(2), 'utf-16le')) {
    return { name: 'utf-16le', hasMark: true };
  }
  if (startsWith(sample, 0xfe, 0xff) && isUtf16Text(sample.subarray(2), 'utf-16be')) {
    return { name: 'utf-16be', hasMark: true };
  }
  if (startsWith(sample, 0xef, 0xbb, 0xbf)) return { name: 'utf-8', hasMark: true };
  for (const name of ['utf-16le', 'utf-16be'] as const) {
    if (isLikeUtf16(sample, name) && isUtf16Text(sample, name)) return { name, hasMark: false };
  }
  return utf8;
}

/** `UTF-16 LE with a byte order mark`. */
export function encodingText({ name, hasMark }: TextEncoding): string {
  const shown = { 'utf-8': 'UTF-8', 'utf-16le': 'UTF-16 LE', 'utf-16be': 'UTF-16 BE' }[name];
  return `${shown} ${hasMark ? 'with' : 'without'} a byte order mark`;
}

/** The bytes of a file as UTF-8, its mark with them; undefined where they would not come back as they were. */
export function toUtf8(bytes: Buffer, { name }: Pick<TextEncoding, 'name'>): Buffer | undefined {
  if (name === 'utf-8') return bytes;
  const text = Buffer.from(new TextDecoder(name, { ignoreBOM: true }).decode(bytes));
  return fromUtf8(text, { name }).equals(bytes) ? text : undefined;
}

/** What {@link toUtf8} has made, as bytes of the file again. */
export function fromUtf8(text: Buffer, { name }: Pick<TextEncoding, 'name'>): Buffer {
  if (name === 'utf-8') return text;
  const bytes = Buffer.from(text.toString('utf8'), 'utf16le');
  return name === 'utf-16be' ? bytes.swap16() : bytes;
}

const startsWith = (bytes: Buffer, ...start: number[]): boolean => start.every((byte, at) => bytes[at] === byte);

/** Whether all of it is characters that texts have; its end may be the middle of one. */
function isUtf16Text(bytes: Buffer, encoding: 'utf-16le' | 'utf-16be'): boolean {
  try {
    const text = new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
    // oxlint-disable-next-line no-control-regex -- texts have none of these
    return !/[\0-\x08\x0e-\x1a\x1c-\x1f\ufffe\uffff]/.test(text);
  } catch {
    return false;
  }
}

/** Whether it has NUL bytes where the characters of one alphabet have them in UTF-16. */
function isLikeUtf16(bytes: Buffer, encoding: 'utf-16le' | 'utf-16be'): boolean {
  const units = Math.floor(bytes.length / 2);
  if (units < minUnits || bytes.length % 2 === 1) return false;
  const [highAt, lowAt] = encoding === 'utf-16le' ? [1, 0] : [0, 1];
  const highs = new Map<number, number>();
  let ascii = 0;
  for (let at = 0; at + 1 < bytes.length; at += 2) {
    const [high = 0, low = 0] = [bytes[at + highAt], bytes[at + lowAt]];
    if (low === 0 && high === 0) return false;
    highs.set(high, (highs.get(high) ?? 0) + 1);
    if (high === 0 && ((low >= 0x20 && low < 0x7f) || (low >= 9 && low <= 13))) ascii += 1;
  }
  const zero = highs.get(0) ?? 0;
  highs.delete(0);
  return ascii >= units * minAsciiShare && zero + Math.max(0, ...highs.values()) >= units * minShare;
}
