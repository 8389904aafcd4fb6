import type { Agent, Project } from '@suzumio/sdk/client';
import { type ReactNode, type RefObject, useId, useState } from 'react';
import { wordsOf } from '../../api.js';
import { attach, filesOf } from '../project/mail/attach.js';
import { AttachButton } from '../project/mail/attach-button.js';
import { AttachedFiles } from '../project/mail/attached-files.js';
import { type Attached, chosen as files, publish } from '../project/mail/deliver.js';
import { Icon } from '../../parts/icon.js';
import { nameOf } from '../../parts/states.js';
import { visible } from '../../parts/visible.js';
import { useDraft } from '../../acts/draft.js';
import { heardByItself, useKeys } from '../../acts/keys.js';

/** So much is sent even where the page is closed: it has 64 kB for all that it sends then. */
const mostChars = 10_000;

interface Changes {
  readonly recipient: string;
  readonly body: string;
  readonly files: readonly Attached[];
}

const nothing: Changes = { recipient: '', body: '', files: [] };

/** What is written of changes: the place of its draft, and the empty one. */
export function changesDraft(project: string): [place: string, empty: Changes] {
  return [`changes ${project}`, nothing];
}

interface FormProps {
  project: Project;
  agents: readonly Agent[];
  version: number;
  field: RefObject<HTMLTextAreaElement | null>;
  /** Nothing where changes cannot be requested now: what was written stays. */
  send: ((recipient: string, body: string, attachments: readonly string[]) => void) | undefined;
  /** What happened while it was written, with what goes on in spite of it. */
  decided: ReactNode;
  close: () => void;
}

/** What is to be changed, and by whom: by who submitted it, unless another is chosen. */
export function ChangesForm({ project, agents: all, version, field, send, decided, close }: FormProps) {
  const [draft, change] = useDraft(...changesDraft(project.id));
  const agents = all.filter(({ state }) => state !== 'retired');
  const submitter = project.reportBy;
  const [first] = agents;
  const chosen = [draft.recipient, submitter].find((id) => agents.some((agent) => agent.id === id)) ?? first?.id ?? '';
  const named = agents.find(({ id }) => id === chosen);
  const says = `changes-${useId()}`;
  useKeys({ send: send && heardByItself });
  const [problems, setProblems] = useState<readonly string[]>([]);
  /** How many bytes of each file have gone, while they go. */
  const [uploaded, setUploaded] = useState<Readonly<Record<string, number>>>();
  const tell = (error: unknown) => setProblems([wordsOf(error)]);
  const keep = (file: Attached) =>
    change((before) => ({ ...before, files: before.files.map((one) => (one.key === file.key ? file : one)) }));
  const add = async (files: readonly File[]) => {
    const found = await attach(draft.files, files);
    setProblems(found.problems);
    change((before) => ({ ...before, files: [...found.attached] }));
  };
  const remove = (file: Attached) => {
    files.delete(file.key);
    change({ ...draft, files: draft.files.filter(({ key }) => key !== file.key) });
    field.current?.focus();
  };
  const isGoing = uploaded !== undefined;
  const isReady = send !== undefined && !isGoing && /\S/.test(draft.body);
  const submit = async () => {
    if (!isReady) return;
    setProblems([]);
    if (draft.files.length > 0) setUploaded({});
    try {
      const tellOf = (news: { uploaded?: Readonly<Record<string, number>> }) =>
        news.uploaded && setUploaded((before) => ({ ...before, ...news.uploaded }));
      const { signal } = new AbortController();
      const ids = await publish(project.id, draft.files, { tell: tellOf, keep, signal });
      send(chosen, draft.body, ids);
    } finally {
      setUploaded(undefined);
    }
  };
  return (
    <form
      className="changes-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) submit().catch(tell);
        else field.current?.focus();
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') close();
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit().catch(tell);
      }}
    >
      <label className="changes-text">
        What is to be changed in version {version}
        <textarea
          ref={field}
          className="input"
          rows={4}
          maxLength={mostChars}
          value={draft.body}
          required
          readOnly={isGoing}
          aria-describedby={says}
          onPaste={(event) => {
            const pasted = filesOf(event.clipboardData).files;
            // Of what has a text and its picture, such as cells of a sheet, the text is meant.
            if (isGoing || pasted.length === 0 || event.clipboardData.types.includes('text/html')) return;
            event.preventDefault();
            add(pasted).catch(tell);
          }}
          onChange={({ target }) => change({ ...draft, body: target.value })}
        />
      </label>
      {draft.files.length === 0 ? null : (
        <AttachedFiles files={draft.files} going={uploaded && { uploaded }} remove={remove} />
      )}
      <div role="alert" className="composer-wrongs">
        {problems.map((words) => (
          <p key={words}>{visible(words)}</p>
        ))}
      </div>
      {decided}
      <div className="decide-acts">
        <label className="field">
          To{' '}
          <select value={chosen} onChange={({ target }) => change({ ...draft, recipient: target.value })}>
            {agents.map((agent) => (
              <option key={agent.id} value={agent.id}>
                {nameOf(agent)}
                {agent.id === submitter ? ', who submitted it' : ''}
              </option>
            ))}
          </select>
        </label>
        {send === undefined ? null : (
          <>
            <AttachButton
              className="button"
              disabled={isGoing}
              onFiles={(given) => void add(given).then(() => field.current?.focus(), tell)}
            >
              <Icon name="clip" /> Attach files
            </AttachButton>
            <button type="submit" className="button button-filled" aria-disabled={isGoing} aria-describedby={says}>
              {isGoing ? 'Uploading …' : 'Send back'}
            </button>
          </>
        )}
        <button type="button" className="button" onClick={close}>
          Close
        </button>
        <p id={says} className="decide-says">
          {decided !== null ? null : send === undefined ? (
            'Changes of this version cannot be requested any more. What you have written stays here.'
          ) : (
            <>
              <bdi>{named ? nameOf(named) : chosen}</bdi> reads it as mail, and <bdi translate="no">{project.id}</bdi>{' '}
              runs again.
              {draft.files.length === 0 ? '' : ' The files are published first.'}
            </>
          )}
        </p>
      </div>
    </form>
  );
}
