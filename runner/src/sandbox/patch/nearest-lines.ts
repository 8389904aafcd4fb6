import { beginningOf } from '@suzumio/protocol/cut-text';
import { foldCharacters } from '../text/folded.js';
import { differenceIn, differenceText, isSeen } from './difference.js';
import { fromByteString, toByteString } from '../text/lines.js';

/** Where a file is most like some lines. */
export interface Nearest {
  /** The first line of that place, counted from 1. */
  readonly start: number;
  /** How many of the lines are there as they are, white space at their ends apart. */
  readonly equal: number;
}

const maxPlacesOfLine = 200;

/** Finds where a file is most like some lines; undefined where it has nothing of them. */
export function nearestLines(lines: readonly string[], wanted: readonly string[]): Nearest | undefined {
  const places = new Map<string, number[]>();
  for (const [index, line] of wanted.entries()) {
    const key = keyOf(line);
    if (key !== '') places.set(key, [...(places.get(key) ?? []), index].slice(0, maxPlacesOfLine));
  }
  const votes = new Map<number, number>();
  for (const [index, line] of lines.entries()) {
    for (const place of places.get(keyOf(line)) ?? []) votes.set(index - place, (votes.get(index - place) ?? 0) + 1);
  }
  let best: Nearest | undefined;
  for (const [start, equal] of votes) {
    if (best === undefined || equal > best.equal) best = { start: Math.max(0, start) + 1, equal };
  }
  return best ?? likest(lines, wanted);
}

/** Where no line is the same: the one that has the most words of the longest that is wanted. */
function likest(lines: readonly string[], wanted: readonly string[]): Nearest | undefined {
  const key = wanted.reduce((longest, line) => (line.trim().length > longest.trim().length ? line : longest), '');
  const words = new Set(wordsOf(key));
  let best = { line: -1, share: 0.3 };
  for (const [index, line] of lines.entries()) {
    const own = wordsOf(line);
    const share = (2 * own.filter((word) => words.has(word)).length) / (own.length + words.size);
    if (share > best.share) best = { line: index, share };
  }
  return best.line === -1 ? undefined : { start: Math.max(0, best.line - wanted.indexOf(key)) + 1, equal: 0 };
}

const wordsOf = (line: string): string[] => keyOf(line.slice(0, 2000)).match(/[\p{L}\p{N}_]+/gu) ?? [];

/** A line without differences that print does not show. */
function keyOf(line: string): string {
  // Most lines are plain, and there may be many.
  if (/^[\x20-\x7e\t\r]*$/.test(line)) return line.trim();
  return fromByteString(foldCharacters(toByteString(line)).text).trim();
}

const maxShown = 20;
const maxLineChars = 200;

/** Shows those lines with their numbers, and beside the first that differs what was looked for. */
export function shownNearest(lines: readonly string[], wanted: readonly string[]): string {
  const nearest = nearestLines(lines, wanted);
  if (!nearest) return 'Nothing in the file is like it.';
  const shown: string[] = [];
  let isTold = false;
  for (let index = 0; index < Math.min(wanted.length, maxShown); index += 1) {
    const number = nearest.start + index;
    const [line, expected] = [lines[number - 1], wanted[index] ?? ''];
    const isSame = line === expected;
    // White space at the end of a line, a carriage return among it, is seen in quotes alone.
    const isEnd = !isSame && !isTold && line?.trimEnd() === expected.trimEnd();
    if (line !== undefined)
      shown.push(`${isSame ? ' ' : '!'} ${number}\t${isEnd ? JSON.stringify(brief(line)) : brief(line)}`);
    if (isSame || isTold) continue;
    isTold = true;
    const hint =
      line?.trim() === expected.trim() ? `, which differs in ${isEnd ? 'how the line ends' : 'white space'}` : '';
    shown.push(
      `  wanted${line === undefined ? ' after the end of the file' : ''}${hint}: ${JSON.stringify(brief(expected))}`,
    );
    if (line === undefined || isEnd) continue;
    const difference = { line: number, ...differenceIn(Array.from(line), Array.from(expected)) };
    if (!isSeen(difference)) shown.push(`  ${differenceText(difference)}`);
  }
  return `Nearest, from line ${nearest.start}:\n${shown.join('\n')}`;
}

function brief(line: string): string {
  return line.length > maxLineChars ? `${beginningOf(line, maxLineChars)}…` : line;
}
