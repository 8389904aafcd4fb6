import type { Agent, Message, ProjectDetail } from '@suzumio/sdk/client';
import { useMemo, useState } from 'react';
import { Failure } from '../../parts/failure.js';
import { Icon } from '../../parts/icon.js';
import { Mark } from '../../parts/mark.js';
import { Markdown } from '../../parts/markdown.js';
import { bytes } from '../../parts/numbers.js';
import { nameOf } from '../../parts/states.js';
import { Moment } from '../../parts/time.js';
import { useMail } from './use-project.js';

const views = [
  ['all', 'All'],
  ['you', 'To you'],
  ['unread', 'Unread'],
] as const;
type View = (typeof views)[number][0];

/** The newest mail, by thread. */
export function Mail({ detail }: { detail: ProjectDetail }) {
  const { project, agents } = detail;
  const mail = useMail(project.id);
  const [view, setView] = useState<View>('all');
  const shown = useMemo(() => threadsOf((mail.data ?? []).filter((message) => isIn(view, message))), [mail.data, view]);
  return (
    <section className="mail" aria-label="Mail">
      <header className="pane-head">
        <h2>Mail</h2>
        <div className="switch" role="group" aria-label="Which mail">
          {views.map(([name, words]) => (
            <button key={name} type="button" aria-pressed={view === name} onClick={() => setView(name)}>
              {words}
            </button>
          ))}
        </div>
      </header>
      {mail.error && mail.data === undefined ? <Failure error={mail.error} again={() => void mail.refetch()} /> : null}
      {mail.data?.length === 0 ? <p className="empty-line">No mail yet. Mail is what wakes an agent.</p> : null}
      {mail.data && mail.data.length > 0 && shown.length === 0 ? <p className="empty-line">None of it.</p> : null}
      <ol className="threads">
        {shown.map(([first, ...answers]) => (
          <li key={first.threadId} className="thread">
            <Letter message={first} agents={agents} />
            {answers.length === 0 ? null : (
              <ol className="answers">
                {answers.map((message) => (
                  <li key={message.id}>
                    <Letter message={message} agents={agents} />
                  </li>
                ))}
              </ol>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

function isIn(view: View, { recipient, delivery }: Message): boolean {
  if (view === 'you') return recipient === 'user';
  return view === 'all' || (recipient !== 'user' && delivery.read < delivery.recipients);
}

type Thread = [Message, ...Message[]];

/** Messages by thread, in the order of the newest of each. */
function threadsOf(messages: readonly Message[]): Thread[] {
  const threads = new Map<string, Thread>();
  for (const message of messages) {
    const thread = threads.get(message.threadId);
    threads.delete(message.threadId);
    threads.set(message.threadId, thread ? [...thread, message] : [message]);
  }
  return [...threads.values()];
}

function Letter({ message, agents }: { message: Message; agents: readonly Agent[] }) {
  const { sender, recipient, channel, priority, createdAt, body, attachments } = message;
  return (
    <article className="letter">
      <header className="letter-head">
        <b>
          <bdi>{called(sender, agents)}</bdi>
        </b>{' '}
        <span className="quiet">
          to <bdi>{channel ?? called(recipient ?? '', agents)}</bdi>
        </span>
        {priority === 'P0' ? <span className="priority">P0</span> : null}
        <span className="letter-time">
          <Moment at={createdAt} />
        </span>
      </header>
      <Markdown text={body} />
      {attachments.length === 0 ? null : (
        <ul className="attachments">
          {attachments.map((file) => (
            <li key={file.id} className="attachment">
              <Icon name="file" /> <bdi className="clip">{file.name}</bdi>{' '}
              <span className="quiet">{bytes(file.sizeBytes)}</span>
            </li>
          ))}
        </ul>
      )}
      <Receipt message={message} />
    </article>
  );
}

/** What became of a message. */
function Receipt({ message: { recipient, delivery, recipients } }: { message: Message }) {
  if (recipient === 'user' || delivery.recipients === 0) return null;
  if (delivery.undelivered > 0) {
    return (
      <p className="receipt state-failed">
        <Mark kind="failed" /> not delivered: the turn that read it failed
      </p>
    );
  }
  if (delivery.read === 0) {
    return (
      <p className="receipt">
        <Mark kind="quiet" /> unread
      </p>
    );
  }
  const [one] = recipients;
  const words =
    delivery.recipients === 1
      ? 'read'
      : delivery.read === delivery.recipients
        ? `read by all ${delivery.recipients}`
        : `read by ${delivery.read} of ${delivery.recipients}`;
  return (
    <p className="receipt">
      <Mark kind="done" /> {words}
      {one?.readAt == null || delivery.recipients > 1 ? null : (
        <>
          {' '}
          at <Moment at={one.readAt} />
        </>
      )}
    </p>
  );
}

/** Who is meant by a name in mail. */
function called(id: string, agents: readonly Agent[]): string {
  if (id === 'user') return 'You';
  if (id === 'system') return 'Suzumio';
  const agent = agents.find((one) => one.id === id);
  return agent ? nameOf(agent) : id;
}
