import type { ProjectRef, SandboxLimits } from '@suzumio/protocol/attempts';
import type { AttemptPlace } from '../turn-engine.js';

const prefix = 'suzumio.';

/** The label of a worker's containers: turns and probes. */
export const workerLabel = (worker: string): string => `${prefix}worker=${worker}`;
/** The label of images with Suzumio's own runner, which needs no shim. */
export const runnerLabel = `${prefix}runner`;
/** The toolpacks whose tools an image's runner carries out, with spaces between. */
const toolpacksLabel = `${prefix}toolpacks`;
/** What images with Suzumio's own runner start, if nobody has changed it. */
export const runnerEntrypoint = 'node /opt/suzumio/runner.mjs';
/** How long an ended container is kept, in milliseconds. */
export const keepForLabel = `${prefix}keep-for-ms`;

/** The toolpacks whose tools the runner of an image with these labels carries out. */
export function toolpacksIn(labels: Readonly<Record<string, string>> | null | undefined): string[] {
  return labels?.[toolpacksLabel]?.split(' ') ?? [];
}

/** The labels of a turn's container. */
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

/** The label of any turn's container, of all workers. */
export const anyTurn = `${prefix}turn`;
/** The states of a container that has not ended. */
export const mayRun = ['created', 'running', 'paused', 'restarting'];

/** A container's project; undefined where it has none. */
export function projectOf(labels: Readonly<Record<string, string>>): ProjectRef | undefined {
  const [cell, project, epoch] = ['cell', 'project', 'epoch'].map((name) => labels[prefix + name]);
  if (cell === undefined || project === undefined || epoch === undefined) return undefined;
  return { cell, project, epoch: Number(epoch) };
}

/** A unique key of a container's agent, among all of a worker's containers. */
export function agentOf(labels: Readonly<Record<string, string>>): string {
  return JSON.stringify(['cell', 'project', 'epoch', 'agent'].map((name) => labels[prefix + name]));
}

/** Filters for the containers of one agent, of all workers. */
export function agentFilter(agent: Pick<AttemptPlace, 'cell' | 'project' | 'agent'>): string[] {
  return [`${prefix}cell=${agent.cell}`, `${prefix}project=${agent.project}`, `${prefix}agent=${agent.agent}`];
}

/** Whether a container belongs to a later attempt than `place`. One without these labels does not. */
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
