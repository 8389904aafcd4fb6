import type { Agent, Message, MessageDetail } from '@suzumio/sdk/client';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { LetterActs } from '../../../acts/run/late.js';
import { Icon } from '../../../parts/icon.js';
import { Mark } from '../../../parts/mark.js';
import type { MarkKind } from '../../../parts/mark-kind.js';
import { Markdown } from '../../../parts/markdown.js';
import { bytes, count } from '../../../parts/numbers.js';
import { Moment } from '../../../parts/time.js';
import { addressed, agentPath, called, filePath, mailPath, turnPath } from '../../../parts/places.js';
import { answerTo } from './answer-to.js';

interface LetterProps {
  project: string;
  message: Message;
  agents: readonly Agent[];
  /** Everything that became of it, where it is the message that the page is about. */
  detail?: MessageDetail | undefined;
  /** Has it answered; without it, it is only read. */
  reply?: ((message: Message) => void) | undefined;
}

/** A message, with what it carries and what became of it. */
export function Letter({ project, message, agents, detail, reply }: LetterProps) {
  const { seq, sender, priority, createdAt, body, attachments, redacted } = message;
  return (
    <article className="letter">
      <header className="letter-head">
        <b>
          <Person project={project} id={sender} agents={agents} />
        </b>{' '}
        <span className="quiet">
          to <bdi>{addressed(message, agents)}</bdi>
        </span>
        <Priority of={priority} />
        <Link href={mailPath(project, seq)} className="letter-time">
          <span className="visually-hidden">Message {seq}, </span>
          <Moment at={createdAt} />
        </Link>
      </header>
      {redacted === null ? null : <p className="quiet">Its text was removed.</p>}
      <Markdown text={body} />
      {attachments.length === 0 ? null : (
        <ul className="attachments">
          {attachments.map((file) => (
            <li key={file.id}>
              <Link href={filePath(project, file.id)} className="attachment">
                <Icon name="file" /> <bdi className="clip">{file.name}</bdi>{' '}
                <span className="quiet">{file.redacted ? 'removed' : bytes(file.sizeBytes)}</span>
              </Link>
            </li>
          ))}
        </ul>
      )}
      {detail === undefined ? (
        <Receipt project={project} message={message} agents={agents} />
      ) : (
        <>
          <Receipts project={project} detail={detail} agents={agents} />
          <LetterActs project={project} message={detail} />
        </>
      )}
      {reply === undefined || answerTo(message) === undefined ? null : (
        <button type="button" className="letter-reply" onClick={() => reply(message)}>
          <Icon name="reply" /> Reply<span className="visually-hidden"> to message {seq}</span>
        </button>
      )}
    </article>
  );
}

/** How urgent a message is: `P1` is usual and not said. */
export function Priority({ of }: { of: Message['priority'] }) {
  if (of === 'P1') return null;
  return <span className={of === 'P0' ? 'priority' : 'quiet'}>{of}</span>;
}

/** An agent, as a link to its page; or somebody else. */
function Person({ project, id, agents }: { project: string; id: string; agents: readonly Agent[] }) {
  const name = <bdi>{called(id, agents)}</bdi>;
  return agents.some((agent) => agent.id === id) ? <Link href={agentPath(project, id)}>{name}</Link> : name;
}

type Recipient = Message['recipients'][number];

/** What became of a message, in a line; of one to many, for each on request. */
function Receipt({ project, message, agents }: Omit<LetterProps, 'detail' | 'reply'>) {
  const { recipient, delivery, recipients } = message;
  const [one] = recipients;
  if (recipient === 'user' || one === undefined) return null;
  if (delivery.recipients === 1) return <Read project={project} one={one} agents={agents} />;
  const [mark, words] = summary(delivery);
  return (
    <details className="receipts">
      <summary className="receipt">
        <Mark kind={mark} /> {words}
      </summary>
      <ul>
        {recipients.map((each) => (
          <li key={each.agent}>
            <Read project={project} one={each} agents={agents} named />
          </li>
        ))}
      </ul>
      {recipients.length < delivery.recipients ? (
        <p className="receipt">and {count(delivery.recipients - recipients.length)} more</p>
      ) : null}
    </details>
  );
}

function summary({ recipients, read, undelivered }: Message['delivery']): [mark: MarkKind, words: string] {
  const readBy = read === recipients ? `read by all ${recipients}` : `read by ${read} of ${recipients}`;
  if (undelivered > 0) return ['failed', `${readBy}, ${undelivered} of them in turns that failed`];
  if (read === 0) return ['quiet', `unread by all ${recipients}`];
  return [read === recipients ? 'done' : 'quiet', readBy];
}

const became: Readonly<Record<NonNullable<Recipient['turnStatus']>, [mark: MarkKind, words: string]>> = {
  queued: ['queued', 'which is tried again'],
  running: ['running', 'which runs'],
  completed: ['done', 'done'],
  failed: ['failed', 'which failed'],
  cancelled: ['stopped', 'which was cancelled'],
};

interface ReadProps {
  project: string;
  one: Pick<Recipient, 'agent' | 'turnNumber' | 'turnStatus' | 'readAt'>;
  agents: readonly Agent[];
  /** Whether the line begins with who it is about. */
  named?: boolean;
  children?: ReactNode;
}

/** In which turn one has read it, and how that went. */
function Read({ project, one: { agent, turnNumber, turnStatus, readAt }, agents, named = false, children }: ReadProps) {
  const name = called(agent, agents);
  if (turnNumber === null || turnStatus === null) {
    return (
      <p className="receipt">
        <Mark kind="quiet" />{' '}
        <span>
          {named ? <bdi>{name}: </bdi> : null}unread
          {children}
        </span>
      </p>
    );
  }
  const [mark, words] = became[turnStatus];
  return (
    <p className={`receipt ${mark === 'failed' ? 'state-failed' : ''}`}>
      <Mark kind={mark} />
      <span>
        {turnStatus === 'running' ? 'reading it now in ' : 'read in '}
        <Link href={turnPath(project, agent, turnNumber)} className="linked">
          <bdi translate="no">{name}</bdi>, turn {turnNumber}
        </Link>
        {turnStatus === 'running' ? '' : `, ${words}`}
        {readAt === null ? null : (
          <span className="quiet">
            {' '}
            <Moment at={readAt} />
          </span>
        )}
        {children}
      </span>
    </p>
  );
}

/** Every turn that has read it, those included that it was taken from. */
function Receipts({ project, detail, agents }: { project: string; detail: MessageDetail; agents: readonly Agent[] }) {
  if (detail.receipts.length === 0) return null;
  return (
    <ul className="receipts" aria-label="What became of it">
      {detail.receipts.flatMap(({ agent, unread, reads }) => [
        ...reads.map(({ turnNumber, status, readAt, attempts, voidedAt, failure }) => (
          <li key={`${agent} ${turnNumber} ${readAt}`}>
            <Read project={project} one={{ agent, turnNumber, turnStatus: status, readAt }} agents={agents}>
              {attempts.length > 1 ? `, ${attempts.length} attempts` : ''}
              {voidedAt === null ? '' : ', given back to be read again'}
              {failure === null ? null : (
                <>
                  : <bdi>{failure.message}</bdi>
                </>
              )}
            </Read>
          </li>
        )),
        ...(unread
          ? [
              <li key={`${agent} unread`}>
                <Read
                  project={project}
                  one={{ agent, turnNumber: null, turnStatus: null, readAt: null }}
                  agents={agents}
                  named={detail.receipts.length > 1}
                />
              </li>,
            ]
          : []),
      ])}
    </ul>
  );
}
