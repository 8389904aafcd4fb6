import type { Agent } from '@suzumio/sdk/client';
import { nameOf } from './states.js';

/** Where a message is shown, in its thread. */
export function mailPath(project: string, message: number | string): string {
  return `/p/${project}/mail/${message}`;
}

export function turnPath(project: string, agent: string, number: number): string {
  return `/p/${project}/turns/${agent}:${number}`;
}

/**
 * A project's turns, those of which all of this holds.
 *
 * @param asked.on the day of UTC on which they asked models
 */
export function turnsPath(project: string, asked: { agent?: string; on?: string; model?: string }): string {
  const search = new URLSearchParams(asked).toString();
  return `/p/${project}/turns${search === '' ? '' : `?${search}`}`;
}

export function filePath(project: string, artifact: string): string {
  return `/p/${project}/files/${artifact}`;
}

export function agentPath(project: string, agent: string): string {
  return `/p/${project}/agents/${agent}`;
}

export function profilePath(nickname: string): string {
  return `/profiles/${encodeURIComponent(nickname)}`;
}

/**
 * The repository that agents share; with `to`, what differs between two commits of it.
 *
 * @param asked.from without it, all that `to` has
 * @param asked.common whether what is compared with is what both have in common
 */
export function repositoryPath(
  project: string,
  { from, to, common = false }: { from?: string | undefined; to?: string; common?: boolean } = {},
): string {
  const search = new URLSearchParams({
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(common ? { common: '1' } : {}),
  });
  return `/p/${project}/repository${search.size === 0 ? '' : `?${search.toString()}`}`;
}

/**
 * An agent's files.
 *
 * @param asked.turn the number of the turn after which; as they are now without it
 * @param asked.from the number of the turn with which they are compared
 */
export function workspacePath(
  project: string,
  agent: string,
  asked: { path?: string; turn?: number | undefined; from?: number | undefined } = {},
): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(asked)) {
    if (value !== undefined && value !== '') search.set(name, String(value));
  }
  return `/p/${project}/workspace/${agent}${search.size === 0 ? '' : `?${search.toString()}`}`;
}

/** Who is meant by a name in mail. */
export function called(id: string, agents: readonly Agent[]): string {
  if (id === 'user') return 'You';
  if (id === 'system') return 'Suzumio';
  const agent = agents.find((one) => one.id === id);
  return agent ? nameOf(agent) : id;
}

/** Whom or which channel a message went to. */
export function addressed(
  { recipient, channel }: { recipient: string | null; channel: string | null },
  agents: readonly Agent[],
): string {
  return channel ?? called(recipient ?? '', agents);
}

/** Where an item of the inbox is shown. */
export function itemPath(id: string): string {
  return `/inbox/${encodeURIComponent(id)}`;
}
