import stringWidth from 'string-width';
import type { Output } from '../cli-context.js';
import { paint, type Paint } from './colors.js';
import { cut, padded } from './format.js';

/** A cell's text, with a tone if it has one. */
export type Cell = string | readonly [text: string, tone: Tone];
export type Tone = 'good' | 'bad' | 'warning' | 'quiet';

const gap = '  ';

/** Rows under a heading, in aligned columns; the last column takes what room is left. */
export function table(
  headings: readonly string[],
  rows: readonly (readonly Cell[])[],
  out: Pick<Output, 'columns' | 'colors'>,
): string[] {
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => stringWidth(textOf(row[column])))),
  );
  const colors = paint(out);
  return [
    colors.dim(line(headings, widths, out.columns).join('')),
    ...rows.map((row) =>
      line(row.map(textOf), widths, out.columns)
        .map((text, column) => toned(row[column], text, colors))
        .join(''),
    ),
  ];
}

/** A row's cells in aligned columns, as far as they fit. */
function line(texts: readonly string[], widths: readonly number[], columns: number | undefined): string[] {
  let room = columns;
  const cells = texts.map((text, column) => {
    if (room !== undefined && room <= 0) return '';
    const whole = column === texts.length - 1 ? text : `${padded(text, widths[column] ?? 0)}${gap}`;
    const cell = cut(whole, room);
    if (room !== undefined) room -= stringWidth(cell);
    return cell;
  });
  while (cells.length > 0 && cells.at(-1)?.trim() === '') cells.pop();
  const last = cells.pop() ?? '';
  return [...cells, last.trimEnd()];
}

/** Only the text itself: a colour that reaches into the gap would show where a terminal underlines or inverts. */
function toned(cell: Cell | undefined, text: string, colors: Paint): string {
  if (cell === undefined || typeof cell === 'string') return text;
  const inked = text.trimEnd();
  const tones = { good: colors.green, bad: colors.red, warning: colors.yellow, quiet: colors.dim };
  return `${tones[cell[1]](inked)}${text.slice(inked.length)}`;
}

function textOf(cell: Cell | undefined): string {
  return cell === undefined ? '' : typeof cell === 'string' ? cell : cell[0];
}
