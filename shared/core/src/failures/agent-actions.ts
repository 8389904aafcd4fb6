import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { AgentState } from '@suzumio/contract/model/states';

/** An operator's actions on one agent. */
export type AgentAction = 'retry' | 'reset' | 'redeliver' | 'stop' | 'start' | 'pause';

/** An agent as these rules see it. */
export interface ActedOnAgent {
  readonly id: string;
  readonly state: AgentState;
  /** Whether it stops once its turn has ended. */
  readonly stopping: boolean;
}

/**
 * The states that allow each action. A running agent can be told to stop, and until it has, told not to; a cancelled
 * turn, which leaves its agent quiet, can be retried like a failed one.
 */
const allowedIn: Readonly<Record<AgentAction, readonly AgentState[]>> = {
  retry: ['failed', 'quiet'],
  reset: ['failed'],
  redeliver: ['failed', 'quiet', 'stopped'],
  stop: ['quiet', 'running'],
  start: ['stopped'],
  pause: ['quiet', 'running', 'failed', 'stopped'],
};

/**
 * Checks that an agent's state allows an action.
 *
 * @throws SuzumioError `agent-state-refused`, which names the state, the action and the states that allow it
 */
export function assertAgentAllows(agent: ActedOnAgent, action: AgentAction): void {
  if (action === 'start' && agent.stopping) return;
  const states = allowedIn[action];
  if (states.includes(agent.state) && !(action === 'stop' && agent.stopping)) return;
  if (agent.state === 'retired') {
    throw new SuzumioError(
      'agent-state-refused',
      `Agent ${agent.id} was retired, so "${action}" is refused: a version of the project's file that has it again brings it back.`,
      { agent: agent.id, state: agent.state, action },
    );
  }
  const state = agent.stopping ? 'running and will stop after its turn' : agent.state;
  const allowed = new Intl.ListFormat('en', { type: 'disjunction' }).format(states);
  throw new SuzumioError(
    'agent-state-refused',
    `Agent ${agent.id} is ${state}, so "${action}" is refused: it needs an agent that is ${allowed}.`,
    { agent: agent.id, state: agent.state, action, allowedIn: states },
  );
}
