import type { Message, ProjectDetail } from '@suzumio/sdk/client';
import { useMemo, useState } from 'react';
import { Failure } from '../../parts/failure.js';
import { Letter } from './mail/letter.js';
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
            <Letter project={project.id} message={first} agents={agents} />
            {answers.length === 0 ? null : (
              <ol className="answers">
                {answers.map((message) => (
                  <li key={message.id}>
                    <Letter project={project.id} message={message} agents={agents} />
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
