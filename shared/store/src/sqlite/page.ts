/** Which part of a list is wanted. */
export interface Page {
  /** How many rows at most. */
  limit: number;
  /** Only rows with a number above this one, oldest first; without it the newest rows. */
  after?: number | undefined;
}

/** The most text that one part of a list has: what agents write is long if they like, and is held and sent as a whole. */
export const pageBytes = 4 * 1024 * 1024;

/**
 * SQL for those of some rows that come before `:bytes` are full, and the first in any case.
 *
 * @param rows a query
 * @param order the order in which a part of the list is filled
 * @param texts the columns with text of any length
 */
export function untilFull(rows: string, order: string, ...texts: string[]): string {
  // Not `length`: it ends at the first NUL, and whoever writes the text decides where that is.
  const length = texts.map((text) => `coalesce(octet_length(${text}), 0)`).join(' + ');
  return `SELECT * FROM (SELECT *, sum(${length}) OVER (ORDER BY ${order} ROWS UNBOUNDED PRECEDING) - (${length})
    AS bytes_before FROM (${rows})) WHERE bytes_before < :bytes`;
}

/** An ISO time, or null. */
export function iso(ms: number): string;
export function iso(ms: number | null): string | null;
export function iso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** A JSON column. */
export function parsed<Value>(json: string | null): Value | null {
  return json === null ? null : (JSON.parse(json) as Value);
}
