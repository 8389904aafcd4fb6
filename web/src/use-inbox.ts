import { useQuery } from '@tanstack/react-query';
import { api, keys } from './api.js';

/** The projects in which an agent has failed, and waits for the person. */
export function useFailed(): ReadonlySet<string> {
  const inbox = useInbox();
  const items = inbox.data?.items ?? [];
  return new Set(items.flatMap((item) => (item.kind === 'failure' ? [item.project] : [])));
}

/** What waits for the person, and what agents sent them. */
export function useInbox() {
  return useQuery({ queryKey: keys.inbox, queryFn: () => api.getInbox({ query: { limit: 200 } }) });
}
