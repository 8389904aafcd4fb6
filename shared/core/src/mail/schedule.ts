import type { AgentState } from '@suzumio/contract/model/states';
import type { ProjectStatus } from '@suzumio/contract/model/project-status';
import type { Priority } from '@suzumio/protocol/ids';

/** What the rule needs to know of a project. */
export interface SchedulableProject {
  readonly status: ProjectStatus;
  /** Turns of this project at a time; without it there is no bound. */
  readonly maxConcurrentTurns?: number;
  /** Turns that are queued or running, but for those of external agents. */
  readonly activeTurns: number;
}

/** What the rule needs to know of an agent. */
export interface SchedulableAgent {
  readonly id: string;
  readonly state: AgentState;
  /**
   * Whether a handler runs its turns. A handler has a bound of its own, and its turns take no slot of another agent while
   * it is away.
   */
  readonly external: boolean;
  readonly unread: {
    readonly count: number;
    /** The most urgent priority among the unread messages. */
    readonly urgent: Priority;
    /** The sequence number of the oldest unread message. */
    readonly oldestSeq: number;
  };
}

/**
 * The `nonpreemptive-mailbox` rule: which agents get a turn now, in the order in which they get it. Only mail starts a
 * turn, an agent that works is left alone, and nothing that is running makes way for what is more urgent.
 */
export function readyAgents(project: SchedulableProject, agents: readonly SchedulableAgent[]): string[] {
  if (project.status !== 'running') return [];
  let free = (project.maxConcurrentTurns ?? Infinity) - project.activeTurns;
  return agents
    .filter((agent) => agent.state === 'quiet' && agent.unread.count > 0)
    .sort((a, b) => byUrgency(a.unread, b.unread))
    .filter(({ external }) => external || free-- > 0)
    .map((agent) => agent.id);
}

/** `P0` sorts before `P3` as text does. */
function byUrgency(a: SchedulableAgent['unread'], b: SchedulableAgent['unread']): number {
  if (a.urgent !== b.urgent) return a.urgent < b.urgent ? -1 : 1;
  return a.oldestSeq - b.oldestSeq;
}
