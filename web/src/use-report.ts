import { useQuery } from '@tanstack/react-query';
import { api, keys } from './api.js';

/** The newest versions of a project's report: who submitted each, and what was decided on it. */
export function useReports(project: string) {
  return useQuery({
    queryKey: [...keys.project(project), 'reports'],
    queryFn: async () => (await api.listReports({ project, query: { limit: 200 } })).items,
  });
}

/** The text of one version of a project's report. */
export function useReport(project: string, version: number) {
  return useQuery({
    queryKey: [...keys.project(project), 'report', version],
    queryFn: () => api.getReport({ project, query: { version } }),
  });
}
