import { type Agent, type Message, type ProjectDetail, SuzumioError, type Thread } from '@suzumio/sdk/client';
import { useQuery } from '@tanstack/react-query';
import { useRef } from 'react';
import { Composer } from './composer.js';
import { Link, useLocation } from 'wouter';
import { Key, useKeys, useListKeys } from '../../../acts/keys.js';
import { useMay } from '../../../acts/use-act.js';
import { api, keys } from '../../../api.js';
import { Copyable } from '../../../parts/copy.js';
import { Failure } from '../../../parts/failure.js';
import { FoundText } from '../../../parts/found.js';
import { Growing } from '../../../parts/growing.js';
import { Mark } from '../../../parts/mark.js';
import { visible } from '../../../parts/visible.js';
import { count } from '../../../parts/numbers.js';
import { Ago } from '../../../parts/time.js';
import { type Scroller, useGrowing } from '../../../parts/use-growing.js';
import { useNarrow } from '../../../parts/use-narrow.js';
import { addressed, called, mailPath } from '../../../parts/places.js';
import { Filters, useFilters, type Wanted } from './filters.js';
import { Priority } from './letter.js';
import { ThreadPane } from './thread.js';

/** Where a letter is written that begins a thread. */
const fresh = 'new';

/** All mail of a project: its threads, or the messages that a filter finds; and the thread of one message. */
export function Mailbox({ detail, message }: { detail: ProjectDetail; message?: string | undefined }) {
  const { project, agents } = detail;
  const { wanted, query, change } = useFilters();
  const isFiltered = Object.keys(wanted).length > 0;
  const opened = useMessage(project.id, message === fresh ? undefined : message);
  const [, navigate] = useLocation();
  const mayWrite = useMay()('sendMessage') && agents.length > 0;
  const pane = useRef<HTMLElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  useListKeys({ rows: '.mailbox-row', filter: '.mail-search input' });
  useKeys({ write: mayWrite && message === undefined ? () => navigate(mailPath(project.id, fresh)) : undefined });
  const chosen = { thread: opened.data?.threadId, message: opened.data?.id };
  const list = useRef<HTMLElement>(null);
  // On a narrow screen the whole page scrolls.
  const scroller = useNarrow() ? undefined : list;
  return (
    <div className={message === undefined ? 'mailbox' : 'mailbox mailbox-open'}>
      <div className="mailbox-bar">
        <Filters detail={detail} wanted={wanted} change={change} />
        {mayWrite ? (
          <Link href={`${mailPath(project.id, fresh)}${query}`} className="button mailbox-write">
            Write <Key name="write" />
          </Link>
        ) : null}
      </div>
      <div className="mailbox-panes">
        <section ref={list} className="mailbox-list" aria-label={isFiltered ? 'Messages' : 'Threads'}>
          {isFiltered ? (
            <Hits
              key={query}
              detail={detail}
              wanted={wanted}
              query={query}
              chosen={chosen.message}
              scroller={scroller}
            />
          ) : (
            <Threads detail={detail} chosen={chosen.thread} scroller={scroller} />
          )}
        </section>
        <section
          ref={pane}
          className="mailbox-thread"
          aria-label={message === fresh ? 'New letter' : 'Thread'}
          tabIndex={-1}
        >
          {message === undefined ? (
            <p className="empty-line">{project.messages === 0 ? '' : 'Choose a thread to read it.'}</p>
          ) : (
            <>
              <Link href={`/p/${project.id}/mail${query}`} className="button mailbox-back">
                All mail
              </Link>
              {message === fresh && mayWrite ? (
                <div className="conversation conversation-new">
                  <h2 className="about-title">A new letter</h2>
                  <div className="conversation-foot">
                    <Composer
                      detail={detail}
                      shown={[]}
                      field={field}
                      opens
                      sent={(seq) => {
                        pane.current?.focus();
                        navigate(`${mailPath(project.id, seq)}${query}`);
                      }}
                    />
                  </div>
                </div>
              ) : opened.error instanceof SuzumioError && opened.error.code === 'message-unknown' ? (
                <NoMessage project={project.id} name={message} />
              ) : opened.error ? (
                <Failure error={opened.error} again={() => void opened.refetch()} />
              ) : opened.data === undefined ? null : (
                <ThreadPane key={message} detail={detail} chosen={opened.data} />
              )}
            </>
          )}
        </section>
      </div>
    </div>
  );
}

/** One message, and what became of it. */
function NoMessage({ project, name }: { project: string; name: string }) {
  return (
    <div className="empty">
      <h2>
        There is no message <bdi>{visible(name.slice(0, 80))}</bdi>
      </h2>
      <p>The address is misspelt, or of another project.</p>
      <Link href={`/p/${project}/mail`} className="button">
        All mail
      </Link>
    </div>
  );
}

