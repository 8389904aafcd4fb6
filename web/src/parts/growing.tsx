import type { ReactNode } from 'react';
import { Failure } from './failure.js';
import { Rows } from './rows.js';
import type { Arrivals, Scroller, useGrowing } from './use-growing.js';

interface GrowingProps<Item> {
  list: Omit<ReturnType<typeof useGrowing>, 'rows'> & { rows: readonly Item[] };
  none: ReactNode;
  /** What a row is likely to be high, in pixels. */
  heightPx: number;
  /** What scrolls. @default the whole page */
  scroller?: Scroller;
  className?: string;
  render: (item: Item) => ReactNode;
}

/** How much has come, above a list that somebody reads; it takes no room of its own. */
export function News({ of: { news, isMore, show } }: { of: Arrivals }) {
  return (
    <div className="news" aria-live="polite">
      {news > 0 ? (
        <button type="button" onClick={show}>
          {news}
          {isMore ? '+' : ''} new
        </button>
      ) : null}
    </div>
  );
}

/** Rows of a list that grows, with what is new above them and the way to what is older below. */
export function Growing<Item extends { id: string }>({ list, none, render, ...look }: GrowingProps<Item>) {
  return (
    <>
      <News of={list} />
      {list.error ? <Failure error={list.error} again={list.again} /> : null}
      {list.isRead && list.rows.length === 0 ? (
        list.hasOlder ? (
          <p className="empty-line">Nothing among the newest.</p>
        ) : (
          none
        )
      ) : null}
      <Rows rows={list.rows} render={render} {...look} />
      <Older of={list} />
    </>
  );
}

/** The way to what is older, or that no more is listed. */
export function Older({
  of,
}: {
  of: Pick<ReturnType<typeof useGrowing>, 'hasOlder' | 'isFull' | 'isReadingOlder' | 'readOlder'>;
}) {
  if (of.isFull) return <p className="empty-line">There is more: narrow it by a filter or a search.</p>;
  if (!of.hasOlder) return null;
  return (
    <button
      type="button"
      className="button growing-more"
      disabled={of.isReadingOlder}
      onClick={() => void of.readOlder()}
    >
      Older
    </button>
  );
}
