/** Part of a list, and the place where it goes on. */
export function listAnswer<Item extends { seq: number }>(items: Item[]): { items: Item[]; next?: number } {
  const last = items.at(-1);
  return last === undefined ? { items } : { items, next: last.seq };
}

/**
 * Part of a list that goes on after a name.
 *
 * @param rows one more than the part may have, where there are as many
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
