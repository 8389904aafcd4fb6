import type { InboxItem } from '@suzumio/sdk/client';
import { useMayMake } from '../../acts/use-may-make.js';
import { Link } from 'wouter';
import { Mark } from '../../parts/mark.js';
import { count } from '../../parts/numbers.js';
import { Ago } from '../../parts/time.js';
import { itemPath } from '../../parts/places.js';
import { useProjects } from '../../use-projects.js';
import { NoProjects } from '../projects.js';
import { visible } from '../../parts/visible.js';
import { marks, wordsFor } from './words.js';

/** The groups of the inbox, by what hangs on each. */
const groups: readonly [title: string, kinds: readonly InboxItem['kind'][]][] = [
  ['Somebody is held up', ['failure']],
  ['Ready for you', ['report']],
  ['Before it stops', ['model', 'budget', 'pause']],
  ['Written to you', ['message']],
];

/** The items in the order in which they stand on the page. */
export function inOrder(items: readonly InboxItem[]): InboxItem[] {
  return groups.flatMap(([, kinds]) => items.filter(({ kind }) => kinds.includes(kind)));
}

/** What waits, by what hangs on it. */
export function Waiting({
  items,
  more,
  chosen,
}: {
  items: readonly InboxItem[];
  /** How many wait beyond these. */
  more: number;
  chosen: string | undefined;
}) {
  if (items.length === 0) return <Nothing />;
  return (
    <>
      {groups.map(([title, kinds]) => {
        const inGroup = items.filter(({ kind }) => kinds.includes(kind));
        if (inGroup.length === 0) return null;
        return (
          <section key={title} aria-label={title}>
            <h2 className="inbox-group">{title}</h2>
            <ol>
              {inGroup.map((one) => (
                <li key={one.id}>
                  <Row item={one} isChosen={one.id === chosen} />
                </li>
              ))}
            </ol>
          </section>
        );
      })}
      {more > 0 ? <p className="inbox-more">and {count(more)} more: settle some of these first</p> : null}
    </>
  );
}

function Nothing() {
  const hasProjects = useProjects().data?.length !== 0;
  const mayMake = useMayMake();
  if (!hasProjects) return <NoProjects />;
  return (
    <div className="empty">
      <h2>Nothing waits for you</h2>
      <p>Reports, failures, pauses and mail to you will stand here.</p>
      <p className="empty-acts">
        <Link href="/projects" className="button">
          All projects
        </Link>{' '}
        {mayMake ? (
          <Link href="/new" className="button">
            New project
          </Link>
        ) : null}
      </p>
    </div>
  );
}

function Row({ item, isChosen }: { item: InboxItem; isChosen: boolean }) {
  const { title, text } = wordsFor(item);
  return (
    <Link
      href={itemPath(item.id)}
      className={`inbox-row ${item.read ? 'inbox-read' : ''}`}
      data-item={item.id}
      aria-current={isChosen ? 'true' : undefined}
    >
      <Mark kind={marks[item.kind]} />
      <span className="inbox-words">
        <b className="clip">
          <bdi>{visible(title)}</bdi>
        </b>
        <span className="inbox-text">
          <b>
            <bdi>{item.project ?? 'All projects'}</bdi>
          </b>{' '}
          <bdi>{visible(text)}</bdi>
        </span>
      </span>
      <span className="inbox-age">{'at' in item ? <Ago at={item.at} /> : null}</span>
    </Link>
  );
}
