import type { System } from '@suzumio/sdk/client';
import { useQuery } from '@tanstack/react-query';
import { api, keys } from './api.js';
import { useWho } from './who.js';

export type SystemState = System;

const everyMs = 5_000;

/** How the server is, asked every five seconds while the page is seen; for sessions of the whole cell. */
export function useSystem() {
  const { project } = useWho();
  return useQuery({
    queryKey: keys.system,
    queryFn: () => api.getSystem(),
    enabled: project === null,
    refetchInterval: everyMs,
  });
}
