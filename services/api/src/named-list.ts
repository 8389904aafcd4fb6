/**
 * Part of a list that goes on after a name.
 *
 * @param rows one more than the part may have, where there are as many
 */
export function partOf<Item>(
  rows: readonly Item[],
  limit: number,
  nameOf: (item: Item) => string,
): { items: Item[]; next?: string } {
  const items = rows.slice(0, limit);
  const last = rows.length > limit ? items.at(-1) : undefined;
  return { items, ...(last === undefined ? {} : { next: nameOf(last) }) };
}
