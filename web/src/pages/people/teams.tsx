import type { Team as TeamView, TeamSummary } from '@suzumio/sdk/client';
import { useId, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { keys, queries } from '../../api.js';
import { ActDialog } from '../../acts/run/act-dialog.js';
import { ActButton, Bar } from '../../acts/run/bar.js';
import { openDialog } from '../../acts/run/dialogs.js';
import { asked, useRun } from '../../acts/run/use-run.js';
import { useMayInCell } from '../../acts/use-may-make.js';
import { Copyable } from '../../parts/copy.js';
import { Failure } from '../../parts/failure.js';
import { some } from '../../parts/numbers.js';
import { visible } from '../../parts/visible.js';
import { Field } from './field.js';
import { profilePath } from '../../parts/places.js';
import { StandingProject } from './stand-up.js';
import { identityKeys, mostShown, useTeam, useTeams } from './use-people.js';

/** The teams of profiles. */
export function Teams() {
  const teams = useTeams();
  const may = useMayInCell();
  const items = teams.data ?? [];
  return (
    <div className="page people">
      <div className="people-head">
        <p className="quiet people-about">
          A team is a group of profiles. In its standing project they get mail whatever else they work at.
        </p>
        {may('createTeam') ? (
          <button type="button" className="button" onClick={() => openDialog(<NewTeam />)}>
            New team…
          </button>
        ) : (
          <Copyable text="suzumio teams create TEAM" />
        )}
      </div>
      {teams.error && teams.data === undefined ? (
        <Failure error={teams.error} again={() => void teams.refetch()} />
      ) : null}
      {teams.data?.length === 0 ? <p>There is no team yet.</p> : null}
      <ul className="people-rows">
        {items.slice(0, mostShown).map((team) => (
          <TeamRow key={team.name} team={team} />
        ))}
      </ul>
      {items.length > mostShown ? (
        <p className="quiet">
          The first {mostShown}. There are more: <Copyable text="suzumio teams list --limit 1000" />
        </p>
      ) : null}
    </div>
  );
}

function TeamRow({ team: { name, description, members, project } }: { team: TeamSummary }) {
  return (
    <li className="people-row profile-row">
      <Link href={`/teams/${name}`} className="people-name people-open">
        <b>
          <bdi translate="no">{name}</bdi>
        </b>
      </Link>
      <span className="clip">
        <bdi>{visible(description)}</bdi>
      </span>
      <span className="quiet clip">{some(members, 'member')}</span>
      <span className="quiet people-when">
        {project === null ? 'no standing project' : <bdi>standing project {project}</bdi>}
      </span>
    </li>
  );
}

/** One team: what it is for, who is in it, its standing project. */
export function Team({ name }: { name: string }) {
  const team = useTeam(name);
  const may = useMayInCell();
  // What is left of a deleted team is not read again.
  const run = useRun([]);
  const [, navigate] = useLocation();
  if (team.data === undefined) {
    return team.error ? <Failure error={team.error} again={() => void team.refetch()} /> : null;
  }
  const leave = () => {
    queries.setQueryData<TeamSummary[]>(keys.teams, (teams) => teams?.filter((one) => one.name !== name));
    navigate('/teams');
  };
  const { team: shown, differences } = team.data;
  const { description, members, project } = shown;
  const isEmpty = members.length === 0 && project === null;
  return (
    <div className="page people">
      <div className="people-top">
        {' '}
        <nav className="crumbs" aria-label="Where this is">
          <Link href="/teams">Teams</Link>
        </nav>
        <div className="people-head">
          <h2 className="people-title">
            <bdi translate="no">{name}</bdi>
          </h2>
          {may('updateTeam') ? (
            <span className="people-acts">
              <button type="button" className="button" onClick={() => openDialog(<EditTeam team={shown} />)}>
                Edit…
              </button>
            </span>
          ) : null}
        </div>
        <p className="people-lead">
          {description === '' ? <span className="quiet">Nobody has said what it is for.</span> : visible(description)}
        </p>
      </div>{' '}
      <section aria-label="Standing project">
        <h2>Standing project</h2>
        <StandingProject team={shown} differences={differences} />
      </section>
      <section aria-label="Members">
        <div className="people-head">
          <h2>
            Members <span className="quiet">{members.length}</span>
          </h2>
          {may('createProfile') ? (
            <Link href={`/profiles?new&team=${name}`} className="button">
              New member
            </Link>
          ) : null}
        </div>
        <p className="quiet">
          {members.length === 0 ? 'No profile is in it yet. ' : ''}
          {may('updateProfile') ? 'A profile that is there already joins it on its own page, with Edit.' : ''}
        </p>
        <ul className="people-rows">
          {members.slice(0, mostShown).map(({ id, nickname, role }) => (
            <li key={id} className="people-row profile-row">
              <Link href={profilePath(nickname)} className="people-name people-open">
                <b>
                  <bdi>{nickname}</bdi>
                </b>
              </Link>
              <span className="clip">
                <bdi>{visible(role)}</bdi>
              </span>
            </li>
          ))}
        </ul>
        {members.length > mostShown ? (
          <p className="quiet">
            and {some(members.length - mostShown, 'more')}: <Copyable text={`suzumio teams show ${name}`} />
          </p>
        ) : null}
      </section>
      {may('deleteTeam') && isEmpty ? (
        <Bar label={`Delete ${name}`} run={run}>
          <ActButton
            does="Delete the team"
            will="Nobody is in it and it has no project: its name is free again. Retired profiles no longer name it."
            run={run}
            onAct={() => run.ask(asked('deleteTeam', { team: name }), '', undefined, leave)}
          />
        </Bar>
      ) : null}
    </div>
  );
}

function NewTeam() {
  const id = useId();
  const run = useRun(identityKeys);
  const [, navigate] = useLocation();
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  return (
    <ActDialog
      title="New team"
      run={run}
      ask={(close) =>
        run.ask(asked('createTeam', { body: { name, description } }), '', undefined, () => {
          close();
          navigate(`/teams/${name}`);
        })
      }
      does="Make the team"
      doing="Making…"
      will={id}
    >
      <Field name="Name" hint={<>Mail to @{name === '' ? 'its name' : name} goes to all of it in a project.</>}>
        {(tied) => (
          <input
            {...tied}
            className="input"
            value={name}
            required
            autoComplete="off"
            autoCapitalize="off"
            placeholder="research"
            onChange={({ target }) => setName(target.value)}
          />
        )}
      </Field>
      <Description text={description} change={setDescription} />
      <p id={id} className="quiet">
        It begins with nobody in it: each profile says its team. Its name stays.
      </p>
    </ActDialog>
  );
}

function EditTeam({ team }: { team: TeamView }) {
  const run = useRun(identityKeys);
  const [description, setDescription] = useState(team.description);
  const id = useId();
  return (
    <ActDialog
      title={
        <>
          The team <bdi>{team.name}</bdi>
        </>
      }
      run={run}
      ask={(close) => run.ask(asked('updateTeam', { team: team.name, body: { description } }), '', undefined, close)}
      does="Save"
      doing="Saving…"
      will={id}
    >
      <Description text={description} change={setDescription} />
      <p id={id} className="quiet">
        Who is in it is said by the profiles.
      </p>
    </ActDialog>
  );
}

function Description({ text, change }: { text: string; change: (text: string) => void }) {
  return (
    <label className="dialog-field">
      <span>What it is for</span>
      <textarea
        className="input"
        rows={3}
        maxLength={2000}
        value={text}
        onChange={({ target }) => change(target.value)}
      />
    </label>
  );
}
