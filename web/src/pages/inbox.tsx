import type { Decision, InboxItem } from '@suzumio/sdk/client';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Link, useParams } from 'wouter';
import { api, keys } from '../api.js';
import { useMayMake } from '../acts/use-may-make.js';
import { Copyable } from '../parts/copy.js';
import { Failure } from '../parts/failure.js';
import { Mark, type MarkKind } from '../parts/mark.js';
import { Markdown, visible } from '../parts/markdown.js';
import { count, dollars, some } from '../parts/numbers.js';
import { Ago, Moment } from '../parts/time.js';
import { useDecided, useInbox, useInboxCounts } from '../use-inbox.js';
import { agentPath, turnPath } from '../parts/places.js';

const marks: Readonly<Record<InboxItem['kind'], MarkKind>> = {
  report: 'report',
  failure: 'failed',
  pause: 'paused',
  budget: 'budget',
  message: 'message',
};

/** The groups of the inbox, by what hangs on each. */
const groups: readonly [title: string, kinds: readonly InboxItem['kind'][]][] = [
  ['Somebody is held up', ['failure']],
  ['Ready for you', ['report']],
  ['Before it stops', ['budget', 'pause']],
  ['Written to you', ['message']],
];

/** What waits for the person, and what one item is about. */
export function Inbox() {
  const { item: written } = useParams<{ item?: string }>();
  const chosen = written === undefined ? undefined : decoded(written);
  const inbox = useInbox();
  const items = inbox.data?.items ?? [];
  const waiting = useInboxCounts().data?.waiting ?? 0;
  const item = items.find(({ id }) => id === chosen);
  useEffect(() => {
    document.title = waiting > 0 ? `(${waiting}) Inbox · Suzumio` : 'Inbox · Suzumio';
  }, [waiting]);
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
        <section className="inbox-list" aria-label="Items">
          {inbox.error && inbox.data === undefined ? (
            <Failure error={inbox.error} again={() => void inbox.refetch()} />
          ) : null}
          {inbox.data && items.length === 0 ? <Nothing /> : null}
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
          {inbox.data && inbox.data.moreWaiting > 0 ? (
            <p className="inbox-more">and {count(inbox.data.moreWaiting)} more: settle some of these first</p>
          ) : null}
          <Decided />
        </section>
        <section className="inbox-item" aria-label="What it is about">
          {item ? (
            <About item={item} key={item.id} />
          ) : (
            <Unchosen isKnown={chosen === undefined} isRead={inbox.data !== undefined} />
          )}
        </section>
      </div>
    </div>
  );
}

const decidedMarks: Readonly<Record<Decision['kind'], MarkKind>> = {
  approved: 'done',
  'changes-requested': 'report',
  retried: 'queued',
  reset: 'stopped',
  'budget-changed': 'budget',
  resumed: 'running',
};

/** What was settled: who decided what, and when. */
function Decided() {
  const decided = useDecided();
  const items = decided.data?.pages.flatMap((page) => page.items) ?? [];
  if (decided.error && decided.data === undefined) {
    return <Failure error={decided.error} again={() => void decided.refetch()} />;
  }
  if (items.length === 0 && !decided.hasNextPage) return null;
  return (
    <section aria-label="Decided">
      <h2 className="inbox-group">Decided</h2>
      <ol>
        {items.map((item) => (
          <li key={item.id}>
            <Link href={placeOf(item)} className="inbox-row inbox-decided">
              <Mark kind={decidedMarks[item.kind]} />
              <span className="inbox-words">
                <span className="clip">
                  <bdi>{decisionIn(item)}</bdi>
                </span>
                <span className="inbox-text">
                  <bdi>{item.project}</bdi>, by <bdi>{item.by}</bdi>
                </span>
              </span>
              <span className="inbox-age">
                <Ago at={item.at} />
              </span>
            </Link>
          </li>
        ))}
      </ol>
      {decided.hasNextPage ? (
        <p className="inbox-more">
          {items.length === 0 ? 'Nothing was decided lately. ' : ''}
          <button
            type="button"
            className="button"
            disabled={decided.isFetchingNextPage}
            onClick={() => void decided.fetchNextPage()}
          >
            Earlier
          </button>
        </p>
      ) : null}
    </section>
  );
}

