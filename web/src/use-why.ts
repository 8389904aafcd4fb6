import type { Agent } from '@suzumio/sdk/client';
import { queryOptions, useQueries, useQuery } from '@tanstack/react-query';
import { api } from './api.js';

/** Workers have no events: what depends on them is asked again after a while. */
const everyMs = 15_000;

/** Why an agent is quiet, or what it is at; asked again when the agent is in another state. */
export function useWhy(project: string, agent: Agent, enabled = true) {
  return useQuery({ ...asked(project, agent), enabled });
}

/**
 * What leads on after an agent's turn has failed, and what a person has to know before; null where it goes on already.
 *
 * @param failure names that failure; without it, nothing is asked
 */
export function useHelp(project: string, agent: string, failure: string | undefined) {
  return useQuery({
    queryKey: ['why', project, agent, 'after', failure],
    queryFn: async () =>
      (await api.whyAgent({ project, agent })).reasons.find(({ code }) => code === 'agent-failed') ?? null,
    enabled: failure !== undefined,
  });
}

/** The same of several agents, as far as it is known. */
export function useWhys(project: string, agents: readonly Agent[]) {
  return useQueries({
    queries: agents.map((agent) => asked(project, agent)),
    combine: (all) => all.flatMap(({ data }) => data ?? []),
  });
}

function asked(project: string, { id, state, paused, stopping, activeTurn, unread }: Agent) {
  const turn = activeTurn && [activeTurn.id, activeTurn.status, activeTurn.attempt];
  return queryOptions({
    queryKey: ['why', project, id, state, stopping, paused !== null, unread, turn],
    queryFn: () => api.whyAgent({ project, agent: id }),
    refetchInterval: everyMs,
    placeholderData: (before) => (before?.agent === id && before.project === project ? before : undefined),
  });
}
