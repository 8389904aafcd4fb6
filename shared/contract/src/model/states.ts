/**
 * An agent's states. `running` begins when its turn is queued; `failed` and `stopped` end only by an operator's action,
 * `retired` by a version of the project's file that has the agent again.
 */
export const agentStates = ['quiet', 'running', 'failed', 'stopped', 'retired'] as const;
export type AgentState = (typeof agentStates)[number];

/** A turn's states. `running` goes back to `queued` for another attempt. */
export const turnStatuses = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const;
export type TurnStatus = (typeof turnStatuses)[number];
