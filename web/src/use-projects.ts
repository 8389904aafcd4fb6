import { type Project, allItems } from '@suzumio/sdk/client';
import { useQuery } from '@tanstack/react-query';
import { api, keys } from './api.js';

/** Every project with its counts, the newest first. */
export function useProjects() {
  return useQuery({
    queryKey: keys.projects,
    queryFn: async (): Promise<Project[]> => {
      const items = await allItems((after: string | undefined) =>
        api.listProjects({ query: { include: 'counts', order: 'desc', ...(after === undefined ? {} : { after }) } }),
      );
      return items.flatMap(({ counts }) => (counts === undefined ? [] : [counts]));
    },
  });
}
