import { Link, useParams } from 'wouter';
import { useRef } from 'react';
import { Failure } from '../../parts/failure.js';
import { News } from '../../parts/growing.js';
import { useSettled } from '../../parts/use-growing.js';
import { useNarrow } from '../../parts/use-narrow.js';
import { useInbox, useInboxCounts } from '../../use-inbox.js';
import { About, Notice } from './about.js';
import { Decided } from './decided.js';
import { Waiting } from './list.js';
import { KeysLine, useInboxKeys } from './keys-line.js';
import { NoticesLine } from './notices-line.js';
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
  const { items, moreWaiting = 0 } = inbox.data ?? {};
  const { rows, ...arrivals } = useSettled({ items, total: (items?.length ?? 0) + moreWaiting }, { scroller, chosen });
  const { item, settled, order, onward } = useShown(rows, chosen, list);
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
          {inbox.data && rows ? <Waiting items={rows} more={inbox.data.moreWaiting} chosen={chosen} /> : null}
          <Decided />
          <KeysLine />
          <NoticesLine />
        </section>
        <section className="inbox-item" aria-label="What it is about" tabIndex={-1}>
          {item ? (
            <About item={item} settled={settled} onward={onward} key={item.id} />
          ) : settled ? (
            <Notice settled={settled} onward={onward} />
          ) : inbox.data && inbox.data.items.length > 0 && chosen === undefined ? (
            <p className="empty-line">Choose an item to see what it is about.</p>
          ) : null}
        </section>
      </div>
    </div>
  );
}

/** A part of the address as it was meant; as it stands where it is written wrongly. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
