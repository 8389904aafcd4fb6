/** A page of a list, and the position where the next begins. */
export function listAnswer<Item extends { seq: number }>(items: Item[]): { items: Item[]; next?: number } {
  const last = items.at(-1);
  return last === undefined ? { items } : { items, next: last.seq };
}

/**
 * A page of a list, where the next begins after a name.
 *
 * @param rows up to one more than the page may have
 */
export function namedListAnswer<Item>(
  rows: readonly Item[],
  limit: number,
  nameOf: (item: Item) => string,
): { items: Item[]; next?: string } {
  const items = rows.slice(0, limit);
  const last = rows.length > limit ? items.at(-1) : undefined;
  return { items, ...(last === undefined ? {} : { next: nameOf(last) }) };
}
