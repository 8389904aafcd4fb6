import type { Agent, Project } from '@suzumio/sdk/client';

const projectIn = {
  start: ['initialized', 'stopped'],
  stop: ['initialized', 'running', 'submitted'],
} as const satisfies Record<string, readonly Project['status'][]>;

/** Whether a project's status allows an act. The server is asked in any case: it knows the status of that moment. */
export function projectAllows(act: keyof typeof projectIn, { status }: Pick<Project, 'status'>): boolean {
  return (projectIn[act] as readonly string[]).includes(status);
}

const agentIn = {
  retry: ['failed', 'quiet'],
  reset: ['failed'],
  redeliver: ['failed', 'quiet', 'stopped'],
  stop: ['quiet', 'running'],
  start: ['stopped'],
  pause: ['quiet', 'running', 'failed', 'stopped'],
} as const satisfies Record<string, readonly Agent['state'][]>;

/** Whether an agent's state allows an act. */
export function agentAllows(
  act: keyof typeof agentIn,
  { state, stopping }: Pick<Agent, 'state' | 'stopping'>,
): boolean {
  if (stopping && act === 'start') return true;
  return (agentIn[act] as readonly string[]).includes(state) && !(stopping && act === 'stop');
}
