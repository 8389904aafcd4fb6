import type { Message, ProjectDetail } from '@suzumio/sdk/client';
import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, type RefObject, useEffect, useId, useRef, useState } from 'react';
import { useDraft } from '../../../acts/draft.js';
import { heardByItself, useKeys } from '../../../acts/keys.js';
import { newKey } from '../../../acts/use-act.js';
import { api, keys, wordsOf } from '../../../api.js';
import { Icon } from '../../../parts/icon.js';
import { visible } from '../../../parts/visible.js';
import { called } from '../../../parts/places.js';
import { attach, filesOf } from './attach.js';
import { AttachedFiles } from './attached-files.js';
import { ComposerBar } from './composer-bar.js';
import { type Attached, chosen, deliver, type Letter, noLetter, stop } from './deliver.js';
import { ask, checked, lastWrittenTo, problemOf } from './letter-rules.js';
import { type Going, useGoing } from './outbox.js';
import { answered, effectOf, recipientsOf } from './recipients.js';
import { useDropsElsewhere } from './use-drops-elsewhere.js';
import { useIsHere } from './use-is-here.js';

interface ComposerProps {
  detail: ProjectDetail;
  /** The message that is answered. Without it, the letter begins a thread. */
  answers?: Message | undefined;
  /** Whether the person has asked to answer that message, and not only opened its thread. */
  isAsked?: boolean;
  /** The messages that are shown, the oldest first. */
  shown: readonly Message[];
  field: RefObject<HTMLTextAreaElement | null>;
  /** Whether the person has opened it to write. */
  opens?: boolean;
  sent?: (seq: number) => void;
  /** Has another letter written in its place. */
  leave?: (() => void) | undefined;
}

