import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { api, keys, queries } from './api.js';

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

/** What waits for the person. */
export function useInbox() {
  return useQuery({
    queryKey: [...keys.inbox, 'items'],
    queryFn: () => api.getInbox({ query: { kind: ['report', 'failure', 'pause', 'budget', 'model'], limit: 1 } }),
  });
}

/** So many parts of the mail are read: what is older is reached once some of these are done. */
const maxParts = 10;

/**
 * What agents wrote to the person, the newest first, in parts.
 *
 * @param isAll whether what is done is among it
 */
export function useLetters(isAll: boolean) {
  return useInfiniteQuery({
    queryKey: [...keys.inbox, 'letters', isAll],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam: before }) => {
      const query = { kind: ['message' as const], limit: 200, unread: isAll ? ('false' as const) : ('true' as const) };
      const { items, previous } = await api.getInbox({
        query: { ...query, ...(before === undefined ? {} : { before }) },
      });
      return { items: items.filter((item) => item.kind === 'message').reverse(), previous };
    },
    getNextPageParam: ({ previous }, parts) => (parts.length < maxParts ? previous : undefined),
  });
}

/** The letters of a project that the person has not done with, the newest first. */
export function useUnreadLetters(project: string) {
  return useQuery({
    queryKey: [...keys.inbox, 'unread of', project],
    queryFn: async () => {
      const { items } = await api.getInbox({ query: { project, kind: ['message'], unread: 'true', limit: 100 } });
      return items.toReversed();
    },
  });
}

/** Letters that are marked at once: as many as the server takes. */
const marked = 500;

/**
 * Marks letters as done: all, or those of a thread.
 *
 * @param until what came after this moment was not seen, and stays
 */
export async function markDone(until: string, of?: { project: string; thread: string }): Promise<void> {
  let before: string | undefined;
  try {
    do {
      const query = {
        ...{ kind: ['message' as const], unread: 'true' as const, limit: marked },
        ...(of === undefined ? {} : { project: of.project }),
        ...(before === undefined ? {} : { before }),
      };
      const { items, previous } = await api.getInbox({ query });
      const letters = items.filter((item) => item.kind === 'message' && item.at <= until);
      const those = letters.filter(
        (item) => of === undefined || (item.kind === 'message' && item.message.threadId === of.thread),
      );
      if (those.length > 0) await api.markRead({ body: { items: those.map(({ id }) => id) } });
      before = previous;
    } while (before !== undefined);
  } finally {
    await queries.invalidateQueries({ queryKey: keys.inbox });
  }
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
