import type { Agent, Client, Project, WorkspaceChange } from '@suzumio/sdk/client';
import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { api, keys } from '../../api.js';
import { Failure } from '../../parts/failure.js';
import { visible } from '../../parts/visible.js';
import { count, some } from '../../parts/numbers.js';
import { nameOf } from '../../parts/states.js';
import { useMay } from '../use-act.js';
import { ActDialog } from './act-dialog.js';
import { openDialog } from './dialogs.js';
import { asked, useRun } from './use-run.js';

type Changes = Awaited<ReturnType<Client['getTurnChanges']>>;
type Counts = Changes['files'];

/** So many of the files are named. */
const mostNamed = 100;

/** Opens what restores an agent's files, where an earlier state of them is looked at and nothing works on them. */
export function RestoreAct({
  project,
  agent,
  turn,
  newest,
}: {
  project: Project;
  agent: Agent | undefined;
  turn: number | undefined;
  newest: WorkspaceChange | undefined;
}) {
  const may = useMay();
  if (agent === undefined || turn === undefined || newest === undefined || !may('restoreWorkspace')) return null;
  const isWorking = (agent.activeTurn?.attempt ?? 0) > 0;
  const now = newest.restoredTurn ?? newest.turnNumber;
  if (isWorking || project.status === 'completed' || now === turn) return null;
  return (
    <button
      type="button"
      className="button"
      onClick={() => openDialog(<RestoreDialog project={project.id} agent={agent} turn={turn} now={now} />)}
    >
      Restore these files…
    </button>
  );
}

/** Makes an agent's files what they were; shows first which change. */
function RestoreDialog({ project, agent, turn, now }: { project: string; agent: Agent; turn: number; now: number }) {
  const id = useId();
  const run = useRun(project);
  // What leads back to before the first turn is what led away from it, the other way round.
  const isBack = turn === 0;
  const changes = useQuery({
    queryKey: [...keys.project(project), 'workspace', agent.id, 'restores', turn, now],
    queryFn: () =>
      api.getTurnChanges({
        project,
        turn: `${agent.id}:${String(isBack ? now : turn)}`,
        query: { from: isBack ? 0 : now, limit: mostNamed },
      }),
  });
  const files = changes.data?.files;
  const counts = files && isBack ? { ...files, added: files.removed, removed: files.added } : files;
  const when = turn === 0 ? 'before the first turn' : `after turn ${String(turn)}`;
  const name = nameOf(agent);
  return (
    <ActDialog
      title={
        <>
          Restore the files of <bdi translate="no">{name}</bdi> {when}?
        </>
      }
      run={run}
      ask={() => run.ask(asked('restoreWorkspace', { project, agent: agent.id, body: { turn } }), '')}
      done={() => (
        <p role="status">
          They are as they were {when}: {told((run.answer as { files: Counts }).files)}.
        </p>
      )}
      stay="Leave them"
      does="Restore"
      doing="Restoring…"
      will={`${id}-will`}
    >
      {changes.error ? <Failure error={changes.error} again={() => void changes.refetch()} /> : null}
      {counts && changes.data ? (
        <>
          <p>{told(counts).replace(/^./, (letter) => letter.toUpperCase())}:</p>
          <ul className="dialog-text dialog-files" tabIndex={0} aria-label="Files that change">
            {changes.data.items.map(({ path, change }) => (
              <li key={path}>
                <Sign change={isBack ? opposite[change] : change} /> <bdi>{visible(path)}</bdi>
              </li>
            ))}
            {changes.data.next === undefined ? null : <li className="quiet">and more</li>}
          </ul>
        </>
      ) : (
        <p className="quiet">Looking for what differs…</p>
      )}
      <p id={`${id}-will`}>
        The next turn of <bdi translate="no">{name}</bdi> begins with them. What they are now is kept, and can be
        restored, too.
      </p>
    </ActDialog>
  );
}

const opposite = { added: 'removed', removed: 'added', changed: 'changed' } as const;
const signs = { added: ['+', 'sign-added'], removed: ['−', 'sign-removed'], changed: ['~', 'quiet'] } as const;

function Sign({ change }: { change: keyof typeof signs }) {
  const [sign, className] = signs[change];
  return (
    <>
      <span className={className} aria-hidden>
        {sign}
      </span>
      <span className="visually-hidden">{change}</span>
    </>
  );
}

function told({ added, changed, removed }: Counts): string {
  const parts = [
    added > 0 ? `${some(added, 'file')} added` : '',
    changed > 0 ? `${count(changed)} changed` : '',
    removed > 0 ? `${count(removed)} removed` : '',
  ].filter((part) => part !== '');
  return parts.length === 0 ? 'no file changes' : parts.join(', ');
}
