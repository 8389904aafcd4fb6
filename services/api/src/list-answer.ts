/** Part of a list, and the place where it goes on. */
export function listAnswer<Item extends { seq: number }>(items: Item[]): { items: Item[]; next?: number } {
  const last = items.at(-1);
  return last === undefined ? { items } : { items, next: last.seq };
}
