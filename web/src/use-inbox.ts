import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { api, keys } from './api.js';

/** The projects in which an agent has failed, and waits for the person. */
export function useFailed(): ReadonlySet<string> {
  const projects = useInboxCounts().data?.projects ?? [];
  return new Set(projects.flatMap(({ project, failures }) => (failures > 0 ? [project] : [])));
}

/** How much waits for the person, in total and by project. */
export function useInboxCounts() {
  return useQuery({ queryKey: [...keys.inbox, 'counts'], queryFn: () => api.countInbox() });
}

/** What of one project waits for the person. */
export function useWaiting(project: string) {
  return useQuery({
    queryKey: [...keys.project(project), 'waiting'],
    queryFn: () =>
      api.getInbox({ query: { project, kind: ['report', 'failure', 'pause', 'budget', 'model'], limit: 1 } }),
  });
}

/** What people have decided, the newest first, in parts. */
export function useDecided() {
  return useInfiniteQuery({
    queryKey: keys.decided,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: before }) =>
      api.listDecided({ query: { limit: 30, ...(before === undefined ? {} : { before }) } }),
    getNextPageParam: ({ previous }) => previous,
    maxPages: 20,
  });
}

/** What waits for the person, and what agents sent them. */
export function useInbox() {
  return useQuery({
    queryKey: [...keys.inbox, 'items'],
    queryFn: () => api.getInbox({ query: { limit: 200 } }),
  });
}

/** The same for notifications: it is read when what is counted has changed, or mail came, and not at each event. */
export function useNews(enabled: boolean) {
  const counts = useInboxCounts().data;
  return useQuery({
    queryKey: [...keys.news, counts],
    queryFn: () => api.getInbox({ query: { limit: 50 } }),
    enabled: enabled && counts !== undefined,
    // The same counts may be of other items.
    staleTime: 0,
    gcTime: 0,
  });
}
