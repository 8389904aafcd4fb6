import { useQuery } from '@tanstack/react-query';
import { api, keys } from '../../api.js';

/** The text of one version of a project's report. */
export function useReport(project: string, version: number) {
  return useQuery({
    queryKey: [...keys.project(project), 'report', version],
    queryFn: () => api.getReport({ project, query: { version } }),
  });
}
