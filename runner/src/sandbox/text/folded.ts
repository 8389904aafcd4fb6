import { fromByteString, toByteString } from './lines.js';

/** A piece of a text, and what it became. */
interface Segment {
  readonly source: number;
  readonly folded: number;
  readonly sourceLength: number;
  /** As long as its source where it is the same. */
  readonly foldedLength: number;
  readonly isSame: boolean;
}

/** What replaces a piece of a text. */
interface Replacement {
  readonly index: number;
  readonly from: string;
  readonly to: string;
}

/** A byte string in a form in which similar ones are equal, with the way back. */
export class Folded {
  private constructor(
    readonly text: string,
    private readonly segments: readonly Segment[],
  ) {}

  /** @param replacements one behind the other */
  static of(source: string, replacements: Iterable<Replacement>): Folded {
    const segments: Segment[] = [];
    const parts: string[] = [];
    let [at, folded] = [0, 0];
    const add = (from: string, to: string, isSame: boolean): void => {
      segments.push({ source: at, folded, sourceLength: from.length, foldedLength: to.length, isSame });
      parts.push(to);
      at += from.length;
      folded += to.length;
    };
    for (const { index, from, to } of replacements) {
      if (to === from) continue;
      if (index > at) add(source.slice(at, index), source.slice(at, index), true);
      add(from, to, false);
    }
    if (at < source.length) add(source.slice(at), source.slice(at), true);
    return new Folded(parts.join(''), segments);
  }

  /** Where an index of the source is; undefined within what was replaced. */
  indexOf(source: number): number | undefined {
    const segment = this.#last((one) => one.source <= source);
    if (!segment) return 0;
    const by = source - segment.source;
    if (by >= segment.sourceLength) return segment.folded + segment.foldedLength;
    return by === 0 || segment.isSame ? segment.folded + by : undefined;
  }

  /**
   * Where in the source an index is; undefined within what was replaced.
   *
   * @param isEnd before, not after, what was left out there
   */
  sourceOf(folded: number, isEnd: boolean): number | undefined {
    const segment = this.#last((one) => (isEnd ? one.folded < folded : one.folded <= folded));
    if (!segment) return 0;
    const by = folded - segment.folded;
    if (by >= segment.foldedLength) return segment.source + segment.sourceLength;
    return by === 0 || segment.isSame ? segment.source + by : undefined;
  }

  #last(isBefore: (segment: Segment) => boolean): Segment | undefined {
    let [low, high] = [0, this.segments.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isBefore(this.segments[middle] as Segment)) low = middle + 1;
      else high = middle;
    }
    return this.segments[low - 1];
  }
}

const spaces = /[\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/gu;
const unseen = /\p{Default_Ignorable_Code_Point}/gu;
const quotes = /[\u00b4\u02b9\u02bb\u02bc\u02c8\u2018-\u201b\u2032\u2035]/gu;
const doubleQuotes = /[\u02ba\u201c-\u201f\u2033\u2036]/gu;
const dashes = /[\u2010-\u2015\u2043\u2212\ufe58\ufe63]/gu;
const fullWidth = /[\uff01-\uff5e]/gu;

/** What a character with its marks is taken for. */
function plain(character: string): string {
  return character
    .replace(unseen, '')
    .normalize('NFC')
    .replace(fullWidth, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
    .replace(spaces, ' ')
    .replace(quotes, "'")
    .replace(doubleQuotes, '"')
    .replace(dashes, '-')
    .replaceAll('\u2026', '...')
    .replaceAll('\0', '␀');
}

/** What may be folded: a NUL, or characters that are not ASCII with the one before them, which may be the letter of an accent. */
// oxlint-disable-next-line no-control-regex -- bytes are characters here
const unplain = /\0|[\x01-\x7f]?[\x80-\xff]+/g;
const utf8Character =
  /[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xef][\x80-\xbf]{2}|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf4][\x80-\xbf]{3}|[\x80-\xff]/g;
/** A character with its marks; a syllable of Hangul as its letters. */
const cluster = /[\u1100-\u115f][\u1160-\u11a7][\u11a8-\u11ff]?|\P{M}\p{M}*|\p{M}+/gsu;

/** Similar characters are one; a byte that is no UTF-8 is U+FFFD, as it is shown. */
export function foldCharacters(bytes: string): Folded {
  return Folded.of(bytes, characterFolds(bytes));
}

function* characterFolds(bytes: string): Generator<Replacement> {
  for (const { 0: run, index: start } of bytes.matchAll(unplain)) {
    const readable = run.replace(utf8Character, (one) => (isRaw(one) ? replacementBytes : one));
    const text = fromByteString(readable);
    if (readable === run && plain(text) === text) continue;
    let index = start;
    for (const [piece] of text.matchAll(cluster)) {
      const from = bytes.slice(index, index + sourceLength(bytes, index, piece));
      yield { index, from, to: toByteString(plain(piece)) };
      index += from.length;
    }
  }
}

const replacementBytes = toByteString('\ufffd');
const isRaw = (character: string): boolean => character.length === 1 && character >= '\x80';

function sourceLength(bytes: string, at: number, piece: string): number {
  let end = at;
  for (const character of piece) {
    const isReplaced = character === '\ufffd' && !bytes.startsWith(replacementBytes, end);
    end += isReplaced ? 1 : Buffer.byteLength(character);
  }
  return end - at;
}

/** White space and carriage returns at ends of lines are left out, and any other white space in a line is one space. */
export function foldSpaces(bytes: string): Folded {
  return Folded.of(bytes, spaceFolds(bytes));
}

function* spaceFolds(bytes: string): Generator<Replacement> {
  for (const { 0: from, 1: atEnd, index } of bytes.matchAll(/([ \t\r]+(?=\n))|[ \t]+/g)) {
    yield { index, from, to: atEnd === undefined ? ' ' : '' };
  }
}

/** White space and carriage returns at ends of lines are left out. */
export function foldLineEnds(bytes: string): Folded {
  return Folded.of(
    bytes,
    [...bytes.matchAll(/[ \t\r]+(?=\n)/g)].map(({ 0: from, index }) => ({ index, from, to: '' })),
  );
}
