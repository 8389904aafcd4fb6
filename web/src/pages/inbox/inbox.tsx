import { useMutation } from '@tanstack/react-query';
import { useMemo, useRef, useState } from 'react';
import { Link, useParams, useSearchParams } from 'wouter';
import { wordsOf } from '../../api.js';
import { Failure } from '../../parts/failure.js';
import { News } from '../../parts/growing.js';
import { useSettled } from '../../parts/use-growing.js';
import { useNarrow } from '../../parts/use-narrow.js';
import { markDone, useInbox, useInboxCounts, useLetters } from '../../use-inbox.js';
import { About, Notice } from './about.js';
import { Decided } from './decided.js';
import { InboxLetter } from './letter.js';
import { type LettersShown, Waiting } from './list.js';
import { KeysLine, useInboxKeys } from './keys-line.js';
import { NoticesLine } from './notices-line.js';
import { isOf, letterOf, rowsOf } from './rows.js';
import { useShown } from './use-shown.js';
import { useTitle } from '../../title.js';

/** What waits for the person, and what one item is about. */
export function Inbox() {
  const { item: written } = useParams<{ item?: string }>();
  const chosen = written === undefined ? undefined : decoded(written);
  const inbox = useInbox();
  const waiting = useInboxCounts().data?.waiting ?? 0;
  const list = useRef<HTMLElement>(null);
  // On a narrow screen the whole page scrolls.
  const scroller = useNarrow() ? undefined : list;
  const { items: waitingItems, moreWaiting = 0 } = inbox.data ?? {};
  const { letters, shown } = useLetterList(chosen);
  const items = useMemo(() => (waitingItems && shown ? [...waitingItems, ...shown] : undefined), [waitingItems, shown]);
  const { rows, ...arrivals } = useSettled({ items, total: (items?.length ?? 0) + moreWaiting }, { scroller, chosen });
  const { item, settled, order, onward } = useShown(rows, chosen, list);
  const letter = chosen === undefined || item ? undefined : letterOf(chosen);
  useInboxKeys({ order, item, chosen, list, next: settled?.next });
  useTitle('Inbox');
  return (
    <div className={chosen === undefined ? 'inbox' : 'inbox inbox-open'}>
      <header className="head">
        <h1>Inbox</h1>
        <span className="head-note">{waiting === 0 ? '' : `${waiting} wait${waiting === 1 ? 's' : ''} for you`}</span>
        <Link href="/projects" className="button head-act">
          All projects
        </Link>
      </header>
      <div className="inbox-panes">
        <section className="inbox-list" aria-label="Items" ref={list}>
          {inbox.error && inbox.data === undefined ? (
            <Failure error={inbox.error} again={() => void inbox.refetch()} />
          ) : null}
          <News of={arrivals} />
          {rows ? <Waiting rows={order} more={moreWaiting} chosen={chosen} letters={letters} /> : null}
          <Decided />
          <KeysLine />
          <NoticesLine />
        </section>
        <section className="inbox-item" aria-label="What it is about" tabIndex={-1}>
          {item ? (
            <About
              item={item}
              settled={settled}
              onward={onward}
              key={item.kind === 'message' ? item.message.threadId : item.id}
            />
          ) : letter && settled ? (
            <InboxLetter
              key={letter.message}
              {...letter}
              until={undefined}
              notice={null}
              none={<Notice settled={settled} onward={onward} />}
            />
          ) : settled ? (
            <Notice settled={settled} onward={onward} />
          ) : order.length > 0 && chosen === undefined ? (
            <p className="empty-line">Choose an item to see what it is about.</p>
          ) : null}
        </section>
      </div>
    </div>
  );
}

/** So many threads are listed at first, and more each time that older ones are asked for. */
const step = 50;

/** The letters that are listed, and what can be done with them. */
function useLetterList(chosen: string | undefined) {
  const [search, setSearch] = useSearchParams();
  const isAll = search.get('letters') === 'all';
  const read = useLetters(isAll);
  const [limit, setLimit] = useState(step);
  const all = useMemo(() => read.data?.pages.flatMap(({ items }) => items), [read.data]);
  const [newest] = all ?? [];
  const done = useMutation({ mutationFn: (until: string) => markDone(until) });
  const threads = useMemo(() => (all ? rowsOf(all) : undefined), [all]);
  const shown = useMemo(
    () => threads?.filter((row, at) => at < limit || isOf(row, chosen)).flatMap((row) => row.all),
    [threads, limit, chosen],
  );
  const isMore = (threads?.length ?? 0) > limit || read.hasNextPage;
  const problem = done.error ?? read.error;
  const letters: LettersShown = {
    isAll,
    turn: () => setSearch(isAll ? {} : { letters: 'all' }, { replace: true }),
    allDone: newest && all?.some((item) => !item.read) ? () => done.mutate(newest.at) : undefined,
    isMarking: done.isPending,
    problem: problem ? wordsOf(problem) : undefined,
    older: isMore
      ? () => {
          setLimit(limit + step);
          if ((threads?.length ?? 0) < limit + step && read.hasNextPage) void read.fetchNextPage();
        }
      : undefined,
    isReading: read.isFetchingNextPage,
  };
  return { letters, shown: shown ?? (read.error ? [] : undefined) };
}

/** A part of the address as it was meant; as it stands where it is written wrongly. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
