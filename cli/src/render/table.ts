import type { Output } from '../cli-context.js';
import { paint } from './colors.js';
import { cut } from './format.js';

/** Rows under a heading, in aligned columns; the last column takes what room is left. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[], out: Output): string[] {
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  const line = (cells: readonly string[]) =>
    cut(
      cells.map((cell, column) => (column === cells.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join('  '),
      out.columns,
    ).trimEnd();
  return [paint(out).dim(line(headings)), ...rows.map(line)];
}
