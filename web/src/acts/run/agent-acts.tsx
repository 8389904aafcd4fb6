import type { Agent } from '@suzumio/sdk/client';
import { nameOf } from '../../parts/states.js';
import { useWho } from '../../who.js';
import { useMay } from '../use-act.js';
import { agentAllows } from './allowed.js';
import { ActButton, Bar } from './bar.js';
import { BudgetDialog } from './budget-dialog.js';
import { openDialog } from './dialogs.js';
import { useKeys } from '../keys.js';
import { Menu, MenuItem } from './menu.js';
import { asked, type Run, showProject, useRun } from './use-run.js';
import { afterFailure, goingOn, words } from './words.js';

interface Props {
  project: string;
  agent: Agent;
}

/** What is done to one agent: the acts that its state allows. */
export default function AgentActs({ project, agent }: Props) {
  const may = useMay();
  const who = useWho();
  const run = useRun(project);
  const { id, paused, failure } = agent;
  const name = nameOf(agent);
  const mayPause = paused === null ? agentAllows('pause', agent) && may('pauseAgent') : may('resumeAgent');
  const leadsOn = afterFailure(failure);
  const mayGoOn = agent.state === 'failed' && failure !== null && may(leadsOn);
  const turnPause = () =>
    paused === null
      ? run.ask(asked('pauseAgent', { project, agent: id }), `${name} is paused.`, () =>
          showPause(project, id, who.name),
        )
      : run.ask(asked('resumeAgent', { project, agent: id }), `${name} goes on.`, () => showPause(project, id, null));
  const goOn = () => run.ask(goingOn(leadsOn, project, id), words[leadsOn].did);
  useKeys({ pause: mayPause ? turnPause : undefined, retry: mayGoOn ? goOn : undefined });
  if (!mayPause && !may('changeBudget')) return null;
  return (
    <Bar label={`Run ${name}`} run={run} className="agent-acts">
      {mayGoOn ? (
        <ActButton does={words[leadsOn].does} will={words[leadsOn].will} hotkey="retry" run={run} onAct={goOn} />
      ) : null}
      {agentAllows('start', agent) && may('startAgent') ? (
        <ActButton
          does="Start"
          will="It starts turns again; mail that waited starts one at once."
          run={run}
          onAct={() => run.ask(asked('startAgent', { project, agent: id }), `${name} starts turns again.`)}
        />
      ) : null}
      {mayPause ? (
        <ActButton
          does={paused === null ? 'Pause' : 'Resume'}
          will={
            paused === null
              ? 'It starts no turn; what runs goes to its end, and mail waits.'
              : 'It starts turns again, with a fresh allowance for the hour.'
          }
          hotkey="pause"
          run={run}
          onAct={turnPause}
        />
      ) : null}
      <More project={project} agent={agent} run={run} />
    </Bar>
  );
}

function showPause(project: string, id: string, by: string | null): () => void {
  const paused = by === null ? null : { by, at: new Date().toISOString(), reason: null };
  return showProject(project, (detail) => ({
    ...detail,
    agents: detail.agents.map((agent) => (agent.id === id ? { ...agent, paused } : agent)),
  }));
}

function More({ project, agent, run }: Props & { run: Run }) {
  const may = useMay();
  const { id, activeTurn, undelivered, stopping } = agent;
  // It stands outside of the menu then.
  const isOffered = agent.state === 'failed' && afterFailure(agent.failure) === 'resetAgent';
  const name = nameOf(agent);
  const isAtWork = activeTurn !== null && activeTurn.attempt > 0;
  const stop = (now: boolean) =>
    run.ask(
      asked('stopAgent', { project, agent: id, body: { now } }),
      isAtWork && !now ? `${name} stops after its turn.` : `${name} is stopped.`,
    );
  const reset = (redeliver: boolean) =>
    run.ask(
      asked('resetAgent', { project, agent: id, body: { redeliver } }),
      redeliver ? 'Its mail is unread again.' : `${name} is free for other mail.`,
    );
  return (
    <Menu name="More">
      {activeTurn !== null && may('cancelTurn') ? (
        <MenuItem
          does={`Cancel turn ${String(activeTurn.number)}`}
          will={words.cancelTurn.will}
          onAct={() =>
            run.ask(
              asked('cancelTurn', { project, turn: activeTurn.id }),
              `Turn ${String(activeTurn.number)} is cancelled.`,
            )
          }
        />
      ) : null}
      {agentAllows('reset', agent) && may('resetAgent') ? (
        <MenuItem
          does="Give the turn up"
          will="It is free for other mail. The failed turn stays as it is; what that has read counts as not delivered."
          onAct={() => reset(false)}
        />
      ) : null}
      {undelivered > 0 && agentAllows('redeliver', agent) && may('resetAgent') && !isOffered ? (
        <MenuItem
          does="Deliver its mail again"
          will="Its mail is unread again: a new turn reads it, and may repeat what an earlier one did."
          onAct={() => reset(true)}
        />
      ) : null}
      {agentAllows('stop', agent) && may('stopAgent') ? (
        <MenuItem
          does="Stop"
          will={`It starts no turn until it is started; mail waits.${isAtWork ? ' The turn that runs goes to its end.' : ''}`}
          onAct={() => stop(false)}
        />
      ) : null}
      {isAtWork && (stopping || agentAllows('stop', agent)) && may('stopAgent') ? (
        <MenuItem
          does="Stop now"
          will={`The same, and turn ${String(activeTurn.number)} is cancelled: what has run of it is ended at once.`}
          onAct={() => stop(true)}
        />
      ) : null}
      {may('changeBudget') ? (
        <MenuItem
          does="Change its budget…"
          will="Other limits than those of the project file, beside what is used of them."
          onAct={() => openDialog(<BudgetDialog project={project} agent={id} />)}
        />
      ) : null}
    </Menu>
  );
}
