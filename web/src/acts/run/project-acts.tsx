import type { Project, ProjectDetail } from '@suzumio/sdk/client';
import { useLocation } from 'wouter';
import { some } from '../../parts/numbers.js';
import { useWaiting } from '../../use-inbox.js';
import { useWho } from '../../who.js';
import { useMay } from '../use-act.js';
import { projectAllows } from './allowed.js';
import { ActButton, Bar } from './bar.js';
import { BudgetDialog } from './budget-dialog.js';
import { DeleteDialog } from './delete-dialog.js';
import { openDialog } from './dialogs.js';
import { useKeys } from '../keys.js';
import { LabelsDialog } from './labels-dialog.js';
import { Menu, MenuItem } from './menu.js';
import { asked, showProject, useRun } from './use-run.js';

/** What is done to a project as a whole: the acts that its status allows. */
export default function ProjectActs({ detail: { project, agents } }: { detail: ProjectDetail }) {
  const { id } = project;
  const may = useMay();
  const who = useWho();
  const run = useRun(id);
  const [place] = useLocation();
  const waits = (useWaiting(id).data?.items.length ?? 0) > 0;
  const isPaused = project.paused !== null;
  const isOpen = project.status === 'running' || project.status === 'submitted';
  const mayPause = isOpen && may(isPaused ? 'resumeProject' : 'pauseProject');
  const turnPause = () =>
    isPaused
      ? run.ask(asked('resumeProject', { project: id }), `${id} goes on.`, () => showPause(id, null))
      : run.ask(asked('pauseProject', { project: id }), `${id} is paused.`, () => showPause(id, who.name));
  // On the page of an agent the key is the agent's.
  const hasKey = !place.startsWith(`/p/${id}/agents/`);
  useKeys({ pause: mayPause && hasKey ? turnPause : undefined });
  const atWork = agents.filter(({ activeTurn }) => activeTurn !== null).length;
  const stop = (now: boolean) => run.ask(asked('stopProject', { project: id, body: { now } }), `${id} is stopped.`);
  return (
    <Bar label={`Run ${id}`} run={run} className="project-acts">
      {projectAllows('start', project) && may('startProject') ? (
        <ActButton
          does="Start"
          will={
            project.status === 'initialized'
              ? 'Its mail starts turns at once.'
              : 'Mail that waits starts turns at once.'
          }
          isFilled={!waits}
          run={run}
          onAct={() => run.ask(asked('startProject', { project: id }), `${id} runs.`)}
        />
      ) : null}
      {mayPause ? (
        <ActButton
          does={isPaused ? 'Resume' : 'Pause'}
          will={
            isPaused ? 'Its agents start turns again.' : 'While it is paused no turn begins; what runs goes to its end.'
          }
          hotkey={hasKey ? 'pause' : undefined}
          run={run}
          onAct={turnPause}
        />
      ) : null}
      {projectAllows('stop', project) && project.status !== 'initialized' && may('stopProject') ? (
        <Menu name="Stop">
          <MenuItem
            does="Stop"
            will={`No turn begins any more.${atWork > 0 ? ' Those that run go to their end.' : ''} Mail is taken, and waits.`}
            onAct={() => stop(false)}
          />
          {atWork > 0 ? (
            <MenuItem
              does="Stop now"
              will={`The same, and ${some(atWork, 'turn')} ${atWork === 1 ? 'is' : 'are'} cancelled: what has run is ended at once.`}
              onAct={() => stop(true)}
            />
          ) : null}
        </Menu>
      ) : null}
      <More project={project} run={run} />
    </Bar>
  );
}

function showPause(id: string, by: string | null): () => void {
  const paused = by === null ? null : { by, at: new Date().toISOString(), reason: null };
  return showProject(id, (detail) => ({ ...detail, project: { ...detail.project, paused } }));
}

function More({ project, run }: { project: Project; run: ReturnType<typeof useRun> }) {
  const { id } = project;
  const may = useMay();
  const mays = (['tickProject', 'changeBudget', 'labelProject', 'deleteProject'] as const).filter(may);
  if (mays.length === 0) return null;
  return (
    <Menu name="More">
      {may('tickProject') && project.status === 'running' ? (
        <MenuItem
          does="Look for work now"
          will="A scheduler looks at it at once, instead of in a while. It changes nothing."
          onAct={() => run.ask(asked('tickProject', { project: id }), 'A scheduler was told to look.')}
        />
      ) : null}
      {may('changeBudget') ? (
        <MenuItem
          does="Change its budget…"
          will="Other limits than those of its file, beside what is used of them."
          onAct={() => openDialog(<BudgetDialog project={id} agent={null} />)}
        />
      ) : null}
      {may('labelProject') ? (
        <MenuItem
          does="Labels…"
          will="What it is filed under. They mean nothing to Suzumio."
          onAct={() => openDialog(<LabelsDialog project={id} />)}
        />
      ) : null}
      {may('deleteProject') ? (
        <MenuItem
          does="Delete…"
          will="Removes everything that is stored of it. It cannot be had back."
          onAct={() => openDialog(<DeleteDialog project={project} />)}
        />
      ) : null}
    </Menu>
  );
}
