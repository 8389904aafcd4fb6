import type { Profile as ProfileView, ProfileSummary } from '@suzumio/sdk/client';
import { useId } from 'react';
import { Link, useSearchParams } from 'wouter';
import { ActDialog } from '../../acts/run/act-dialog.js';
import { openDialog } from '../../acts/run/dialogs.js';
import { Notes } from '../../acts/run/late.js';
import { asked, useRun } from '../../acts/run/use-run.js';
import { useMayInCell } from '../../acts/use-may-make.js';
import { Copyable } from '../../parts/copy.js';
import { Failure } from '../../parts/failure.js';
import { bytes, some } from '../../parts/numbers.js';
import { Moment } from '../../parts/time.js';
import { profilePath } from '../../parts/places.js';
import { visible } from '../../parts/visible.js';
import { ProfileMail } from './profile-mail.js';
import { identityKeys, mostShown, useProfile, useProfiles } from './use-people.js';

/** The profiles that agents of any project may start from; those that are retired are a list of their own. */
export function Profiles() {
  const [search, setSearch] = useSearchParams();
  const retired = search.has('retired');
  const profiles = useProfiles(retired);
  const may = useMayInCell();
  const items = profiles.data ?? [];
  const show = (past: boolean) => setSearch(past ? { retired: '' } : {}, { replace: true });
  return (
    <div className="page people">
      <div className="people-head">
        <div className="switch" role="group" aria-label="Which profiles">
          <button type="button" aria-pressed={!retired} onClick={() => show(false)}>
            In use
          </button>
          <button type="button" aria-pressed={retired} onClick={() => show(true)}>
            Retired
          </button>
        </div>
        {may('createProfile') ? (
          <Link href="/profiles?new" className="button">
            New profile
          </Link>
        ) : (
          <Copyable text="suzumio profiles create NICKNAME --role ROLE --persona FILE" />
        )}
      </div>
      <p className="quiet people-about">
        A profile is a name, a role and a way of working that outlives projects. Agents of any project start from it.
      </p>
      {profiles.error && profiles.data === undefined ? (
        <Failure error={profiles.error} again={() => void profiles.refetch()} />
      ) : null}
      {profiles.data?.length === 0 ? <p>{retired ? 'None is retired.' : 'There is no profile yet.'}</p> : null}
      <ul className="people-rows">
        {items.slice(0, mostShown).map((profile) => (
          <ProfileRow key={profile.id} profile={profile} />
        ))}
      </ul>
      {items.length > mostShown ? (
        <p className="quiet">
          The first {mostShown}. There are more:{' '}
          <Copyable text={`suzumio profiles list${retired ? ' --retired' : ''} --limit 1000`} />
        </p>
      ) : null}
    </div>
  );
}

function ProfileRow({ profile }: { profile: ProfileSummary }) {
  const { nickname, role, team, model, skills, updatedAt, retiredAt } = profile;
  return (
    <li className="people-row profile-row">
      <Link href={profilePath(nickname)} className="people-name people-open">
        <b>
          <bdi>{nickname}</bdi>
        </b>
      </Link>
      <span className="clip">
        <bdi>{visible(role)}</bdi>
      </span>
      <span className="quiet clip">{team === null ? 'in no team' : <bdi>{team}</bdi>}</span>
      <span className="quiet people-when">
        {model === null ? '' : `${visible(model)}, `}
        {some(skills.length, 'skill')}, {retiredAt === null ? 'changed ' : 'retired '}
        <Moment at={retiredAt ?? updatedAt} />
      </span>
    </li>
  );
}

/** One profile, with its texts. */
export function Profile({ nickname }: { nickname: string }) {
  const profile = useProfile(nickname);
  const may = useMayInCell();
  if (profile.data === undefined) {
    return profile.error ? <Failure error={profile.error} again={() => void profile.refetch()} /> : null;
  }
  const { role, team, model, persona, skills, createdAt, updatedAt, retiredAt } = profile.data;
  const isRetired = retiredAt !== null;
  return (
    <div className="page people">
      <div className="people-top">
        {' '}
        <nav className="crumbs" aria-label="Where this is">
          <Link href="/profiles">Profiles</Link>
        </nav>
        <div className="people-head">
          <h2 className="people-title">
            <bdi>{nickname}</bdi> <span className="people-role">{visible(role)}</span>
          </h2>
          {isRetired ? null : (
            <span className="people-acts">
              {may('sendToProfile') ? (
                <button
                  type="button"
                  className="button"
                  onClick={() => openDialog(<ProfileMail nickname={nickname} team={team} />)}
                >
                  Write…
                </button>
              ) : null}
              {may('updateProfile') ? (
                <Link href={`${profilePath(nickname)}/edit`} className="button">
                  Edit
                </Link>
              ) : null}
              {may('retireProfile') ? (
                <button
                  type="button"
                  className="button"
                  onClick={() => openDialog(<RetireDialog nickname={nickname} />)}
                >
                  Retire…
                </button>
              ) : null}
            </span>
          )}
        </div>
        <p className="facts">
          <span>
            {team === null ? (
              'in no team'
            ) : (
              <>
                {isRetired ? 'was in the team' : 'in the team'}{' '}
                <Link href={`/teams/${team}`} className="evidence">
                  <bdi>{team}</bdi>
                </Link>
              </>
            )}
          </span>
          <span>{model === null ? 'thinks with the model of its project' : <>thinks with {visible(model)}</>}</span>
          <span className="quiet">
            made <Moment at={createdAt} />, changed <Moment at={updatedAt} />
          </span>
        </p>
      </div>{' '}
      {isRetired ? (
        <p className="people-retired">
          Retired since <Moment at={retiredAt} />: no new project starts from it. Those that did go on.
        </p>
      ) : null}
      <Text title="Persona" text={persona} isOpen />
      {skills.map(({ name, text }) => (
        <Text key={name} title={name} text={text} isOpen={false} />
      ))}
      <section className="people-notes" aria-label="Memory">
        <h3>
          Memory <span className="pane-note">read by its agents in every project</span>
        </h3>
        <Notes of={{ profile: nickname }} name={nickname} />
      </section>
      {may('updateProfile') ? null : <Copyable text={`suzumio profiles show ${nickname}`} />}
    </div>
  );
}

/** What stands in every prompt: as it is written. */
function Text({ title, text, isOpen }: { title: string; text: ProfileView['persona']; isOpen: boolean }) {
  return (
    <details className="people-text" open={isOpen}>
      <summary>
        <b>
          <bdi>{visible(title)}</bdi>
        </b>{' '}
        <span className="quiet">{bytes(new TextEncoder().encode(text).length)}</span>
      </summary>
      <pre translate="no" tabIndex={0} aria-label={visible(title)}>
        {visible(text)}
      </pre>
    </details>
  );
}

function RetireDialog({ nickname }: { nickname: string }) {
  const id = useId();
  const run = useRun(identityKeys);
  return (
    <ActDialog
      title={
        <>
          Retire <bdi>{nickname}</bdi>?
        </>
      }
      run={run}
      ask={() => run.ask(asked('retireProfile', { profile: nickname }), '')}
      done={() => (
        <p role="status">
          <bdi>{nickname}</bdi> is retired.
        </p>
      )}
      stay="Keep it"
      does="Retire for good"
      doing="Retiring…"
      will={id}
    >
      <p id={id}>
        No new project starts from it, it leaves its team, and it cannot be changed any more. Projects that started from
        it go on. It is kept for history: this cannot be undone, and no other profile gets the name.
      </p>
    </ActDialog>
  );
}
