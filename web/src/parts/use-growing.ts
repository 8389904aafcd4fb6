import { type QueryKey, useQuery } from '@tanstack/react-query';
import { useState } from 'react';

/** Something that stands in a list: `seq` is its place, and grows when it moves to the list's end. */
interface Placed {
  id: string;
  seq: number;
}

/** A part of a list, the newest first. */
interface Part<Item> {
  items: Item[];
  previous?: number;
}

/** How many parts of older items are kept: whoever wants more narrows the list. */
const mostRows = 1_000;

/**
 * A list that grows at its beginning, where nothing moves what is read: what is new is counted until it is taken in. A
 * row is kept up to date where it stands, as long as it is among the newest. A list of something else is another one:
 * give the component that uses it a `key`.
 *
 * @param read the newest part, or the one before a place
 */
export function useGrowing<Item extends Placed>(
  queryKey: QueryKey,
  read: (place: { before?: number }) => Promise<Part<Item>>,
) {
  const newest = useQuery({ queryKey, queryFn: () => read({}) });
  const [taken, setTaken] = useState<Part<Item>>();
  const [older, setOlder] = useState<{ isRead: boolean; error?: unknown }>({ isRead: false });
  const fresh = newest.data;
  // Nothing is read yet that could move.
  const isFirst = fresh !== undefined && (taken === undefined || taken.items.length === 0) && fresh !== taken;
  if (isFirst && (taken === undefined || fresh.items.length > 0)) setTaken(fresh);
  const rows = taken?.items ?? fresh?.items ?? [];
  const places = new Map(rows.map(({ id, seq }) => [id, seq]));
  const last = rows[0]?.seq ?? 0;
  const byId = new Map(fresh?.items.map((item) => [item.id, item]));
  return {
    rows: rows.map((row) => byId.get(row.id) ?? row),
    isRead: fresh !== undefined,
    /** How many have come, or have moved, since the rows were taken. */
    news: (fresh?.items ?? []).filter(({ id, seq }) => seq > (places.get(id) ?? last)).length,
    takeIn: () => {
      if (fresh === undefined) return;
      const joins = fresh.items.some(({ id }) => places.has(id));
      const others = joins ? rows.filter(({ id }) => !byId.has(id)) : [];
      const previous = joins ? taken?.previous : fresh.previous;
      setTaken({ items: [...fresh.items, ...others], ...(previous === undefined ? {} : { previous }) });
    },
    hasOlder: taken?.previous !== undefined && rows.length < mostRows,
    isFull: taken?.previous !== undefined && rows.length >= mostRows,
    isReadingOlder: older.isRead,
    readOlder: async () => {
      const before = taken?.previous;
      if (before === undefined) return;
      setOlder({ isRead: true });
      try {
        const part = await read({ before });
        const items = [...rows, ...part.items.filter(({ id }) => !places.has(id))];
        setTaken({ items, ...(part.previous === undefined ? {} : { previous: part.previous }) });
        setOlder({ isRead: false });
      } catch (error) {
        setOlder({ isRead: false, error });
      }
    },
    error: newest.error ?? older.error,
    again: () => {
      setOlder({ isRead: false });
      newest.refetch().catch(() => undefined);
    },
  };
}
