/** The first of each list, then the second of each, and so on, up to `most`: no list hides the others. */
export function fairly<Item>(lists: readonly (readonly Item[])[], most: number): Item[] {
  const items: Item[] = [];
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  for (let at = 0; at < longest && items.length < most; at += 1) {
    items.push(...lists.flatMap((list) => list.slice(at, at + 1)).slice(0, most - items.length));
  }
  return items;
}
