import type { Client } from '@suzumio/sdk/client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { api, keys } from '../../../api.js';

export type Version = Awaited<ReturnType<Client['getConfigVersion']>>;
export type VersionRow = Awaited<ReturnType<Client['listConfigVersions']>>['items'][number];
export type Change = Awaited<ReturnType<Client['diffConfig']>>['changes'][number];

const part = 50;
const mostParts = 10;

/** The versions of a project's file, the newest first. */
export function useVersions(project: string) {
  return useInfiniteQuery({
    queryKey: [...keys.project(project), 'config-versions'],
    initialPageParam: undefined as number | undefined,
    queryFn: ({ pageParam: before }) =>
      api.listConfigVersions({
        project,
        query: { limit: part, order: 'desc', ...(before === undefined ? {} : { before }) },
      }),
    // What was shown is read again with each event: the first of the parts has to stay the newest, so there are few.
    getNextPageParam: ({ previous }, parts) => (parts.length < mostParts ? previous : undefined),
  });
}

/** One version, which never changes. */
export function useVersion(project: string, version: number | undefined) {
  return useQuery({
    queryKey: ['config-version', project, version],
    queryFn: () => api.getConfigVersion({ project, version: String(version) }),
    enabled: version !== undefined,
    gcTime: 60_000,
  });
}

/** What one version says otherwise than another. */
export function useComparison(project: string, version: number, from: number) {
  return useQuery({
    queryKey: ['config-comparison', project, version, from],
    queryFn: () => api.compareConfigVersions({ project, version: String(version), query: { from } }),
    enabled: from >= 1,
    gcTime: 60_000,
  });
}
