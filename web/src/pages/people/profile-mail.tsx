import { mailLimits, type SentToProfile } from '@suzumio/sdk/client';
import { useId, useState } from 'react';
import { Link } from 'wouter';
import { Outcome } from '../../acts/run/bar.js';
import { Dialog } from '../../acts/run/dialog.js';
import { asked, useRun } from '../../acts/run/use-run.js';
import { mailPath } from '../../parts/places.js';

/** Mail to a profile, wherever it works: it goes to the standing project of its team. */
export function ProfileMail({ nickname, team }: { nickname: string; team: string }) {
  const id = useId();
  const run = useRun([]);
  const [body, setBody] = useState('');
  const sent = run.isDone ? (run.answer as SentToProfile) : undefined;
  return (
    <Dialog
      title={
        <>
          Write to <bdi>{nickname}</bdi>
        </>
      }
    >
      {(close) =>
        sent ? (
          <>
            <p role="status">
              It was sent.{' '}
              <Link href={mailPath(sent.project, sent.seq)} className="evidence" onClick={close}>
                Read it, and what is answered, in <bdi>{sent.project}</bdi>
              </Link>
            </p>
            <div className="dialog-foot">
              <button type="button" className="button" data-next onClick={close}>
                Close
              </button>
            </div>
          </>
        ) : (
          <form
            onSubmit={(event) => {
              event.preventDefault();
              run.ask(asked('sendToProfile', { profile: nickname, body: { body } }), '');
            }}
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
            <Outcome run={run} />
            <div className="dialog-foot">
              <button type="button" className="button" onClick={close}>
                Close
              </button>
              <button type="submit" className="button button-filled">
                {run.isPending ? 'Sending…' : 'Send'}
              </button>
            </div>
          </form>
        )
      }
    </Dialog>
  );
}
