import { mailLimits, type SentToProfile } from '@suzumio/sdk/client';
import { useId, useState } from 'react';
import { Link } from 'wouter';
import { ActDialog } from '../../acts/run/act-dialog.js';
import { asked, useRun } from '../../acts/run/use-run.js';
import { mailPath } from '../../parts/places.js';
import { useTeam } from './use-people.js';

/** Mail to a profile, wherever it works: it goes to the standing project of its team. */
export function ProfileMail({ nickname, team }: { nickname: string; team: string | null }) {
  const id = useId();
  const standing = useTeam(team ?? '').data;
  const isAway = team === null || standing?.team.project === null || standing?.differences?.absent.includes(nickname);
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
              {`Read it, and what is answered, in ${project}`}
            </Link>
          </p>
        );
      }}
      does={isAway ? undefined : 'Send'}
      doing="Sending…"
      will={id}
    >
      {(close) =>
        isAway ? (
          <p>
            Mail to a profile goes to its agent in the standing project of its team, and{' '}
            {team === null ? (
              <>
                <bdi>{nickname}</bdi> is in none: <i>Edit</i> puts it into one.
              </>
            ) : (
              <>
                {standing?.team.project == null ? (
                  'its team has none yet'
                ) : (
                  <>
                    <bdi>{nickname}</bdi> is not in it yet
                  </>
                )}
                :{' '}
                <Link href={`/teams/${team}`} className="evidence" onClick={close}>
                  {`the page of the team ${team}`}
                </Link>{' '}
                {standing?.team.project == null ? 'makes it' : 'brings it up to date'}.
              </>
            )}
          </p>
        ) : (
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
        )
      }
    </ActDialog>
  );
}
