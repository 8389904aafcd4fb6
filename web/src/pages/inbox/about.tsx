import type { Decision, InboxItem } from '@suzumio/sdk/client';
import type { RefObject } from 'react';
import { late } from '../../acts/run/late.js';
import { Link } from 'wouter';
import { Key } from '../../acts/keys.js';
import { Copyable } from '../../parts/copy.js';
import { Failure } from '../../parts/failure.js';
import { Mark } from '../../parts/mark.js';
import { Markdown } from '../../parts/markdown.js';
import { visible } from '../../parts/visible.js';
import { some } from '../../parts/numbers.js';
import { Ago, Moment } from '../../parts/time.js';
import { useHelp } from '../../use-why.js';
import { ReportChanges } from '../project/report-changes.js';
import { useReport } from '../../use-report.js';
import { itemPath } from '../../parts/places.js';
import { InboxLetter } from './letter.js';
import { decidedMarks, decisionIn, placeOf, wordsFor } from './words.js';

const Decide = late(() => import('../decide/decide.js'));
const Settle = late(() => import('../../acts/settle.js'));

/** That an item waits no more: what was decided, where that is known, and the item that comes next. */
export interface Settled {
  readonly decision: Decision | undefined;
  readonly next: string | undefined;
}

/** One item, with what is to be seen before it is decided; it stays when it is settled. */
export function About({
  item,
  settled,
  onward,
}: {
  item: InboxItem;
  settled: Settled | undefined;
  /** What leads on from an item that is settled. */
  onward: RefObject<HTMLAnchorElement | null>;
}) {
  const { title } = wordsFor(item);
  const notice = settled ? <Notice settled={settled} wasSeen onward={onward} /> : null;
  if (item.kind === 'message') {
    const until = settled ? undefined : item.at;
    return <InboxLetter project={item.project} message={item.message.id} until={until} notice={notice} none={notice} />;
  }
  return (
    <article className="about">
      {notice}
      <p className="crumbs">
        {item.project === null ? (
          'All projects'
        ) : (
          <Link href={`/p/${item.project}`}>
            <bdi translate="no">{item.project}</bdi>
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
        <bdi>{visible(title)}</bdi>
      </h2>
      <Content item={item} />
      <footer className="about-foot">
        <Acts item={item} isSettled={settled !== undefined} />
      </footer>
    </article>
  );
}

/** That an item is settled; of one that was not seen here before, only that it is not there. */
export function Notice({
  settled,
  wasSeen = false,
  onward,
}: {
  settled: Settled;
  wasSeen?: boolean;
  onward: RefObject<HTMLAnchorElement | null>;
}) {
  const { decision, next } = settled;
  return (
    <div className="settled" role="status">
      <Mark kind={decision ? decidedMarks[decision.kind] : 'done'} />
      <p>
        <b>{wasSeen ? 'This is settled.' : 'There is nothing here: it was settled, or never was.'}</b>{' '}
        {decision ? (
          <>
            <bdi>{visible(decisionIn(decision))}</bdi>, by <bdi>{decision.by}</bdi>, <Ago at={decision.at} inWords />.
          </>
        ) : null}
      </p>
      <Link href={next === undefined ? '/' : itemPath(next)} className="button" ref={onward}>
        {next === undefined ? 'All items' : 'Next item'}
      </Link>
    </div>
  );
}

/** What can be done about an item. */
function Acts({ item, isSettled }: { item: InboxItem; isSettled: boolean }) {
  const open = (
    <Link href={placeOf(item)} className="button">
      {opens[item.kind]} <Key name="look" />
    </Link>
  );
  if (item.kind === 'report') {
    return (
      <>
        <DecideOnRead project={item.project} version={item.version} />
        {open}
      </>
    );
  }
  return (
    <>
      {!isSettled && item.kind === 'failure' ? <SettleFailure item={item} /> : null}
      {!isSettled && item.kind === 'pause' ? <Settle item={item} request={item.request} /> : null}
      {open}
      {isSettled ? null : (
        <span className="about-command">
          <span className="quiet">On the command line:</span> <Copyable text={`suzumio ${item.next}`} />
        </span>
      )}
    </>
  );
}

const opens: Readonly<Record<InboxItem['kind'], string>> = {
  report: 'Open the report',
  failure: 'Open the turn',
  pause: 'See why',
  budget: 'Raise the budget',
  model: 'Open the project',
  message: 'Open the thread',
};

type Failed = Extract<InboxItem, { kind: 'failure' }>;

/** What helps is done once it is known what has to be mended before. */
function SettleFailure({ item }: { item: Failed }) {
  const help = useHelp(item.project, item.agent, item.id);
  return help.isPending ? null : <Settle item={item} request={help.data?.request ?? item.request} />;
}

/** What happened, and what has to be known before it goes on. */
function Happened({ item }: { item: Failed }) {
  const { data } = useHelp(item.project, item.agent, item.id);
  return (
    <p className="about-lead about-failure">
      <bdi>{visible(data?.sentence ?? item.message)}</bdi>
    </p>
  );
}

/** Nothing is decided before what is decided on is there. */
function DecideOnRead({ project, version }: { project: string; version: number }) {
  const { data } = useReport(project, version);
  return data === undefined ? null : <Decide project={project} version={version} />;
}

function Content({ item }: { item: InboxItem }) {
  switch (item.kind) {
    case 'report':
      return <Report project={item.project} version={item.version} />;
    case 'failure':
      return <Happened item={item} />;
    case 'message':
      return null;
    case 'pause':
      return (
        <p className="about-lead">
          <bdi>{item.pause.reason ?? 'No reason was given.'}</bdi> <span className="quiet">By {item.pause.by}.</span>
        </p>
      );
    case 'model':
      return (
        <p className="about-lead">
          <bdi>{item.message}</bdi> <span className="quiet">The next answer of the preset clears this.</span>
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
  const report = useReport(project, version);
  if (report.error) return <Failure error={report.error} again={() => void report.refetch()} />;
  return report.data === undefined ? null : (
    <>
      {version > 1 ? <ReportChanges project={project} from={version - 1} to={version} /> : null}
      <div className="report">
        <Markdown text={report.data} />
      </div>
    </>
  );
}
