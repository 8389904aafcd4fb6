import { useVirtualizer, useWindowVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import { memo, type ReactNode, type RefObject, useCallback, useLayoutEffect, useRef, useState } from 'react';

interface RowsProps<Row> {
  rows: readonly Row[];
  render: (row: Row) => ReactNode;
  /** What a row is likely to be high, in pixels, before it was drawn. */
  heightPx: number;
  /** What scrolls. @default the whole page */
  scroller?: RefObject<HTMLElement | null> | undefined;
  className?: string;
}

/** A long list, of which the page holds only those rows that are seen, and some around them. */
export function Rows<Row extends { id: string | number }>(props: RowsProps<Row>) {
  return props.scroller === undefined ? <InPage {...props} /> : <InElement {...props} scroller={props.scroller} />;
}

const around = 8;

function InPage<Row extends { id: string | number }>(props: RowsProps<Row>) {
  const { list, top, measure } = useTop(undefined);
  const virtual = useWindowVirtualizer<HTMLLIElement>({ ...optionsOf(props), scrollMargin: top });
  useLayoutEffect(measure, [measure, props, virtual.isScrolling]);
  return <List {...props} list={list} virtual={virtual} />;
}

type InElementProps<Row> = RowsProps<Row> & { scroller: RefObject<HTMLElement | null> };

function InElement<Row extends { id: string | number }>(props: InElementProps<Row>) {
  const { list, top, measure } = useTop(props.scroller);
  const virtual = useVirtualizer<HTMLElement, HTMLLIElement>({
    ...optionsOf(props),
    getScrollElement: () => props.scroller.current,
    scrollMargin: top,
  });
  useLayoutEffect(measure, [measure, props, virtual.isScrolling]);
  return <List {...props} list={list} virtual={virtual} />;
}

function optionsOf<Row extends { id: string | number }>({ rows, heightPx }: RowsProps<Row>) {
  return {
    count: rows.length,
    estimateSize: () => heightPx,
    getItemKey: (index: number) => rows[index]?.id ?? index,
    overscan: around,
    // Rows are drawn in a task of their own: those around bridge the frame, which stays short.
    useFlushSync: false,
  };
}

/**
 * A list, and how far its top is from that of what scrolls. What stands above may come and go with each drawing of the
 * page; while it scrolls, measuring would lay it out a second time for each step.
 */
function useTop(scroller: RefObject<HTMLElement | null> | undefined) {
  const list = useRef<HTMLOListElement>(null);
  const [top, setTop] = useState(0);
  const measure = useCallback(() => {
    const own = list.current?.getBoundingClientRect().top ?? 0;
    const outer = scroller?.current;
    setTop(outer ? own - outer.getBoundingClientRect().top + outer.scrollTop : own + window.scrollY);
  }, [scroller]);
  return { list, top, measure };
}

interface ListProps<Row> extends RowsProps<Row> {
  list: RefObject<HTMLOListElement | null>;
  virtual: Virtualizer<HTMLElement, HTMLLIElement> | Virtualizer<Window, HTMLLIElement>;
}

function List<Row>({ rows, render, className, list, virtual }: ListProps<Row>) {
  return (
    <ol ref={list} className={className ? `rows ${className}` : 'rows'} style={{ height: virtual.getTotalSize() }}>
      {virtual.getVirtualItems().map(({ index, key, start }) => {
        const row = rows[index];
        return row === undefined ? null : (
          <li
            key={key}
            ref={virtual.measureElement}
            data-index={index}
            aria-setsize={rows.length}
            aria-posinset={index + 1}
            style={{ transform: `translateY(${start - virtual.options.scrollMargin}px)` }}
          >
            <Drawn row={row} render={render as (row: unknown) => ReactNode} />
          </li>
        );
      })}
    </ol>
  );
}

/** A row that stays in view while the list is scrolled is not drawn again. */
const Drawn = memo(function Drawn({ row, render }: { row: unknown; render: (row: unknown) => ReactNode }) {
  return render(row);
});
