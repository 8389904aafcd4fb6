import type { AgentState } from '@suzumio/contract/model/states';
import type { ProjectStatus } from '@suzumio/contract/model/project-status';
import type { Priority } from '@suzumio/protocol/ids';

/** A project, as the rule sees it. */
export interface SchedulableProject {
  readonly status: ProjectStatus;
  /** How many more turns may be queued or running, those of external agents excepted. */
  readonly freeSlots: number;
}

/** An agent, as the rule sees it. */
export interface SchedulableAgent {
  readonly id: string;
  readonly state: AgentState;
  /**
   * Whether a handler runs its turns. Handlers have limits of their own, and their turns take no slot of another agent.
   */
  readonly external: boolean;
  readonly unread: {
    readonly count: number;
    /** The highest priority among the unread messages. */
    readonly urgent: Priority;
    /** The sequence number of the oldest unread message. */
    readonly oldestSeq: number;
  };
}

/**
 * The `nonpreemptive-mailbox` rule: which agents get a turn now, in order. Only mail starts a turn, a working agent is
 * left alone, and running turns are never preempted.
 */
export function readyAgents(project: SchedulableProject, agents: readonly SchedulableAgent[]): string[] {
  if (project.status !== 'running') return [];
  let free = project.freeSlots;
  return agents
    .filter((agent) => agent.state === 'quiet' && agent.unread.count > 0)
    .sort((a, b) => byUrgency(a.unread, b.unread))
    .filter(({ external }) => external || free-- > 0)
    .map((agent) => agent.id);
}

/** `P0` sorts before `P3` as text. */
function byUrgency(a: SchedulableAgent['unread'], b: SchedulableAgent['unread']): number {
  if (a.urgent !== b.urgent) return a.urgent < b.urgent ? -1 : 1;
  return a.oldestSeq - b.oldestSeq;
}
