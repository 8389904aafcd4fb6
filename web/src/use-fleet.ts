import { useQuery } from '@tanstack/react-query';
import { api, keys } from './api.js';
import { useWho } from './who.js';

const everyMs = 5_000;

/** The workers, asked every five seconds while the page is seen, since they have no events; for sessions of the whole cell. */
export function useFleet() {
  const { project } = useWho();
  return useQuery({
    queryKey: keys.fleet,
    queryFn: () => api.listWorkers(),
    enabled: project === null,
    refetchInterval: everyMs,
  });
}
