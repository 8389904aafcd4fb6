/** All items of a list, page by page. */
export async function allItems<Item, Place>(
  part: (after: Place | undefined) => Promise<{ items: Item[]; next?: Place }>,
  from?: Place,
): Promise<Item[]> {
  const items: Item[] = [];
  for (let after = from; ;) {
    const { items: more, next } = await part(after);
    items.push(...more);
    if (next === undefined) return items;
    after = next;
  }
}
