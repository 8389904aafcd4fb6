import type { ReactNode, RefObject } from 'react';
import { Failure } from './failure.js';
import { Rows } from './rows.js';
import type { useGrowing } from './use-growing.js';

interface GrowingProps<Item> {
  list: Omit<ReturnType<typeof useGrowing>, 'rows'> & { rows: readonly Item[] };
  none: ReactNode;
  /** What a row is likely to be high, in pixels. */
  heightPx: number;
  /** What scrolls. @default the whole page */
  scroller?: RefObject<HTMLElement | null> | undefined;
  render: (item: Item) => ReactNode;
}

/** Rows of a list that grows, with what is new above them and the way to what is older below. */
export function Growing<Item extends { id: string }>({ list, none, heightPx, scroller, render }: GrowingProps<Item>) {
  return (
    <>
      <div aria-live="polite">
        {list.news > 0 ? (
          <button type="button" className="news" onClick={list.takeIn}>
            {list.news} new
          </button>
        ) : null}
      </div>
      {list.error ? <Failure error={list.error} again={list.again} /> : null}
      {list.isRead && list.rows.length === 0 ? (
        list.hasOlder ? (
          <p className="empty-line">Nothing among the newest.</p>
        ) : (
          none
        )
      ) : null}
      <Rows rows={list.rows} render={render} heightPx={heightPx} scroller={scroller} />
      {list.hasOlder ? (
        <button
          type="button"
          className="button growing-more"
          disabled={list.isReadingOlder}
          onClick={() => void list.readOlder()}
        >
          Older
        </button>
      ) : null}
      {list.isFull ? <p className="empty-line">There is more: narrow it by a filter or a search.</p> : null}
    </>
  );
}
