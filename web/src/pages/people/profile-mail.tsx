import { mailLimits, type SentToProfile } from '@suzumio/sdk/client';
import { useId, useState } from 'react';
import { Link } from 'wouter';
import { ActDialog } from '../../acts/run/act-dialog.js';
import { asked, useRun } from '../../acts/run/use-run.js';
import { mailPath } from '../../parts/places.js';

/** Mail to a profile, wherever it works: it goes to the standing project of its team. */
export function ProfileMail({ nickname, team }: { nickname: string; team: string }) {
  const id = useId();
  const run = useRun([]);
  const [body, setBody] = useState('');
  return (
    <ActDialog
      title={
        <>
          Write to <bdi>{nickname}</bdi>
        </>
      }
      run={run}
      ask={() => run.ask(asked('sendToProfile', { profile: nickname, body: { body } }), '')}
      done={(close) => {
        const { project, seq } = run.answer as SentToProfile;
        return (
          <p role="status">
            It was sent.{' '}
            <Link href={mailPath(project, seq)} className="evidence" onClick={close}>
              Read it, and what is answered, in <bdi>{project}</bdi>
            </Link>
          </p>
        );
      }}
      does="Send"
      doing="Sending…"
    >
      <label className="dialog-field">
        <span id={id}>
          It goes to its agent in the standing project of the team <bdi>{team}</bdi>.
        </span>
        <textarea
          className="input"
          aria-label="What it says"
          aria-describedby={id}
          rows={6}
          required
          maxLength={mailLimits.textBytes}
          value={body}
          onChange={({ target }) => setBody(target.value)}
        />
      </label>
    </ActDialog>
  );
}
