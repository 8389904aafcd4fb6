import type { Agent, Message, MessageDetail, ProjectDetail } from '@suzumio/sdk/client';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { Composer } from './composer.js';
import { useKeys } from '../../../acts/keys.js';
import { useMay } from '../../../acts/use-act.js';
import { api, keys } from '../../../api.js';
import { Copyable } from '../../../parts/copy.js';
import { Failure } from '../../../parts/failure.js';
import { addressed, called } from '../../../parts/places.js';
import { answerTo } from './answer-to.js';
import { GoingLetter } from './going-letter.js';
import { Letter } from './letter.js';
import { notShown, useGoing } from './outbox.js';

const partOf = 50;

/** Which messages of a thread are shown: the newest, or those before or after a place. */
type Place = { before?: number; after?: number };

/** A thread, at one of its messages. */
export function ThreadPane({
  detail,
  chosen,
  onSent,
}: {
  detail: ProjectDetail;
  chosen: MessageDetail;
  /** What follows once it was answered. */
  onSent?: () => void;
}) {
  const { agents } = detail;
  const project = detail.project.id;
  const [place, setPlace] = useState<Place>();
  const newest = usePart(project, chosen.threadId, {});
  const first = newest.data?.items[0]?.seq ?? 0;
  const from: Place = place ?? (chosen.seq < first ? { after: chosen.seq - 1 } : {});
  const part = usePart(project, chosen.threadId, from, newest.data !== undefined);
  const items = part.data?.items ?? [];
  const last = items.at(-1);
  const hasLater = last !== undefined && (newest.data?.items.at(-1)?.seq ?? 0) > last.seq;
  const answered = [...items].reverse().find(({ sender }) => sender !== 'user' && sender !== 'system');
  const error = newest.error ?? part.error;
  const going = notShown(useGoing(), { project, thread: chosen.threadId }, newest.data?.items ?? []);
  const [asked, setAsked] = useState<Message>();
  const answers = asked ?? answered ?? [...items].reverse().find((message) => answerTo(message) !== undefined);
  const field = useRef<HTMLTextAreaElement>(null);
  const mayReply = useMay()('replyToMessage');
  useKeys({ write: mayReply && answers !== undefined ? () => field.current?.focus() : undefined });
  const reply = (message: Message) => {
    setAsked(message);
    field.current?.focus();
  };
  return (
    <div className="conversation">
      <h2 className="about-title">
        <bdi>{called(items[0]?.sender ?? chosen.sender, agents)}</bdi> to{' '}
        <bdi>{addressed(items[0] ?? chosen, agents)}</bdi>
      </h2>
      {error ? <Failure error={error} again={() => void part.refetch()} /> : null}
      {items[0] && part.data?.previous !== undefined ? (
        <button type="button" className="button" onClick={() => setPlace({ before: items[0]?.seq ?? 0 })}>
          Earlier messages
        </button>
      ) : null}
      <ol className="letters">
        {items.map((message) => (
          <Place key={message.id} isChosen={message.id === chosen.id}>
            <Letter
              project={project}
              message={message}
              agents={agents}
              detail={message.id === chosen.id ? chosen : undefined}
              reply={mayReply ? reply : undefined}
            />
          </Place>
        ))}
        {going.map((message) => (
          <li key={message.key} className="letters-item">
            <GoingLetter message={message} />
          </li>
        ))}
      </ol>
      {hasLater ? (
        <button type="button" className="button" onClick={() => setPlace({ after: last.seq })}>
          Later messages
        </button>
      ) : null}
      <footer className="conversation-foot">
        {mayReply && answers !== undefined ? (
          <Composer
            detail={detail}
            answers={answers}
            isAsked={asked !== undefined}
            shown={newest.data?.items ?? []}
            field={field}
            sent={() => {
              setAsked(undefined);
              onSent?.();
            }}
          />
        ) : null}
        <p className="conversation-command">
          <span className="quiet">{answered ? 'To answer by a command:' : 'To write by a command:'}</span>
          <Copyable
            text={
              answered
                ? `suzumio reply ${project} ${answered.seq} "…"`
                : `suzumio send ${project} ${recipientOf(chosen, agents)} P1 "…"`
            }
          />
        </p>
      </footer>
    </div>
  );
}

/** Whom the command writes to: the shell takes a bare `#` for a comment. */
function recipientOf({ recipient, channel }: MessageDetail, agents: readonly Agent[]): string {
  if (channel?.startsWith('#')) return `"${channel}"`;
  return agents.find(({ id }) => id === recipient)?.id ?? agents[0]?.id ?? 'AGENT';
}

function usePart(project: string, thread: string, place: Place, enabled = true) {
  return useQuery({
    queryKey: [...keys.project(project), 'thread', thread, place],
    queryFn: () => api.listThread({ project, thread, query: { limit: partOf, ...place } }),
    enabled,
  });
}

/** A message's place in its thread; the one that the page is about is brought into view. */
function Place({ isChosen, children }: { isChosen: boolean; children: React.ReactNode }) {
  const place = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isChosen) place.current?.scrollIntoView({ block: 'nearest' });
  }, [isChosen]);
  return (
    <li ref={place} className={isChosen ? 'letters-item letters-chosen' : 'letters-item'}>
      {children}
    </li>
  );
}
