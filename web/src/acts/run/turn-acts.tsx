import type { Agent, TurnDetail } from '@suzumio/sdk/client';
import { useMay } from '../use-act.js';
import { agentAllows } from './allowed.js';
import { ActButton, Bar } from './bar.js';
import { useKeys } from '../keys.js';
import { asked, useRun } from './use-run.js';
import { afterFailure, goingOn, words } from './words.js';

/** What is done to one turn: cancelled while it waits or runs, retried where it is the last of its agent. */
export function TurnActs({ project, turn, agent }: { project: string; turn: TurnDetail; agent: Agent | undefined }) {
  const may = useMay();
  const run = useRun(project);
  const isLast = agent !== undefined && agent.activeTurn === null && turn.number === agent.turns;
  const leadsOn = afterFailure(agent?.failure ?? null);
  // A turn that was cancelled before it began has nothing to go on with.
  const isOver = turn.status === 'failed' || (turn.status === 'cancelled' && turn.attempt > 0);
  const mayGoOn = isLast && isOver && agentAllows('retry', agent) && may(leadsOn);
  const mayCancel = ['queued', 'running'].includes(turn.status) && may('cancelTurn');
  const number = String(turn.number);
  const goOn = () => run.ask(goingOn(leadsOn, project, turn.agent), words[leadsOn].did);
  useKeys({ retry: mayGoOn ? goOn : undefined });
  return (
    <Bar label={`Run turn ${number}`} run={run} className="turn-acts">
      {mayGoOn ? (
        <ActButton
          does={words[leadsOn].does}
          will={words[leadsOn].will}
          isFilled
          hotkey="retry"
          run={run}
          onAct={goOn}
        />
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
