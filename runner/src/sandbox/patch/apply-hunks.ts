import { afterSimilar } from './similar-hunk.js';
import { type Difference, firstDifference } from './difference.js';
import type { Hunk } from './file-patch.js';
import { linesOf, textOf, withEndingsOf } from '../text/lines.js';
import { SimilarTexts } from './similar-texts.js';

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
    /** That these lines are only similar. */
    readonly isSimilar = false,
  ) {
    super(`hunk ${hunk} does not apply`);
  }
}

/** A text that was changed, and how far from where the patch said. */
export interface Applied {
  readonly text: string;
  /** Hunks that were found at another line than theirs, counted from 1: where, and how many lines away. */
  readonly shifted: readonly { hunk: number; line: number; by: number }[];
  /** Hunks of which the file has only similar lines. */
  readonly alike: readonly { hunk: number; difference: Difference }[];
}

/**
 * Applies hunks to a text, both as byte strings. A hunk's lines must be there exactly; not at the line that it says, they
 * are taken where they are nearest to it. Only where that finds none, line endings are taken for the text's, and then empty lines
 * at a hunk's end for no part of it: models miscount. Last, similar lines are taken, where the text has them once.
 *
 * @throws HunkRefused
 */
export function applyHunks(text: string, hunks: readonly Hunk[]): Applied {
  const { lines, endsWithBreak } = linesOf(text);
  const parts: (readonly string[])[] = [];
  const shifted: { hunk: number; line: number; by: number }[] = [];
  const alike: { hunk: number; difference: Difference }[] = [];
  let similarTexts: SimilarTexts | undefined;
  let withBreak = endsWithBreak;
  let done = 0;
  let offset = 0;
  for (const [index, hunk] of hunks.entries()) {
    let { before, after }: Sides = { before: [], after: [] };
    let places: number[] = [];
    for (const reading of readingsOf(text, hunk)) {
      ({ before, after } = reading);
      places = placesOf(before, lines, hunk, { from: done, offset });
      if (places.length > 0) break;
    }
    const isSimilar = places.length === 0;
    if (isSimilar) {
      similarTexts ??= new SimilarTexts(text + (endsWithBreak ? '' : '\n'));
      places = similarLines(similarTexts, text, hunk, { from: done, last: lines.length });
      ({ before } = sidesOf(hunk.lines));
    }
    const [at, ...others] = places;
    if (at === undefined) throw new HunkRefused(index + 1, before, []);
    if (others.length > 0) {
      throw new HunkRefused(
        index + 1,
        before,
        [at, ...others].map((place) => place + 1),
        isSimilar,
      );
    }
    if (isSimilar) {
      const found = lines.slice(at, at + before.length);
      after = afterSimilar(hunk.lines, found, lines[at - 1] ?? lines[at + before.length] ?? '');
      alike.push({ hunk: index + 1, difference: firstDifference(found, before, at + 1) });
    }
    if (hunk.oldStart !== undefined) {
      const by = at - expected(hunk.oldStart, before);
      if (by !== offset) shifted.push({ hunk: index + 1, line: at + 1, by });
      offset = by;
    }
    parts.push(lines.slice(done, at), after);
    done = at + before.length;
    const reachesEnd = done === lines.length;
    if (reachesEnd && hunk.newWithoutBreak !== hunk.oldWithoutBreak) withBreak = !hunk.newWithoutBreak;
  }
  parts.push(lines.slice(done));
  return { text: textOf({ lines: parts.flat(), endsWithBreak: withBreak }), shifted, alike };
}

/** What a hunk takes away with what is around it, and what it puts there. */
interface Sides {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

function sidesOf(lines: readonly string[]): Sides {
  const without = (mark: string): string[] =>
    lines.filter((line) => !line.startsWith(mark)).map((line) => line.slice(1));
  return { before: without('+'), after: without('-') };
}

/** What a hunk may mean, in the order in which it is tried. */
function* readingsOf(text: string, { lines, emptyEnd }: Pick<Hunk, 'lines' | 'emptyEnd'>): Generator<Sides> {
  yield sidesOf(lines);
  yield sidesOf(fittedTo(text, lines));
  if (emptyEnd > 0) yield* readingsOf(text, { lines: lines.slice(0, -emptyEnd), emptyEnd: 0 });
}

/** The lines, counted from 0, where a text has lines similar to a hunk's. */
function similarLines(
  similarTexts: SimilarTexts,
  text: string,
  hunk: Hunk,
  { from, last }: { readonly from: number; readonly last: number },
): number[] {
  const { before } = sidesOf(hunk.lines);
  if (before.length === 0) return [];
  return similarTexts
    .find(`${before.join('\n')}\n`, true)
    .map(({ start }) => text.slice(0, start).split('\n').length - 1)
    .filter((at) => at >= from && (!hunk.oldWithoutBreak || at + before.length === last));
}

/** A hunk's lines with the line endings of a text. */
function fittedTo(text: string, lines: readonly string[]): readonly string[] {
  return linesOf(withEndingsOf(text, `${lines.join('\n')}\n`)).lines;
}

/** Where a hunk says that its lines are, counted from 0. One without lines before is for what follows the line it names. */
function expected(oldStart: number, before: readonly string[]): number {
  return before.length === 0 ? oldStart : oldStart - 1;
}

/** Where some lines are: the nearest place where a hunk names one, else all, counted from 0. */
function placesOf(
  before: readonly string[],
  lines: readonly string[],
  hunk: Hunk,
  { from, offset }: { readonly from: number; readonly offset: number },
): number[] {
  const last = lines.length - before.length;
  const fits = (at: number): boolean =>
    at >= from &&
    at <= last &&
    (!hunk.oldWithoutBreak || at === last) &&
    before.every((line, index) => lines[at + index] === line);
  if (hunk.oldStart === undefined) {
    if (before.length === 0) return [];
    return Array.from({ length: Math.max(0, last - from + 1) }, (_, index) => from + index).filter(fits);
  }
  const wanted = expected(hunk.oldStart, before) + offset;
  if (before.length === 0) return wanted >= from && wanted <= lines.length ? [wanted] : [];
  // The line that a patch names may be any number.
  const nearest = Math.min(Math.max(wanted, from), Math.max(last, from));
  for (let distance = 0; distance <= Math.max(nearest - from, last - nearest); distance += 1) {
    if (fits(nearest - distance)) return [nearest - distance];
    if (fits(nearest + distance)) return [nearest + distance];
  }
  return [];
}