/** Where what was decided is seen. */
function placeOf(item: Decision): string {
  switch (item.kind) {
    case 'approved':
    case 'changes-requested':
      return `/p/${item.project}/report${item.version === null ? '' : `?v=${item.version}`}`;
    case 'retried':
      return item.turnNumber === null
        ? agentPath(item.project, item.agent)
        : turnPath(item.project, item.agent, item.turnNumber);
    case 'reset':
      return agentPath(item.project, item.agent);
    case 'budget-changed':
      return `/p/${item.project}/cost`;
    case 'resumed':
      return item.agent === null ? `/p/${item.project}` : agentPath(item.project, item.agent);
  }
}

/** A decision in a few words. */
function decisionIn(item: Decision): string {
  switch (item.kind) {
    case 'approved':
      return item.version === null ? 'The report was approved' : `The report was approved, version ${item.version}`;
    case 'changes-requested':
      return `${item.recipient ?? 'An agent'} was asked for changes${item.version === null ? '' : `, version ${item.version}`}`;
    case 'retried':
      return item.turnNumber === null
        ? `${item.agent} was retried`
        : `Turn ${item.turnNumber} of ${item.agent} was retried`;
    case 'reset':
      return item.redelivered === 0
        ? `${item.agent} was reset`
        : `${item.agent} was reset, ${some(item.redelivered, 'message')} unread again`;
    case 'budget-changed':
      return `The budget${item.agent === null ? '' : ` of ${item.agent}`} is now ${limitsIn(item.limits)}`;
    case 'resumed':
      return `${item.agent ?? 'The project'} was resumed`;
  }
}

function limitsIn({ usd, tokens, turns }: Extract<Decision, { kind: 'budget-changed' }>['limits']): string {
  return [
    usd === undefined ? [] : [typeof usd === 'number' ? dollars(usd) : 'unlimited dollars'],
    tokens === undefined ? [] : [typeof tokens === 'number' ? some(tokens, 'token') : 'unlimited tokens'],
    turns === undefined ? [] : [typeof turns === 'number' ? some(turns, 'turn') : 'unlimited turns'],
  ]
    .flat()
    .join(', ');
}

/** A part of the address as it was meant; as it stands where it is written wrongly. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function Nothing() {
  return (
    <div className="empty">
      <h2>Nothing waits for you</h2>
      <p>Reports, failures, pauses and mail to you will stand here.</p>
      <p className="empty-acts">
        <Link href="/projects" className="button">
          All projects
        </Link>{' '}
        {useMayMake() ? (
          <Link href="/new" className="button">
            New project
          </Link>
        ) : null}
      </p>
    </div>
  );
}

function Unchosen({ isKnown, isRead }: { isKnown: boolean; isRead: boolean }) {
  if (!isRead) return null;
  return <p className="empty-line">{isKnown ? 'Choose an item to see what it is about.' : 'This is settled.'}</p>;
}

function Row({ item, isChosen }: { item: InboxItem; isChosen: boolean }) {
  const { title, text } = wordsFor(item);
  return (
    <Link
      href={`/inbox/${encodeURIComponent(item.id)}`}
      className={`inbox-row ${item.read ? 'inbox-read' : ''}`}
      aria-current={isChosen ? 'true' : undefined}
    >
      <Mark kind={marks[item.kind]} />
      <span className="inbox-words">
        <b className="clip">
          <bdi>{title}</bdi>
        </b>
        <span className="inbox-text">
          <b>
            <bdi>{item.project ?? 'All projects'}</bdi>
          </b>{' '}
          <bdi>{text}</bdi>
        </span>
      </span>
      <span className="inbox-age">{'at' in item ? <Ago at={item.at} /> : null}</span>
    </Link>
  );
}

const limits = { tokens: 'tokens', usd: 'of money', turns: 'turns' } as const;

/** An item in a sentence. */
function wordsFor(item: InboxItem): { title: string; text: string } {
  switch (item.kind) {
    case 'report':
      return {
        title: `The report is submitted, version ${item.version}`,
        text: 'Read it, then approve it or ask for changes.',
      };
    case 'failure':
      return { title: `${item.agent} failed in turn ${item.turnNumber}: ${item.code}`, text: item.message };
    case 'pause': {
      const who = item.agent ?? (item.project === null ? 'Every project' : 'The project');
      return { title: `${who} is paused`, text: item.pause.reason ?? `By ${item.pause.by}.` };
    }
    case 'budget': {
      const shown = (value: number) =>
        item.limit === 'usd' ? dollars(value) : `${count(value)} ${limits[item.limit]}`;
      const whose = item.agent === null ? '' : ` of ${item.agent}`;
      return { title: `${shown(item.used)} of ${shown(item.max)} is used${whose}`, text: 'At the limit, turns stop.' };
    }
    case 'message':
      return { title: `${item.message.sender} wrote to you`, text: item.message.excerpt };
  }
}

