import type { Client, Team } from '@suzumio/sdk/client';
import { useQuery } from '@tanstack/react-query';
import { Fragment, useId, useState } from 'react';
import { Link } from 'wouter';
import { api, keys, wordsOf } from '../../api.js';
import { ActDialog } from '../../acts/run/act-dialog.js';
import { ActButton, Bar } from '../../acts/run/bar.js';
import { openDialog } from '../../acts/run/dialogs.js';
import { asked, useRun } from '../../acts/run/use-run.js';
import { useMayInCell } from '../../acts/use-may-make.js';
import { Copyable } from '../../parts/copy.js';
import { Failure } from '../../parts/failure.js';
import { agentPath, profilePath } from '../../parts/places.js';
import { visible } from '../../parts/visible.js';
import { ChooseFile, Refused } from '../make/choose-file.js';
import { givenFile } from '../make/given.js';
import { Changes } from '../project/setup/changes.js';
import { identityKeys } from './use-people.js';

type StoodUp = Awaited<ReturnType<Client['standUpTeam']>>;

/**
 * The project in which members of a team get mail whatever else they work at.
 *
 * @param differences how it is not as the team is by now; null where there is none
 */
export function StandingProject({
  team: { name, members, project },
  differences,
}: {
  team: Team;
  differences: StoodUp['differences'] | null;
}) {
  const may = useMayInCell();
  const run = useRun([...identityKeys, keys.projects]);
  const mayStandUp = may('standUpTeam');
  if (project === null) {
    return (
      <div className="people-line">
        <p>None yet. It is made from a project file in which the profile * stands for all members.</p>
        {members.length === 0 ? (
          <p className="quiet">It can be made once somebody is in the team.</p>
        ) : mayStandUp ? (
          <button type="button" className="button" onClick={() => openDialog(<StandUp team={name} project={null} />)}>
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
          <bdi translate="no">{project}</bdi>
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
          <ActButton
            does="Bring it up to date…"
            run={run}
            onAct={() => openDialog(<StandUp team={name} project={project} />)}
          />
        </Bar>
      ) : null}
      {differences === null ? null : <Differences project={project} {...differences} />}
    </>
  );
}

/** How the project is not as the team is by now. */
function Differences({
  project,
  absent,
  departed,
  changed,
}: StoodUp['differences'] & {
  project: string;
}) {
  const lines = [
    ['Not in it', absent, profilePath],
    ['In it, and in the team no more', departed, (id: string) => agentPath(project, id)],
    ['Changed since', changed, profilePath],
  ] as const;
  if (lines.every(([, who]) => who.length === 0)) return null;
  return (
    <ul className="people-differences" aria-label="How it differs from the team">
      {lines.map(([what, who, pathOf]) =>
        who.length === 0 ? null : (
          <li key={what}>
            {what}:{' '}
            {who.map((one, at) => (
              <Fragment key={one}>
                {at === 0 ? '' : ', '}
                <Link href={pathOf(one)} className="evidence">
                  <bdi>{visible(one)}</bdi>
                </Link>
              </Fragment>
            ))}
          </li>
        ),
      )}
    </ul>
  );
}

/** A file that every team can begin with: its members need no model yet. */
const usual = (team: string) => `name: ${team}-desk
task: Answer what the team is asked.
backend:
  runner:
    # Members play this script until they have a model to think with:
    # then mode is ai, model names a preset, and models has it (see /docs/models).
    mode: mock
    script:
      - agent: member
        steps:
          - { tool: messages.send, input: { recipient: user, body: 'I have read: {{mail.0.body}}' } }
agents:
  member: { profile: '*', tools: [messages.send, messages.reply, artifacts.read] }
`;

/** Makes a standing project from a file, or applies the file to the one that is there. */
function StandUp({ team, project }: { team: string; project: string | null }) {
  const id = useId();
  const run = useRun([...identityKeys, keys.projects]);
  const source = useQuery({
    queryKey: ['standing-file', project],
    queryFn: () => api.getProjectSource({ project: project ?? '' }),
    enabled: project !== null,
    staleTime: Infinity,
    gcTime: 0,
  });
  const [written, setWritten] = useState<string>();
  const [refused, setRefused] = useState('');
  const file = written ?? (project === null ? usual(team) : (source.data?.file ?? ''));
  const take = (chosen: File | undefined) => {
    if (chosen === undefined) return;
    givenFile(chosen).then(
      (given) => {
        setRefused('refused' in given ? given.refused : '');
        if ('text' in given) setWritten(given.text);
      },
      (error: unknown) => setRefused(wordsOf(error)),
    );
  };
  return (
    <ActDialog
      className="dialog-wide"
      title={
        <>
          The standing project of <bdi>{team}</bdi>
        </>
      }
      run={run}
      ask={() => run.ask(asked('standUpTeam', { team, body: { file } }), '')}
      done={(close) => <Done {...(run.answer as StoodUp)} close={close} />}
      does={project === null ? 'Make and start it' : 'Apply and start it'}
      doing={project === null ? 'Making…' : 'Applying…'}
      will={id}
      isReady={file.trim() !== ''}
    >
      {source.error ? <Failure error={source.error} again={() => void source.refetch()} /> : null}
      <label className="dialog-field">
        <span>Its project file. The profile * stands for every member whom it does not name.</span>
        <textarea
          className="input people-file"
          rows={10}
          spellCheck={false}
          value={file}
          onChange={({ target }) => setWritten(target.value)}
        />
      </label>
      <ChooseFile onFile={take} />
      <Refused words={refused} />
      <p id={id} className="quiet">
        {project === null
          ? 'It runs at once, and mail to members goes there.'
          : 'Members who have come are new agents, those who have gone are retired, and profiles are copied anew. Under another name it becomes another project, to which mail goes then.'}
      </p>
    </ActDialog>
  );
}

function Done({ project, made, version, changes, warnings, close }: StoodUp & { close: () => void }) {
  return (
    <>
      <p role="status">
        <Link href={`/p/${project.id}`} className="evidence" onClick={close}>
          <bdi translate="no">{project.id}</bdi>
        </Link>{' '}
        {made
          ? 'is made, and runs.'
          : changes.length === 0
            ? 'runs, and is as the file says: nothing was changed.'
            : `runs. Version ${version} of its file is in force.`}
      </p>
      {changes.length === 0 ? null : <Changes label="What was changed" changes={changes} />}
      {warnings.map((warning) => (
        <p key={warning} className="quiet">
          <bdi>{visible(warning)}</bdi>
        </p>
      ))}
    </>
  );
}
