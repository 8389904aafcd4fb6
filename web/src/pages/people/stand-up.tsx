import type { Team } from '@suzumio/sdk/client';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { keys, wordsOf } from '../../api.js';
import { ActDialog } from '../../acts/run/act-dialog.js';
import { ActButton, Bar } from '../../acts/run/bar.js';
import { openDialog } from '../../acts/run/dialogs.js';
import { asked, useRun } from '../../acts/run/use-run.js';
import { useMayInCell } from '../../acts/use-may-make.js';
import { Copyable } from '../../parts/copy.js';
import { visible } from '../../parts/visible.js';
import { givenFile } from '../make/given.js';
import { identityKeys } from './use-people.js';

/** The project in which members of a team get mail whatever else they work at. */
export function StandingProject({ team: { name, members, project } }: { team: Team }) {
  const may = useMayInCell();
  const run = useRun();
  const mayStandUp = may('standUpTeam');
  if (project === null) {
    return (
      <div className="people-line">
        <p>None yet. It is made from a project file in which the profile * stands for all members.</p>
        {mayStandUp && members.length > 0 ? (
          <button type="button" className="button" onClick={() => openDialog(<StandUp team={name} />)}>
            Make it…
          </button>
        ) : (
          <Copyable text={`suzumio teams up ${name} --from FILE`} />
        )}
      </div>
    );
  }
  return (
    <>
      <p className="people-line">
        <Link href={`/p/${project}`} className="evidence">
          <bdi>{project}</bdi>
        </Link>{' '}
        <span className="quiet">gets the mail to members. It keeps those that it was made with, as they were.</span>
      </p>
      {mayStandUp ? (
        <Bar label="The standing project" run={run}>
          <ActButton
            does="Start it"
            will="If it was stopped, it runs again. Otherwise nothing changes."
            run={run}
            onAct={() => run.ask(asked('standUpTeam', { team: name, body: {} }), `${project} runs.`)}
          />
        </Bar>
      ) : null}
    </>
  );
}

/** A file that is right for most teams. */
const usual = (team: string) => `name: ${team}-desk
task: Answer what the team is asked.
agents:
  member: { profile: '*', tools: [messages.send, messages.reply, artifacts.read] }
`;

function StandUp({ team }: { team: string }) {
  const run = useRun([...identityKeys, keys.projects]);
  const [, navigate] = useLocation();
  const [file, setFile] = useState(usual(team));
  const [refused, setRefused] = useState('');
  const take = (chosen: File | undefined) => {
    if (chosen === undefined) return;
    givenFile(chosen).then(
      (given) => {
        setRefused('refused' in given ? given.refused : '');
        if ('text' in given) setFile(given.text);
      },
      (error: unknown) => setRefused(wordsOf(error)),
    );
  };
  return (
    <ActDialog
      title={
        <>
          The standing project of <bdi>{team}</bdi>
        </>
      }
      run={run}
      ask={(close) =>
        run.ask(asked('standUpTeam', { team, body: { file } }), '', undefined, () => {
          close();
          navigate(`/teams/${team}`);
        })
      }
      does="Make and start it"
      doing="Making…"
    >
      <label className="dialog-field">
        <span>Its project file. The profile * stands for every member whom it does not name.</span>
        <textarea
          className="input make-code"
          rows={10}
          spellCheck={false}
          value={file}
          onChange={({ target }) => setFile(target.value)}
        />
      </label>
      <label className="button make-upload">
        Choose a file
        <input
          type="file"
          className="visually-hidden"
          onChange={({ target }) => {
            take(target.files?.[0]);
            target.value = '';
          }}
        />
      </label>
      {refused === '' ? null : (
        <p className="make-refused" role="alert">
          <bdi>{visible(refused)}</bdi>
        </p>
      )}
    </ActDialog>
  );
}
