import type { Hunk } from './file-patch.js';
import { type Lines, linesOf, textOf, withEndingsOf } from './lines.js';

/** A hunk that is not in the file, or in more places than one. */
export class HunkRefused extends Error {
  override readonly name = 'HunkRefused';

  constructor(
    /** Counted from 1. */
    readonly hunk: number,
    /** The lines that were looked for. */
    readonly wanted: readonly string[],
    /** The lines where they are, counted from 1; empty where they are nowhere. */
    readonly places: readonly number[],
  ) {
    super(`hunk ${hunk} does not apply`);
  }
}

/** A text that was changed, and how far from where the patch said. */
export interface Applied {
  readonly text: string;
  /** Hunks that were found at another line than theirs, counted from 1: where, and how many lines away. */
  readonly shifted: readonly { hunk: number; line: number; by: number }[];
}

/**
 * Applies hunks to a text, both as byte strings. A hunk's lines must be there exactly; not at the line that it says, they
 * are taken where they are nearest to it. Line endings are the text's where it has one kind and the patch another.
 *
 * @throws HunkRefused
 */
export function applyHunks(text: string, hunks: readonly Hunk[]): Applied {
  const { lines, endsWithBreak } = linesOf(text);
  const result: string[] = [];
  const shifted: { hunk: number; line: number; by: number }[] = [];
  let withBreak = endsWithBreak;
  let done = 0;
  let offset = 0;
  for (const [index, hunk] of hunks.entries()) {
    const { before, after } = sidesOf(hunk, text);
    const at = placeOf(before, { lines, endsWithBreak }, hunk, done, offset, index + 1);
    if (hunk.oldStart !== undefined) {
      const by = at - expected(hunk.oldStart, before);
      if (by !== offset) shifted.push({ hunk: index + 1, line: at + 1, by });
      offset = by;
    }
    result.push(...lines.slice(done, at), ...after);
    done = at + before.length;
    const reachesEnd = done === lines.length;
    if (reachesEnd && hunk.newWithoutBreak !== hunk.oldWithoutBreak) withBreak = !hunk.newWithoutBreak;
  }
  result.push(...lines.slice(done));
  return { text: textOf({ lines: result, endsWithBreak: withBreak }), shifted };
}

function sidesOf({ lines }: Hunk, text: string): { before: string[]; after: string[] } {
  const fitted = linesOf(withEndingsOf(text, `${lines.join('\n')}\n`)).lines;
  const side = (left: string): string[] => fitted.filter((line) => !line.startsWith(left)).map((line) => line.slice(1));
  return { before: side('+'), after: side('-') };
}

/** Where a hunk says that its lines are, counted from 0. One without lines before is for what follows the line it names. */
function expected(oldStart: number, before: readonly string[]): number {
  return before.length === 0 ? oldStart : oldStart - 1;
}

function placeOf(
  before: readonly string[],
  file: Lines,
  hunk: Hunk,
  from: number,
  offset: number,
  number: number,
): number {
  const { lines } = file;
  const last = lines.length - before.length;
  const fits = (at: number): boolean =>
    at >= from &&
    at <= last &&
    (!hunk.oldWithoutBreak || at === last) &&
    before.every((line, index) => lines[at + index] === line);
  if (hunk.oldStart === undefined) {
    const places = Array.from({ length: Math.max(0, last - from + 1) }, (_, index) => from + index).filter(fits);
    if (places.length === 1 && before.length > 0) return places[0] as number;
    throw new HunkRefused(
      number,
      before,
      places.map((place) => place + 1),
    );
  }
  const wanted = expected(hunk.oldStart, before) + offset;
  if (before.length === 0 && wanted >= from && wanted <= lines.length) return wanted;
  for (let distance = 0; distance <= Math.max(wanted - from, last - wanted); distance += 1) {
    if (fits(wanted - distance)) return wanted - distance;
    if (fits(wanted + distance)) return wanted + distance;
  }
  throw new HunkRefused(number, before, []);
}
