import type { Client } from '@suzumio/sdk/client';
import type { QueryKey } from '@tanstack/react-query';
import { type ReactNode, useId, useState } from 'react';
import { visible } from '../../parts/visible.js';
import { ActDialog } from './act-dialog.js';
import { type Asked, useRun } from './use-run.js';

type Redacted = Awaited<ReturnType<Client['redactMessage']>>;

/** So much of a text is shown before it goes. */
const mostShown = 4_000;

/** The text that goes. */
export function Going({ text }: { text: string }) {
  return (
    <pre translate="no" className="dialog-text" tabIndex={0}>
      <bdi>{visible(text.slice(0, mostShown))}</bdi>
      {text.length > mostShown ? '\n…' : ''}
    </pre>
  );
}

/** What each of them loses. */
const goes = {
  message: ['Remove the text of this message?', 'This text goes'],
  artifact: ['Remove the content of this file?', 'This content and its description go'],
  note: ['Remove this note for good?', 'The note and all that it has said go'],
} as const;

/**
 * Removes the content of a message, a file or a note, which cannot be undone.
 *
 * @param children what goes
 */
export function RedactDialog({
  changes,
  request,
  what,
  children,
}: {
  /** What is read again: of a project, or these. */
  changes: string | readonly QueryKey[];
  request: Asked;
  what: keyof typeof goes;
  children: ReactNode;
}) {
  const id = useId();
  const run = useRun(changes);
  const [title, will] = goes[what];
  const [because, setBecause] = useState('');
  const body = because.trim() === '' ? {} : { because: because.trim() };
  return (
    <ActDialog
      title={title}
      run={run}
      ask={() => run.ask({ ...request, params: { ...request.params, body } }, '')}
      done={() => (
        <>
          <p role="status">It is removed, and its copies in what the project has recorded.</p>
          <ul className="dialog-left">
            {(run.answer as Redacted).left.map(({ what: kind, detail }) => (
              <li key={kind + detail}>{detail}</li>
            ))}
          </ul>
        </>
      )}
      stay="Keep it"
      does="Remove for good"
      doing="Removing…"
      will={`${id}-will`}
    >
      {children}
      <p id={`${id}-will`}>
        {will}, and so do copies in what the project has recorded. It cannot be had back. Agents that know it begin
        their turns anew.
      </p>
      <label className="dialog-field">
        <span>
          Why <span className="quiet">kept and shown; may be empty</span>
        </span>
        <input className="input" value={because} onChange={({ target }) => setBecause(target.value)} />
      </label>
    </ActDialog>
  );
}