/** One item, with what is to be seen before it is decided. */
function About({ item }: { item: InboxItem }) {
  const { title } = wordsFor(item);
  return (
    <article className="about">
      <p className="crumbs">
        {item.project === null ? (
          'All projects'
        ) : (
          <Link href={`/p/${item.project}`}>
            <bdi>{item.project}</bdi>
          </Link>
        )}
        {'at' in item ? (
          <>
            {' / '}
            <Moment at={item.at} />
          </>
        ) : null}
      </p>
      <h2 className="about-title">
        <bdi>{title}</bdi>
      </h2>
      <Content item={item} />
      <footer className="about-foot">
        {item.project === null ? null : (
          <Link href={`/p/${item.project}`} className="button">
            Open the project
          </Link>
        )}
        <span className="quiet">On the command line:</span> <Copyable text={`suzumio ${item.next}`} />
      </footer>
    </article>
  );
}

function Content({ item }: { item: InboxItem }) {
  switch (item.kind) {
    case 'report':
      return <Report project={item.project} version={item.version} />;
    case 'failure':
      return (
        <>
          <p className="about-lead">
            <bdi>{visible(item.message)}</bdi>
          </p>
          <p>
            <Link href={turnPath(item.project, item.agent, item.turnNumber)} className="button">
              See the turn
            </Link>
          </p>
        </>
      );
    case 'message':
      return <Letter project={item.project} message={item.message.id} />;
    case 'pause':
      return (
        <p className="about-lead">
          <bdi>{item.pause.reason ?? 'No reason was given.'}</bdi> <span className="quiet">By {item.pause.by}.</span>
        </p>
      );
    case 'budget':
      return (
        <p className="about-lead">
          {some(Math.round((item.used / item.max) * 100), 'percent', 'percent')} of it is used. At the limit no turn
          starts until it is raised.
        </p>
      );
  }
}

function Report({ project, version }: { project: string; version: number }) {
  const report = useQuery({
    queryKey: [...keys.project(project), 'report', version],
    queryFn: () => api.getReport({ project, query: { version } }),
  });
  if (report.error) return <Failure error={report.error} again={() => void report.refetch()} />;
  return report.data === undefined ? null : (
    <div className="report">
      <Markdown text={report.data} />
    </div>
  );
}

function Letter({ project, message }: { project: string; message: string }) {
  const letter = useQuery({
    queryKey: [...keys.project(project), 'message', message],
    queryFn: () => api.getMessage({ project, message }),
  });
  if (letter.error) return <Failure error={letter.error} again={() => void letter.refetch()} />;
  return letter.data === undefined ? null : <Markdown text={letter.data.body} />;
}
