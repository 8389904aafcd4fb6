import type { Note } from '@suzumio/sdk/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { Failure } from '../../parts/failure.js';
import { bytes, count } from '../../parts/numbers.js';
import { Moment } from '../../parts/time.js';
import { visible } from '../../parts/visible.js';
import { openDialog } from './dialogs.js';
import { ForgetDialog, NoteDialog, RedactNoteDialog } from './note-dialogs.js';
import { type NotesOf, useNotesAccess } from './notes-access.js';

/** How many are shown at first. */
const firstShown = 20;
const mostShown = 1000;

/** The notes of an agent or of a profile: found by words, added, changed and erased. */
export default function Notes({ of, name }: { of: NotesOf; name: string }) {
  const access = useNotesAccess(of);
  const [words, setWords] = useState('');
  const [q, setQ] = useState('');
  const [limit, setLimit] = useState(firstShown);
  const notes = useQuery({ queryKey: [...access.key, q, limit], queryFn: () => access.list(q, limit) });
  const { items = [], use, previous } = notes.data ?? {};
  return (
    <div className="notes">
      <div className="notes-head">
        <form
          role="search"
          onSubmit={(event) => {
            event.preventDefault();
            setQ(words.trim());
          }}
        >
          <label>
            <span className="visually-hidden">Search the notes of {name}</span>
            <input
              type="search"
              className="input"
              placeholder="Search by words, then Enter"
              maxLength={400}
              value={words}
              onChange={({ target }) => {
                setWords(target.value);
                if (target.value === '') setQ('');
              }}
            />
          </label>
        </form>
        {access.mayWrite ? (
          <button type="button" className="button" onClick={() => openDialog(<NoteDialog of={of} name={name} />)}>
            Add a note…
          </button>
        ) : null}
      </div>
      {notes.error ? <Failure error={notes.error} again={() => void notes.refetch()} /> : null}
      {notes.data && items.length === 0 ? (
        <p className="quiet">
          {q === '' ? (
            'Nothing is noted yet.'
          ) : (
            <>No note has any of these words. They are whole: {beginning(q)} finds those that begin so.</>
          )}
        </p>
      ) : null}
      <ol className="notes-list" aria-label={`Notes of ${name}`}>
        {items.map((note) => (
          <li key={note.id} className="note">
            <Writer note={note} />
            {/* As it is written: no text of an agent is a heading of this page. */}
            <p className="notes-text">
              <bdi>{visible(note.text)}</bdi>
            </p>
            {access.mayWrite ? (
              <div className="notes-acts">
                <button
                  type="button"
                  className="button"
                  onClick={() => openDialog(<NoteDialog of={of} name={name} note={note} />)}
                >
                  Edit… <span className="visually-hidden">{note.id}</span>
                </button>
                <button
                  type="button"
                  className="button"
                  onClick={() => openDialog(<ForgetDialog of={of} name={name} note={note} />)}
                >
                  Erase… <span className="visually-hidden">{note.id}</span>
                </button>
                {access.mayRedact ? (
                  <button
                    type="button"
                    className="button"
                    onClick={() => openDialog(<RedactNoteDialog of={of} note={note} />)}
                  >
                    Remove for good… <span className="visually-hidden">{note.id}</span>
                  </button>
                ) : null}
              </div>
            ) : null}
          </li>
        ))}
      </ol>
      {previous !== undefined && limit < mostShown ? (
        <button type="button" className="button" onClick={() => setLimit(Math.min(limit * 5, mostShown))}>
          Show more
        </button>
      ) : null}
      {use === undefined || use.notes === 0 ? null : (
        <p className="quiet">
          {count(use.notes)} of {count(use.maxNotes)} notes, {bytes(use.bytes)} of {bytes(use.maxBytes)}
        </p>
      )}
    </div>
  );
}

/** The last of the words that were looked for, as a beginning. */
function beginning(q: string) {
  return <code translate="no">{visible(`${q.split(/\s+/).at(-1)?.replaceAll(/[*"]/g, '') ?? ''}*`)}</code>;
}

function Writer({ note: { author, project, turn, createdAt, editedBy, editedAt, tags } }: { note: Note }) {
  return (
    <p className="quiet notes-by">
      <bdi>{visible(author)}</bdi>
      {turn === null ? null : (
        <>
          {' '}
          in{' '}
          <Link href={`/p/${project}/turns/${turn}`} className="evidence">
            {`turn ${turn}`}
          </Link>{' '}
          of <bdi translate="no">{project}</bdi>
        </>
      )}
      , <Moment at={createdAt} />
      {editedAt === null ? null : (
        <>
          , changed by <bdi>{visible(editedBy ?? '')}</bdi> <Moment at={editedAt} />
        </>
      )}
      {tags.map((tag) => (
        <span key={tag} className="notes-tag">
          <bdi>{visible(tag)}</bdi>
        </span>
      ))}
    </p>
  );
}
