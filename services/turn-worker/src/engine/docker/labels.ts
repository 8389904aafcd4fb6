import type { ProjectRef, SandboxLimits } from '@suzumio/protocol/attempts';
import type { AttemptPlace } from '../turn-engine.js';

const prefix = 'suzumio.';

/** Containers of a worker's own: turns, and its probes. */
export const workerLabel = (worker: string): string => `${prefix}worker=${worker}`;
/** An image with Suzumio's own runner, which needs no shim. */
export const runnerLabel = `${prefix}runner`;
/** How long an ended container is kept, in milliseconds. */
export const keepForLabel = `${prefix}keep-for-ms`;

/** What every container of a turn is labelled with. */
export function turnLabels(worker: string, ref: AttemptPlace, limits: SandboxLimits): Record<string, string> {
  return {
    [`${prefix}worker`]: worker,
    [`${prefix}cell`]: ref.cell,
    [`${prefix}project`]: ref.project,
    [`${prefix}epoch`]: String(ref.epoch),
    [`${prefix}agent`]: ref.agent,
    [`${prefix}turn`]: ref.turn,
    ...(Number.isFinite(ref.turnNumber) ? { [`${prefix}turn-number`]: String(ref.turnNumber) } : {}),
    [`${prefix}attempt`]: String(ref.attempt),
    [keepForLabel]: String(limits.keep === 'never' ? 0 : limits.keepForMs),
  };
}

/** Any container of a turn, whichever worker's. */
export const anyTurn = `${prefix}turn`;
/** The states of a container that has not ended. */
export const mayRun = ['created', 'running', 'paused', 'restarting'];

/** Which project a container was of; undefined for one that was of none. */
export function projectOf(labels: Readonly<Record<string, string>>): ProjectRef | undefined {
  const [cell, project, epoch] = ['cell', 'project', 'epoch'].map((name) => labels[prefix + name]);
  if (cell === undefined || project === undefined || epoch === undefined) return undefined;
  return { cell, project, epoch: Number(epoch) };
}

/** Names the agent that a container was of, among all that a worker has containers of. */
export function agentOf(labels: Readonly<Record<string, string>>): string {
  return JSON.stringify(['cell', 'project', 'epoch', 'agent'].map((name) => labels[prefix + name]));
}

/** Filters for the containers of one agent, whichever worker started them. */
export function agentFilter(agent: Pick<AttemptPlace, 'cell' | 'project' | 'agent'>): string[] {
  return [`${prefix}cell=${agent.cell}`, `${prefix}project=${agent.project}`, `${prefix}agent=${agent.agent}`];
}

/** Whether a container of an agent is of a later attempt than `place`. One without these labels is of none. */
export function isLater(
  labels: Readonly<Record<string, string>>,
  place: Pick<AttemptPlace, 'epoch' | 'turnNumber' | 'attempt'>,
): boolean {
  const of = (name: string) => Number(labels[prefix + name] ?? 0);
  const steps = [of('epoch') - place.epoch, of('turn-number') - place.turnNumber, of('attempt') - place.attempt];
  return (steps.find((step) => step !== 0) ?? 0) > 0;
}

export function probeLabels(worker: string): Record<string, string> {
  return { [`${prefix}worker`]: worker, [`${prefix}probe`]: '1', [keepForLabel]: '0' };
}
