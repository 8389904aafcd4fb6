import stringWidth from 'string-width';
import type { Output } from '../cli-context.js';
import { paint, type Paint } from './colors.js';
import { cut, padded } from './format.js';

export type Cell = Toned | Marked;
/** A text, with a tone if it has one. */
export type Toned = string | readonly [text: string, tone: Tone];
/** A text with parts that stand out where there are colours. */
export interface Marked {
  readonly text: string;
  /** Where each part begins and ends, in order. */
  readonly marks: readonly (readonly [from: number, to: number])[];
}
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
  if ('marks' in cell) return marked(cell, text, colors);
  const inked = text.trimEnd();
  const tones = { good: colors.green, bad: colors.red, warning: colors.yellow, quiet: colors.dim };
  return `${tones[cell[1]](inked)}${text.slice(inked.length)}`;
}

/** As much of the text as is shown, with what is left of its parts in colour. */
function marked({ marks }: Marked, text: string, { bold, yellow }: Paint): string {
  const left = marks.filter(([from]) => from < text.length);
  return left.reduceRight(
    (shown, [from, to]) => `${shown.slice(0, from)}${bold(yellow(shown.slice(from, to)))}${shown.slice(to)}`,
    text,
  );
}

function textOf(cell: Cell | undefined): string {
  if (cell === undefined || typeof cell === 'string') return cell ?? '';
  return 'marks' in cell ? cell.text : cell[0];
}
