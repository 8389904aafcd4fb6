/** Which page of a list is wanted. */
export interface Page {
  /** How many rows at most. */
  limit: number;
  /** Only rows numbered above this one, oldest first; without it, the newest rows. */
  after?: number | undefined;
}

/** The most text that one page of a list has: agents may write long texts, and a page is held and sent as a whole. */
export const pageBytes = 4 * 1024 * 1024;

/**
 * SQL for the rows up to `:bytes` in all, and at least the first.
 *
 * @param rows a query
 * @param order the order in which a page is filled
 * @param texts the columns with text of any length
 */
export function untilFull(rows: string, order: string, ...texts: string[]): string {
  // Not `length`, which ends at the first NUL: an author could hide text behind one.
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
