import type { Agent, TurnDetail } from '@suzumio/sdk/client';
import { useMay } from '../use-act.js';
import { agentAllows } from './allowed.js';
import { ActButton, Bar } from './bar.js';
import { useKeys } from '../keys.js';
import { useGoingOn } from './use-going-on.js';
import { asked, type Run, useRun } from './use-run.js';
import { words } from './words.js';

/** What is done to one turn: cancelled while it waits or runs, retried where it is the last of its agent. */
export function TurnActs({ project, turn, agent }: { project: string; turn: TurnDetail; agent: Agent | undefined }) {
  const may = useMay();
  const run = useRun(project);
  const isLast = agent !== undefined && agent.activeTurn === null && turn.number === agent.turns;
  const mayRetry = isLast && turn.status === 'cancelled' && agentAllows('retry', agent) && may('retryAgent');
  const mayCancel = ['queued', 'running'].includes(turn.status) && may('cancelTurn');
  const number = String(turn.number);
  const retry = () => run.ask(asked('retryAgent', { project, agent: turn.agent }), `Turn ${number} is queued again.`);
  useKeys({ retry: mayRetry ? retry : undefined });
  return (
    <Bar label={`Run turn ${number}`} run={run} className="turn-acts">
      {isLast && turn.status === 'failed' ? <GoesOn project={project} agent={agent} run={run} /> : null}
      {mayRetry ? (
        <ActButton does="Retry" will={words.retryAgent.will} isFilled hotkey="retry" run={run} onAct={retry} />
      ) : null}
      {mayCancel ? (
        <ActButton
          does="Cancel turn"
          will={words.cancelTurn.will}
          run={run}
          onAct={() => run.ask(asked('cancelTurn', { project, turn: turn.id }), `Turn ${number} is cancelled.`)}
        />
      ) : null}
    </Bar>
  );
}

function GoesOn({ project, agent, run }: { project: string; agent: Agent; run: Run }) {
  const goesOn = useGoingOn(project, agent);
  const goOn = () => goesOn && run.ask(goesOn.request, goesOn.did);
  useKeys({ retry: goesOn && goOn });
  return goesOn ? (
    <ActButton does={goesOn.does} will={goesOn.will} isFilled hotkey="retry" run={run} onAct={goOn} />
  ) : null;
}
