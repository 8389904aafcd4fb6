import { fromByteString } from '../text/lines.js';

/** Where a file first differs from what was sought: characters by number, for many are the same in print. */
export interface Difference {
  /** Counted from 1. */
  readonly line: number;
  /** Characters, counted from 1. */
  readonly column: number;
  /** What is there, and what was sought; undefined at the end of a line. */
  readonly own: number | undefined;
  readonly wanted: number | undefined;
}

const names: Readonly<Record<number, string>> = {
  0x09: 'tab',
  0x0d: 'carriage return',
  0x20: 'space',
  0x22: 'quotation mark',
  0x27: 'apostrophe',
  0x2d: 'hyphen',
  0xa0: 'no-break space',
  0xad: 'soft hyphen',
  0x2009: 'thin space',
  0x200b: 'zero width space',
  0x200c: 'zero width non-joiner',
  0x200d: 'zero width joiner',
  0x202f: 'narrow no-break space',
  0x2060: 'word joiner',
  0x3000: 'ideographic space',
  0xfeff: 'byte order mark',
  0xfffd: 'no UTF-8',
};

/** The first difference of lines, byte strings, of which the first is `start`. */
export function firstDifference(lines: readonly string[], wanted: readonly string[], start: number): Difference {
  const index = wanted.findIndex((line, at) => line !== lines[at]);
  const [own, sought] = [lines[index], wanted[index]].map((line) => Array.from(fromByteString(line ?? '')));
  return { ...differenceIn(own ?? [], sought ?? []), line: start + Math.max(0, index) };
}

/** The first difference of two lines, as characters. */
export function differenceIn(own: readonly string[], wanted: readonly string[]): Omit<Difference, 'line'> {
  let at = 0;
  while (at < own.length && own[at] === wanted[at]) at += 1;
  return { column: at + 1, own: own[at]?.codePointAt(0), wanted: wanted[at]?.codePointAt(0) };
}

/** `line 3, column 8 has U+00A0 (no-break space) where the patch has U+0020 (space)`. */
export function differenceText({ line, column, own, wanted }: Difference): string {
  return `line ${line}, column ${column} has ${character(own)} where ${character(wanted)} was looked for`;
}

/** Whether what differs is seen without its number. */
export function isSeen({ own, wanted }: Pick<Difference, 'own' | 'wanted'>): boolean {
  return [own, wanted].every((code) => code === undefined || (code >= 0x20 && code < 0x7f));
}

function character(code: number | undefined): string {
  if (code === undefined) return 'its end';
  const name = names[code] ?? (code > 0x20 && code < 0x7f ? `"${String.fromCodePoint(code)}"` : undefined);
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}${name === undefined ? '' : ` (${name})`}`;
}