function useMessage(project: string, message: string | undefined) {
  return useQuery({
    queryKey: [...keys.project(project), 'message', message],
    queryFn: () => api.getMessage({ project, message: message ?? '' }),
    enabled: message !== undefined,
  });
}

const partOf = 50;

/** What a row of mail is likely to be high. */
const rowPx = 62;

interface ThreadsProps {
  detail: ProjectDetail;
  chosen: string | undefined;
  scroller: Scroller;
}

function Threads({ detail: { project, agents }, chosen, scroller }: ThreadsProps) {
  const list = useGrowing<Thread>(
    [...keys.project(project.id), 'threads'],
    (place) => api.listThreads({ project: project.id, query: { limit: partOf, order: 'desc', ...place } }),
    { scroller },
  );
  return (
    <Growing
      list={list}
      none={<NoMail project={project.id} agents={agents} />}
      heightPx={rowPx}
      scroller={scroller}
      render={(thread) => (
        <ThreadRow project={project.id} agents={agents} thread={thread} isChosen={thread.id === chosen} />
      )}
    />
  );
}

function NoMail({ project, agents: [first] }: { project: string; agents: readonly Agent[] }) {
  return (
    <div className="empty">
      <h2>No mail yet</h2>
      <p>Mail is what wakes an agent.</p>
      <Copyable text={`suzumio send ${project} ${first?.id ?? 'AGENT'} P1 "…"`} />
    </div>
  );
}

interface ThreadRowProps {
  project: string;
  agents: readonly Agent[];
  thread: Thread;
  isChosen: boolean;
}

function ThreadRow({ project, agents, thread: { first, last, messages, unread }, isChosen }: ThreadRowProps) {
  return (
    <Link
      href={mailPath(project, last.seq)}
      className="inbox-row mailbox-row"
      aria-current={isChosen ? 'true' : undefined}
    >
      <Mark kind={unread > 0 ? 'queued' : 'message'} />
      <span className="inbox-words">
        <span className="mailbox-title">
          <b className="clip">
            <bdi>{called(first.sender, agents)}</bdi> to <bdi>{addressed(first, agents)}</bdi>
          </b>
          {messages > 1 ? <span className="quiet">{count(messages)}</span> : null}
          <Priority of={last.priority} />
        </span>
        <span className="inbox-text">
          {messages > 1 && last.sender !== first.sender ? (
            <b>
              <bdi>{called(last.sender, agents)}</bdi>{' '}
            </b>
          ) : null}
          <bdi>{visible(last.excerpt)}</bdi>
        </span>
      </span>
      <span className="inbox-age">
        <Ago at={last.createdAt} />
        {unread > 0 ? <span className="mailbox-unread">{count(unread)} unread</span> : null}
      </span>
    </Link>
  );
}

interface HitsProps {
  detail: ProjectDetail;
  wanted: Wanted;
  query: string;
  chosen: string | undefined;
  scroller: Scroller;
}

/** The messages of which all that is wanted holds. */
function Hits({ detail: { project, agents }, wanted, query, chosen, scroller }: HitsProps) {
  const list = useGrowing<Message>(
    [...keys.project(project.id), 'messages', wanted],
    (place) => api.listMessages({ project: project.id, query: { limit: partOf, order: 'desc', ...wanted, ...place } }),
    { scroller },
  );
  return (
    <Growing
      list={list}
      none={<p className="empty-line">No message is like that.</p>}
      heightPx={rowPx}
      scroller={scroller}
      render={(message) => (
        <Link
          href={`${mailPath(project.id, message.seq)}${query}`}
          className="inbox-row mailbox-row"
          aria-current={message.id === chosen ? 'true' : undefined}
        >
          <Mark kind={message.delivery.undelivered > 0 ? 'failed' : 'message'} />
          <span className="inbox-words">
            <span className="mailbox-title">
              <b className="clip">
                <bdi>{called(message.sender, agents)}</bdi> to <bdi>{addressed(message, agents)}</bdi>
              </b>
              <Priority of={message.priority} />
            </span>
            <span className="inbox-text">
              <Excerpt message={message} />
            </span>
          </span>
          <span className="inbox-age">
            <Ago at={message.createdAt} />
          </span>
        </Link>
      )}
    />
  );
}

const excerptChars = 200;

/** Where in a message something was found; of others, how they begin. */
function Excerpt({ message: { found, body } }: { message: Message }) {
  if (found === undefined) return <bdi>{visible(body.slice(0, excerptChars))}</bdi>;
  return <FoundText found={found} />;
}
