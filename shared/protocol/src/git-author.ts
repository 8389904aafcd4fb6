import type { RunnerTurnInput } from './runner.js';

/** Whom Git names for a commit. */
export interface GitAuthor {
  name: string;
  email: string;
}

/** The agent as the author of its commits. */
export function authorOf({ project, agent }: Pick<RunnerTurnInput, 'project' | 'agent'>): GitAuthor {
  return { name: agent.displayName ?? agent.id, email: `${agent.id}@${project}.invalid` };
}
