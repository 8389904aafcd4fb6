import { type Projection, projectionOf } from './projection.js';

/** A copy may be cut: where it has at least so much of a text's beginning and ends there, it is one. */
const leastCut = 64;
/** A shorter text stands in others by chance. */
const leastChars = 12;

/** What stands in the place of a copy. */
export const redactedMark = '[redacted]';

/**
 * Finds a text wherever it was copied to: as it is, quoted line by line, as a prompt shows it, on one line; within JSON,
 * and within JSON within that; whole, or as much of its beginning as there was room for.
 */
export class Copies {
  /** One of these is in whatever holds a copy; none where the text is too short to be told from others. */
  readonly patterns: readonly string[];
  readonly #text: string;
  /** For each beginning, the length of the longest shorter one that it ends with (Knuth, Morris and Pratt). */
  #borders: Int32Array | undefined;

  constructor(text: string) {
    const { chars } = projectionOf(text.trim());
    this.#text = chars.trim();
    this.patterns = this.#text.length < leastChars ? [] : patternsOf(text.trim().slice(0, leastCut));
  }

  /** A text without the copies in it. Takes time by the length of both alone, whatever they are made of. */
  without(written: string): string {
    if (this.patterns.length === 0 || written.length < leastChars) return written;
    const projection = projectionOf(written);
    const { chars } = projection;
    const text = this.#text;
    if (!chars.includes(text.slice(0, leastCut))) return written;
    this.#borders ??= bordersOf(text);
    const borders = this.#borders;
    let [kept, rest, matched] = ['', 0, 0];
    for (let at = 0; at <= chars.length; at += 1) {
      if (matched === text.length || (matched >= leastCut && endsHere(projection, at, written))) {
        kept += written.slice(rest, projection.from[at - matched]) + redactedMark;
        rest = projection.to[at - 1] ?? rest;
        matched = 0;
      }
      const unit = chars.charCodeAt(at);
      while (matched > 0 && text.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0;
      if (text.charCodeAt(matched) === unit) matched += 1;
    }
    return kept + written.slice(rest);
  }
}

/** Whether a text was cut before this place. */
function endsHere({ chars, to }: Projection, at: number, written: string): boolean {
  const end = to[at - 1] ?? 0;
  return at === chars.length || chars[at] === '…' || written.startsWith('\n[cut ', end);
}

/** Characters that are written in one way only, and then those that JSON may or may not escape. */
const plain = /(?:[A-Za-z0-9.,:;_+=@#-]+ ?)+/g;
const unbroken = /[^\s"'\\>|<&/]+/g;

function patternsOf(head: string): string[] {
  const run = longest(head, plain);
  if (run.length >= 6) return [run];
  const other = longest(head, unbroken).toWellFormed();
  if (other === '') return [...new Set([head, escaped(head), escaped(escaped(head))])];
  const codes = Array.from({ length: other.length }, (_unit, at) => other.charCodeAt(at).toString(16).padStart(4, '0'));
  return [other, ...[1, 2, 4].map((backslashes) => `u${codes.join(`${'\\'.repeat(backslashes)}u`)}`)];
}

function longest(text: string, runs: RegExp): string {
  return [...text.matchAll(runs)].map(([run]) => run.trim()).reduce((a, b) => (b.length > a.length ? b : a), '');
}

/** A text as it stands between the quotes of a JSON string. */
function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function bordersOf(text: string): Int32Array {
  const borders = new Int32Array(text.length);
  let matched = 0;
  for (let at = 1; at < text.length; at += 1) {
    while (matched > 0 && text.charCodeAt(matched) !== text.charCodeAt(at)) matched = borders[matched - 1] ?? 0;
    if (text.charCodeAt(matched) === text.charCodeAt(at)) matched += 1;
    borders[at] = matched;
  }
  return borders;
}
