import { useQuery } from '@tanstack/react-query';
import { api, keys } from './api.js';

/** What waits for the person, and what agents sent them. */
export function useInbox() {
  return useQuery({ queryKey: keys.inbox, queryFn: () => api.getInbox({ query: { limit: 200 } }) });
}
