import type { Agent, ProjectDetail, Why } from '@suzumio/sdk/client';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { api, keys } from './api.js';

/** Workers have no events: what depends on them is asked again after a while. */
const everyMs = 15_000;

/** Why an agent is quiet, or what it is at; asked again when the agent is in another state. */
export function useWhy(project: string, agent: Agent) {
  const { id, state, paused, stopping, activeTurn, unread } = agent;
  const turn = activeTurn && [activeTurn.id, activeTurn.status, activeTurn.attempt];
  return useQuery({
    queryKey: [...keys.why(project), id, state, stopping, paused !== null, unread, turn],
    queryFn: () => api.whyAgent({ project, agent: id }),
    refetchInterval: everyMs,
    placeholderData: (before) => (before?.agent === id && before.project === project ? before : undefined),
  });
}

/**
 * What leads on after an agent's turn has failed, and what a person has to know before; null where it goes on already.
 *
 * @param failure names that failure; without it, nothing is asked
 */
export function useHelp(project: string, agent: string, failure: string | undefined) {
  return useQuery({
    queryKey: [...keys.why(project), agent, 'after', failure],
    queryFn: async () =>
      (await api.whyAgent({ project, agent })).reasons.find(({ code }) => code === 'agent-failed') ?? null,
    enabled: failure !== undefined,
  });
}

/** What a project's first agents wait for, by their ids, as far as it is known. */
export function useWhys({ project, agents }: ProjectDetail): ReadonlyMap<string, Why> {
  const states = agents.map(({ state, stopping, paused, unread, activeTurn }) => [
    ...[state, stopping, paused !== null, unread > 0],
    ...[activeTurn?.id, activeTurn?.status],
  ]);
  const calm = useCalm(JSON.stringify(states));
  const { data } = useQuery({
    queryKey: [...keys.why(project.id), { of: 'all' }, calm],
    queryFn: () => api.whyProject({ project: project.id }),
    refetchInterval: everyMs,
    placeholderData: (before) => (before?.items[0]?.project === project.id ? before : undefined),
  });
  return useMemo(() => new Map(data?.items.map((why) => [why.agent, why])), [data]);
}

/** A value as it is once it has stayed the same for a moment, or has changed for a while. */
function useCalm(value: string): string {
  const [calm, setCalm] = useState(value);
  const since = useRef<number>(undefined);
  useEffect(() => {
    if (value === calm) return undefined;
    since.current ??= performance.now();
    const leftMs = Math.min(calmMs, since.current + mostCalmMs - performance.now());
    const timer = setTimeout(() => {
      since.current = undefined;
      setCalm(value);
    }, leftMs);
    return () => clearTimeout(timer);
  }, [value, calm]);
  return calm;
}

const [calmMs, mostCalmMs] = [200, 1_000];
