import type { Note } from '@suzumio/sdk/client';
import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import type { Difference } from '../difference.js';
import { isConflict, Meanwhile } from '../meanwhile.js';
import { visible } from '../../parts/visible.js';
import { Failure } from '../../parts/failure.js';
import { ActDialog } from './act-dialog.js';
import { type NotesAccess, type NotesOf, useNotesAccess } from './notes-access.js';
import { Going, RedactDialog } from './redact-dialog.js';
import { useRun } from './use-run.js';

interface Props {
  of: NotesOf;
  /** Whose they are, for people. */
  name: string;
}

/** Adds a note, or changes one. */
export function NoteDialog({ of, name, note }: Props & { note?: Note }) {
  const id = useId();
  const access = useNotesAccess(of);
  const run = useRun(access.changes);
  const [text, setText] = useState(note?.text ?? '');
  const [tags, setTags] = useState(note?.tags.join(', ') ?? '');
  const now = useNoteNow(access, isConflict(run.error) ? note : undefined);
  const save = (base: number | undefined, close: () => void) => {
    const body = { text, tags: tagsIn(tags) };
    const edit = note && base !== undefined ? access.edit(note.id, { ...body, baseVersion: base }) : access.add(body);
    run.ask(edit, '', undefined, close);
  };
  return (
    <ActDialog
      title={
        note === undefined ? (
          <>
            A note for <bdi translate="no">{name}</bdi>
          </>
        ) : (
          <>
            Change a note of <bdi translate="no">{name}</bdi>
          </>
        )
      }
      // What has changed meanwhile says why it was refused.
      run={now ? { ...run, error: null } : run}
      ask={(close) => save(note?.version, close)}
      does={now ? undefined : note === undefined ? 'Note it' : 'Save'}
      doing={note === undefined ? 'Noting…' : 'Saving…'}
      will={`${id}-will`}
    >
      {(close) => (
        <>
          <label className="dialog-field">
            <span>Text</span>
            <textarea className="input" rows={8} value={text} onChange={({ target }) => setText(target.value)} />
          </label>
          <label className="dialog-field">
            <span>
              Tags <span className="quiet">with commas between; may be empty</span>
            </span>
            <input className="input" value={tags} onChange={({ target }) => setTags(target.value)} />
          </label>
          <p id={`${id}-will`} className="quiet">
            {'profile' in of
              ? 'Every agent of this profile finds it when it looks, in any project.'
              : 'It finds it when it looks, and is not woken: send mail for what is to be done now.'}
          </p>
          {note && now ? (
            <Meanwhile
              what="The note"
              base={note.version}
              now={{ ...now, at: now.editedAt ?? now.createdAt }}
              differences={differencesOf(note, now, { text, tags: tagsIn(tags) })}
              isPending={run.isPending}
              save={() => save(now.version, close)}
            />
          ) : null}
        </>
      )}
    </ActDialog>
  );
}

/** Erases a note. */
export function ForgetDialog({ of, name, note }: Props & { note: Note }) {
  const id = useId();
  const access = useNotesAccess(of);
  const run = useRun(access.changes);
  const now = useNoteNow(access, isConflict(run.error) ? note : undefined);
  const shown = now ?? note;
  return (
    <ActDialog
      title="Erase this note?"
      // The note as it is by now says why it was refused.
      run={now ? { ...run, error: null } : run}
      ask={(close) => run.ask(access.forget(note.id, shown.version), '', undefined, close)}
      stay="Keep it"
      does="Erase"
      doing="Erasing…"
      will={`${id}-will`}
    >
      {now ? (
        <p role="alert">
          {now.editedBy === null ? (
            'It was changed'
          ) : (
            <>
              <bdi>{visible(now.editedBy)}</bdi> has changed it
            </>
          )}{' '}
          meanwhile, and nothing is erased yet. It is this by now:
        </p>
      ) : null}
      <Going text={shown.text} />
      <p id={`${id}-will`}>
        <bdi translate="no">{name}</bdi> will not find it again. The records of turns that wrote or read it stay as they
        are.
        {access.mayRedact ? ' “Remove for good…” takes it out of these, too.' : ''}
      </p>
    </ActDialog>
  );
}

/** Removes a note, and what is recorded of it. */
export function RedactNoteDialog({ of, note }: { of: NotesOf; note: Note }) {
  const access = useNotesAccess(of);
  return (
    <RedactDialog changes={access.changes} request={access.redact(note.id)} what="note">
      <NoteTexts access={access} note={note} />
    </RedactDialog>
  );
}

/** All that a note is known to have said: read for this dialog alone, as it goes. */
function NoteTexts({ access, note }: { access: NotesAccess; note: Note }) {
  const { id } = note;
  const record = useQuery({ queryKey: ['note-record', id], queryFn: () => access.record(id), gcTime: 0 });
  if (record.error) return <Failure error={record.error} again={() => void record.refetch()} />;
  return (
    <>
      {(record.data?.versions ?? [note]).map(({ text, tags }) => (
        <Going key={text} text={tags.length === 0 ? text : `${text}\n\nTags: ${tags.join(', ')}`} />
      ))}
    </>
  );
}

/** A note as it is by now, where it is not what was read. */
function useNoteNow({ key, get }: NotesAccess, note: Note | undefined): Note | undefined {
  const { data } = useQuery({
    // Below what is read again after each try.
    queryKey: [...key, 'now', note?.id],
    queryFn: () => get(note?.id ?? ''),
    enabled: note !== undefined,
    gcTime: 0,
  });
  return note && data;
}

/** What another has changed of a note, beside what is written: all of that is saved. */
function differencesOf(read: Note, now: Note, written: { text: string; tags: string[] }): Difference[] {
  const words = ({ text, tags }: Pick<Note, 'text' | 'tags'>) => ({ Text: text, Tags: tags.join(', ') });
  const [before, after, mine] = [words(read), words(now), words(written)];
  return (['Text', 'Tags'] as const)
    .filter((name) => before[name] !== after[name])
    .map((name) => ({ name, before: before[name], after: after[name], isMine: mine[name] !== after[name] }));
}

function tagsIn(text: string): string[] {
  return text
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
}
