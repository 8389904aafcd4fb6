import type { Message, ProjectDetail } from '@suzumio/sdk/client';
import { type RefObject, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { Composer } from './mail/composer.js';
import { useSearchParams } from 'wouter';
import { useKeys } from '../../acts/keys.js';
import { useMay } from '../../acts/use-act.js';
import { Failure } from '../../parts/failure.js';
import { GoingLetter } from './mail/going-letter.js';
import { Letter } from './mail/letter.js';
import { notShown, useGoing } from './mail/outbox.js';
import { useMail } from '../../use-project.js';

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
  const [search, setSearch] = useSearchParams();
  const view = views.find(([name]) => name === search.get('mail'))?.[0] ?? 'all';
  const setView = (name: View) =>
    setSearch(
      (before) => {
        const next = new URLSearchParams(before);
        if (name === 'all') next.delete('mail');
        else next.set('mail', name);
        return next;
      },
      { replace: true },
    );
  const going = notShown(useGoing(), { project: project.id }, mail.data ?? []);
  const [answers, setAnswers] = useState<Message>();
  const field = useRef<HTMLTextAreaElement>(null);
  const may = useMay();
  const mayWrite = may('sendMessage') && agents.length > 0;
  useKeys({ write: mayWrite ? () => field.current?.focus() : undefined });
  const answer = (message: Message | undefined) => {
    setAnswers(message);
    field.current?.focus();
  };
  const reply = may('replyToMessage') ? answer : undefined;
  const shown = useMemo(() => threadsOf((mail.data ?? []).filter((message) => isIn(view, message))), [mail.data, view]);
  const pane = useRef<HTMLElement>(null);
  useNewestInView(pane, (mail.data?.at(-1)?.seq ?? 0) + going.length, view);
  return (
    <section className="mail" aria-label="Mail" ref={pane}>
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
      {mail.data?.length === 0 && going.length === 0 ? (
        <p className="empty-line">No mail yet. Mail is what wakes an agent.</p>
      ) : null}
      {mail.data && mail.data.length > 0 && shown.length === 0 ? <p className="empty-line">None of it.</p> : null}
      <ol className="threads">
        {shown.map(([first, ...others]) => (
          <li key={first.threadId} className="thread">
            <Letter project={project.id} message={first} agents={agents} reply={reply} />
            {others.length === 0 && !going.some(({ thread }) => thread === first.threadId) ? null : (
              <ol className="answers">
                {others.map((message) => (
                  <li key={message.id}>
                    <Letter project={project.id} message={message} agents={agents} reply={reply} />
                  </li>
                ))}
                {going
                  .filter(({ thread }) => thread === first.threadId)
                  .map((message) => (
                    <li key={message.key}>
                      <GoingLetter message={message} />
                    </li>
                  ))}
              </ol>
            )}
          </li>
        ))}
        {going
          .filter(({ thread }) => !shown.some(([first]) => first.threadId === thread))
          .map((message) => (
            <li key={message.key} className="thread">
              <GoingLetter message={message} />
            </li>
          ))}
      </ol>
      {mayWrite ? (
        <Composer
          detail={detail}
          answers={answers}
          isAsked={answers !== undefined}
          shown={mail.data ?? []}
          field={field}
          sent={() => setAnswers(undefined)}
          leave={answers && (() => answer(undefined))}
        />
      ) : null}
    </section>
  );
}

/** Within this distance of its end, a list follows its newest letter. */
const nearPx = 120;

/** A pane that scrolls by itself opens at the newest, and stays there while it is read there; else nothing moves. */
function useNewestInView(pane: RefObject<HTMLElement | null>, newest: number, view: View): void {
  const wasAtEnd = useRef(true);
  useLayoutEffect(() => {
    wasAtEnd.current = true;
  }, [view]);
  useLayoutEffect(() => {
    const { current } = pane;
    if (current === null) return undefined;
    const toEnd = () => {
      if (wasAtEnd.current) current.scrollTop = current.scrollHeight;
    };
    toEnd();
    const note = () => {
      wasAtEnd.current = current.scrollHeight - current.scrollTop - current.clientHeight < nearPx;
    };
    // Text that is drawn later makes what is above longer.
    const grown = new ResizeObserver(toEnd);
    for (const list of current.querySelectorAll('.threads, .composer')) grown.observe(list);
    current.addEventListener('scroll', note, { passive: true });
    return () => {
      grown.disconnect();
      current.removeEventListener('scroll', note);
    };
  }, [pane, newest, view]);
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
