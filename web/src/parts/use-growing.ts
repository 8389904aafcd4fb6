import { type QueryKey, useQuery } from '@tanstack/react-query';
import { type RefObject, useLayoutEffect, useMemo, useState } from 'react';

/** Something that stands in a list: `seq` is its place, and grows when it moves to the list's end. */
interface Placed {
  id: string;
  seq: number;
}

/** Before which something stands in a list: a number is that of {@link Placed}, a text is the server's own. */
type Before = number | string;

/** A part of a list, the newest first. */
interface Part<Item, Place extends Before> {
  items: Item[];
  previous?: Place;
  /** What would have more of it, and cannot be read. */
  unreadable?: readonly string[];
}

/** How many rows are kept: whoever wants more narrows the list. */
const mostRows = 1_000;

/** What scrolls; the whole page where it is undefined. */
export type Scroller = RefObject<HTMLElement | null> | undefined;

/** What has come to a list, and is not among its rows yet. */
export interface Arrivals {
  news: number;
  /** Whether more has come than is counted. */
  isMore: boolean;
  /** Shows it, at the top of the list. */
  show: () => void;
}

/** What comes is taken in at once by a list whose top is in view; where somebody reads below it, when they ask for it. */
function useArrivals({ news, isMore }: Omit<Arrivals, 'show'>, takeIn: () => void, scroller: Scroller): Arrivals {
  useLayoutEffect(() => {
    if (news > 0 && (scroller?.current?.scrollTop ?? window.scrollY) <= 0) takeIn();
  });
  return {
    news,
    isMore,
    show: () => {
      (scroller?.current ?? window).scrollTo({ top: 0 });
      // Rows that are measured above what is in view would be scrolled past: the list has to know first where it is.
      requestAnimationFrame(takeIn);
    },
  };
}

/**
 * A list of a fixed order, to which things come anywhere: one that has come since is left out until it is taken in.
 *
 * @param total how many there are, of which the items may be a part
 */
export function useSettled<Item extends { id: string }>(
  { items, total }: { items: readonly Item[] | undefined; total: number },
  { scroller, chosen }: { scroller: Scroller; chosen: string | undefined },
) {
  const [known, setKnown] = useState<{ ids: ReadonlySet<string>; total: number }>();
  const takeIn = () => setKnown({ ids: new Set(items?.map(({ id }) => id)), total });
  if (known === undefined && items !== undefined) takeIn();
  const rows = useMemo(
    () => items?.filter(({ id }) => known === undefined || known.ids.has(id) || id === chosen),
    [items, known, chosen],
  );
  const news = (items?.length ?? 0) - (rows?.length ?? 0);
  const isMore = known !== undefined && total - known.total > news;
  return { rows, ...useArrivals({ news, isMore }, takeIn, scroller) };
}

/**
 * A list that grows at its beginning, where nothing moves what is read: what is new is counted until it is taken in. A
 * row is kept up to date where it stands, and leaves when it is not of the list any more, as long as it is among the
 * newest. A list of something else is another one: give the component that uses it a `key`.
 *
 * @param read the newest part, or the one before a place
 */
export function useGrowing<Item extends Placed, Place extends Before = number>(
  queryKey: QueryKey,
  read: (place: { before?: Place }) => Promise<Part<Item, Place>>,
  { scroller, most = mostRows }: { scroller?: Scroller; most?: number } = {},
) {
  const newest = useQuery({ queryKey, queryFn: () => read({}) });
  const [taken, setTaken] = useState<Part<Item, Place>>();
  const [older, setOlder] = useState<{ isRead: boolean; error?: unknown }>({ isRead: false });
  const fresh = newest.data;
  const rows = taken?.items ?? fresh?.items ?? [];
  const places = new Map(rows.map(({ id, seq }) => [id, seq]));
  const byId = new Map(fresh?.items.map((item) => [item.id, item]));
  const isThere = ({ id, seq }: Item) => byId.has(id) || isOlder(seq, fresh);
  const kept = rows.filter(isThere);
  const last = kept[0]?.seq ?? 0;
  // Nothing is read yet that could move, or nothing of it is left, as where a backup was restored.
  const isAnew = taken === undefined || (kept.length === 0 && fresh !== taken && fresh?.items.length !== 0);
  if (fresh !== undefined && isAnew) setTaken(fresh);
  // Those that have come, or have moved, since the rows were taken.
  const news = (fresh?.items ?? []).filter(({ id, seq }) => seq > (places.get(id) ?? last - 1)).length;
  // All of the newest part has come, and what is before it was not looked at.
  const isMore = news === fresh?.items.length && fresh.previous !== undefined;
  const takeIn = () => {
    if (fresh === undefined) return;
    const joins = fresh.items.some(({ id }) => places.has(id));
    const all = [...fresh.items, ...(joins ? kept.filter(({ id }) => !byId.has(id)) : [])];
    const items = all.slice(0, most);
    const previous = joins ? (all.length > most ? cutAfter(items, fresh) : taken?.previous) : fresh.previous;
    setTaken({ items, ...(previous === undefined ? {} : { previous }) });
  };
  return {
    rows: kept.map((row) => byId.get(row.id) ?? row),
    isRead: fresh !== undefined,
    unreadable: fresh?.unreadable ?? [],
    ...useArrivals({ news, isMore }, takeIn, scroller),
    /** The place before which what is older is. */
    previous: taken?.previous,
    hasOlder: taken?.previous !== undefined && rows.length < most,
    isFull: taken?.previous !== undefined && rows.length >= most,
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

/** Whether what is at a place is older than all of a part. */
function isOlder(seq: number, part: Part<Placed, Before> | undefined): boolean {
  if (part?.previous === undefined) return false;
  return typeof part.previous === 'number' ? seq < part.previous : seq <= (part.items.at(-1)?.seq ?? Infinity);
}

/** Before which the rest is of rows that are kept; where the server has places of its own, that there is a rest. */
function cutAfter<Place extends Before>(rows: readonly Placed[], { previous }: Part<Placed, Place>): Place | undefined {
  return typeof previous === 'string' ? previous : (rows.at(-1)?.seq as Place | undefined);
}
