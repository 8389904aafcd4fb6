import type { FoundText } from '@suzumio/contract/model/search';
import { oneLine } from '@suzumio/core/prompt/body';
import type { Output } from '../cli-context.js';
import { cutStart } from './format.js';
import type { Cell } from './table.js';

/** How much of a line of a terminal stands before the first match: it is to be seen where the line is cut. */
const leadColumns = 20;

/** Where something was found, on one line. The matches stand out by colour, or in brackets where there is none. */
export function excerpt(found: FoundText, { columns, colors }: Pick<Output, 'columns' | 'colors'>): Cell {
  let text = '';
  const marks: [from: number, to: number][] = [];
  for (const piece of found) {
    const line = inner(piece.text);
    const shown = piece.matched && !colors ? `[${line}]` : line;
    if (piece.matched) {
      if (marks.length === 0 && columns !== undefined) text = cutStart(text, leadColumns);
      marks.push([text.length, text.length + shown.length]);
    }
    text += shown;
  }
  return colors ? { text, marks } : text;
}

/** A piece as part of a line: space at its ends separates it from the next. */
function inner(text: string): string {
  const line = oneLine(text);
  if (line === '') return text === '' ? '' : ' ';
  return `${/^[\s\p{Cc}]/u.test(text) ? ' ' : ''}${line}${/[\s\p{Cc}]$/u.test(text) ? ' ' : ''}`;
}
