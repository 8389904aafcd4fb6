import { useEffect, useMemo } from 'react';
import { useDraft } from '../../acts/draft.js';
import { useMayMake } from '../../acts/use-may-make.js';
import { Link } from 'wouter';
import { Mark } from '../../parts/mark.js';
import { count } from '../../parts/numbers.js';
import { Ago } from '../../parts/time.js';
import { itemPath } from '../../parts/places.js';
import { useProjects } from '../../use-projects.js';
import { NoProjects } from '../projects.js';
import { visible } from '../../parts/visible.js';
import { groups, type InboxRow, isOf, letterOf, written } from './rows.js';
import { marks, wordsFor } from './words.js';

/** What waits, by what hangs on it, and what was written to the person. */
export function Waiting({
  rows,
  more,
  chosen,
  letters,
}: {
  rows: readonly InboxRow[];
  /** How many wait beyond these. */
  more: number;
  chosen: string | undefined;
  letters: LettersShown;
}) {
  const opened = useOpened(chosen);
  const threads = rows.filter(({ item }) => item.kind === 'message');
  const row = (one: InboxRow) => (
    <li key={one.item.kind === 'message' ? one.item.message.threadId : one.item.id}>
      <Row row={one} isChosen={isOf(one, chosen)} isOpened={opened.has(one.item.id)} />
    </li>
  );
  return (
    <>
      {rows.length === 0 && !letters.isAll ? <Nothing /> : null}
      {groups.map(([title, kinds]) => {
        const inGroup = rows.filter(({ item }) => kinds.includes(item.kind));
        if (inGroup.length === 0) return null;
        return (
          <section key={title} aria-label={title}>
            <h2 className="inbox-group">{title}</h2>
            <ol>{inGroup.map(row)}</ol>
          </section>
        );
      })}
      {more > 0 ? <p className="inbox-more">and {count(more)} more: settle some of these first</p> : null}
      <section aria-label={written}>
        <div className="inbox-group-head">
          <h2 className="inbox-group">{written}</h2>
          {letters.allDone === undefined ? null : (
            <button
              type="button"
              className="button"
              disabled={letters.isMarking}
              title="Marks every letter that is listed, and all older ones, as done. They stay in the mail of their projects."
              onClick={letters.allDone}
            >
              {letters.isMarking ? 'Marking …' : 'All done'}
            </button>
          )}
          <button type="button" className="button" aria-pressed={letters.isAll} onClick={letters.turn}>
            {letters.isAll ? 'Hide done' : 'Show done'}
          </button>
        </div>
        {letters.problem === undefined ? null : (
          <p className="inbox-more" role="alert">
            {letters.problem}
          </p>
        )}
        <ol>{threads.map(row)}</ol>
        {letters.older === undefined ? null : (
          <p className="inbox-more">
            <button type="button" className="button" disabled={letters.isReading} onClick={letters.older}>
              Older letters
            </button>
          </p>
        )}
      </section>
    </>
  );
}

/** The letters of the list, and their actions. */
export interface LettersShown {
  isAll: boolean;
  turn: () => void;
  allDone: (() => void) | undefined;
  isMarking: boolean;
  problem: string | undefined;
  older: (() => void) | undefined;
  isReading: boolean;
}

/** So many letters are remembered as opened, in this browser. */
const maxOpened = 500;
const none: { ids: readonly string[] } = { ids: [] };

/** The letters that were opened in this browser. */
function useOpened(chosen: string | undefined): ReadonlySet<string> {
  const [{ ids }, change] = useDraft('opened letters', none);
  useEffect(() => {
    if (chosen === undefined || letterOf(chosen) === undefined) return;
    change((before) => (before.ids.includes(chosen) ? before : { ids: [chosen, ...before.ids].slice(0, maxOpened) }));
  }, [chosen, change]);
  return useMemo(() => new Set(ids), [ids]);
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

function Row({ row: { item, all }, isChosen, isOpened }: { row: InboxRow; isChosen: boolean; isOpened: boolean }) {
  const { title, text } = wordsFor(item);
  const isLetter = item.kind === 'message';
  const isNew = isLetter && !item.read && !isOpened;
  const state = item.read ? 'inbox-read' : isOpened ? 'inbox-opened' : isNew ? 'inbox-new' : '';
  return (
    <Link
      href={itemPath(item.id)}
      className={`inbox-row ${state}`}
      data-item={item.id}
      aria-current={isChosen ? 'true' : undefined}
    >
      <Mark kind={isNew ? 'running' : marks[item.kind]} {...(isNew ? { title: 'new' } : {})} />
      <span className="inbox-words">
        <b className="clip">
          <bdi>{visible(title)}</bdi>
          {all.length > 1 ? (
            <span className="inbox-count">
              {count(all.length)}
              <span className="visually-hidden"> letters</span>
            </span>
          ) : null}
        </b>
        <span className="inbox-text">
          <b>
            <bdi translate="no">{item.project ?? 'All projects'}</bdi>
          </b>{' '}
          <bdi>{visible(text)}</bdi>
        </span>
      </span>
      <span className="inbox-age">{'at' in item ? <Ago at={item.at} /> : null}</span>
    </Link>
  );
}