/** Where mail is written. What is written is kept until it is sent. */
export function Composer({
  detail,
  answers,
  isAsked = false,
  shown,
  field,
  opens = false,
  sent,
  leave,
}: ComposerProps) {
  const { project, agents } = detail;
  const place = answers === undefined ? `mail ${project.id}` : `mail ${project.id} ${answers.threadId}`;
  const [draft, change, forget] = useDraft(place, noLetter);
  const letter = checked(draft);
  const going = useGoing().filter((one) => one.place === place);
  const onWay = going.find(({ id, refused }) => id === undefined && refused === undefined);
  const [problems, setProblems] = useState<readonly string[]>([]);
  const [said, setSaid] = useState('');
  const [isOver, setOver] = useState(false);
  const ids = useId();
  const form = useRef<HTMLFormElement>(null);
  const isHere = useIsHere();
  const config = useQuery({
    queryKey: [...keys.project(project.id), 'config'],
    queryFn: () => api.getResolvedConfig({ project: project.id }),
  });

  const groups = recipientsOf(detail, config.data?.channels ?? [], answers !== undefined);
  const all = groups.flatMap(([, recipients]) => recipients);
  const suggested = answers === undefined ? lastWrittenTo(shown, all) : answered(answers, agents);
  const to =
    all.find(({ id }) => id === letter.to) ?? (letter.to === '' || config.isPending ? suggested : undefined) ?? all[0];
  useKeys({ send: to && heardByItself });
  const about = answers && (shown.find(({ id }) => id === letter.answers) ?? answers);

  /** Changes the letter: from its first word on, it stays with whom it is for. */
  const write = (news: Partial<Letter>) =>
    change((before) => ({
      ...before,
      ...(before.to === '' ? { to: to?.id ?? '', answers: answers?.id ?? '' } : {}),
      ...news,
      tried: '',
    }));

  useEffect(() => {
    if (!isAsked || answers === undefined) return;
    const asked = answered(answers, agents)?.id ?? '';
    change((before) =>
      before.to === '' || before.answers === answers.id
        ? before
        : { ...before, to: asked, answers: answers.id, tried: '' },
    );
    // The agents are read again and again; whom it is for was asked once.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [isAsked, answers?.id, change]);
  useEffect(() => {
    if (opens || isAsked) field.current?.focus();
  }, [opens, isAsked, field]);
  useDropsElsewhere();

  /** What cannot be: it is said, and nothing is lost. */
  const tell = (error: unknown) => setProblems([wordsOf(error)]);

  const add = async (files: readonly File[], directories: readonly string[] = []) => {
    const found = await attach(letter.files, files);
    setProblems([
      ...directories.map((name) => `${name} is not attached: it is a directory. Pack it into one file.`),
      ...found.problems,
    ]);
    if (found.attached !== letter.files) write({ files: found.attached });
  };
  const remove = (file: Attached) => {
    chosen.delete(file.key);
    write({ files: letter.files.filter(({ key }) => key !== file.key) });
    setProblems([]);
    field.current?.focus();
  };

  const send = async () => {
    if (onWay || to === undefined) return;
    const wrong = problemOf(letter);
    setSaid('');
    setProblems(wrong === undefined ? [] : [wrong]);
    field.current?.focus();
    if (wrong !== undefined) return;
    const message: Going = {
      key: newKey(),
      place,
      project: project.id,
      thread: answers?.threadId,
      after: shown.at(-1)?.seq ?? 0,
      to: to.name,
      priority: letter.priority,
      body: letter.body,
      files: letter.files,
      uploaded: {},
    };
    const done = await deliver({
      letter,
      going: message,
      keep: change,
      forget,
      ask: (attachments, options) => ask(project.id, about, to, letter, attachments, options),
    });
    if (!isHere.current) return;
    if (done === undefined) return;
    setSaid(`Sent to ${to.name}.`);
    sent?.(done.seq);
  };

  if (to === undefined) return null;
  const isFree = onWay === undefined;
  const refused = going.find((one) => one.refused !== undefined)?.refused;
  const wrongs = [...problems, ...(refused === undefined ? [] : [`Not sent: ${refused}`])];
  const press = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    send().catch(tell);
  };
  return (
    <form
      ref={form}
      className={isOver ? 'composer composer-over' : 'composer'}
      aria-label={about === undefined ? 'Write' : 'Reply'}
      onSubmit={(event) => {
        event.preventDefault();
        send().catch(tell);
      }}
      onKeyDown={press}
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes('Files')) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={(event) => {
        if (!(event.relatedTarget instanceof Node) || !form.current?.contains(event.relatedTarget)) setOver(false);
      }}
      onDrop={(event) => {
        if (!event.dataTransfer.types.includes('Files')) return;
        event.preventDefault();
        setOver(false);
        if (!isFree) return;
        const { files, directories } = filesOf(event.dataTransfer);
        add(files, directories).catch(tell);
      }}
    >
      {about === undefined ? null : (
        <p className="composer-about">
          <Icon name="reply" />
          <span className="clip">
            Answers <bdi>{called(about.sender, agents)}</bdi>: <bdi>{visible(about.body.slice(0, 200))}</bdi>
          </span>
          {leave === undefined ? null : (
            <button type="button" className="icon-button" aria-label="Write a new letter instead" onClick={leave}>
              <Icon name="close" />
            </button>
          )}
        </p>
      )}
      <textarea
        ref={field}
        className="composer-text"
        aria-label={`Write to ${to.name}`}
        placeholder={isFree ? `Write to ${to.name}` : ''}
        aria-describedby={`${ids}wrong`}
        rows={opens ? 6 : 2}
        dir="auto"
        value={isFree ? letter.body : ''}
        readOnly={!isFree}
        onChange={(event) => {
          write({ body: event.currentTarget.value });
          setSaid('');
        }}
        onPaste={(event) => {
          const { files, directories } = filesOf(event.clipboardData);
          // Of what has a text and its picture, such as cells of a sheet, the text is meant.
          if (!isFree || files.length + directories.length === 0 || event.clipboardData.types.includes('text/html'))
            return;
          event.preventDefault();
          add(files, directories).catch(tell);
        }}
      />
      {letter.files.length === 0 ? null : <AttachedFiles files={letter.files} going={onWay} remove={remove} />}
      <div role="alert" id={`${ids}wrong`} className="composer-wrongs">
        {wrongs.map((words) => (
          <p key={words}>{visible(words)}</p>
        ))}
      </div>
      {isFree && letter.tried !== '' ? (
        <p className="composer-note">
          It was on its way when the connection ended. Sent again as it is, it arrives once.
        </p>
      ) : null}
      {onWay?.waits === undefined ? null : (
        <p className="composer-note" role="status">
          <span>{visible(onWay.waits)} It is tried again until it has arrived, and arrives once.</span>
          <button type="button" className="button" onClick={() => stop(onWay.key)}>
            Stop trying
          </button>
        </p>
      )}
      <ComposerBar
        groups={groups}
        to={to}
        priority={letter.priority}
        isFree={isFree}
        effect={`${ids}effect`}
        write={write}
        onFiles={(files) => void add(files).then(() => field.current?.focus(), tell)}
      />
      <p className="composer-effect" id={`${ids}effect`}>
        {effectOf(detail, to)}
      </p>
      <p className="visually-hidden" aria-live="polite">
        {said}
      </p>
    </form>
  );
}
