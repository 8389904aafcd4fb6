import type { WorkspaceEntry } from '@suzumio/sdk/client';
import { useQuery } from '@tanstack/react-query';
import { api, keys } from '../../../api.js';
import { beginningOf } from '../../../parts/preview.js';

/** What of a workspace is looked at. */
export interface Place {
  project: string;
  agent: string;
  /** Empty for all of it. */
  path: string;
  /** As it was after the turn of this number; undefined as it is now. */
  turn: number | undefined;
}

export type WorkspaceFile = Extract<WorkspaceEntry, { kind: 'file' }>;

const mostEntries = 500;
const mostChanges = 50;

const keyOf = ({ project, agent }: Place, what: string, ...more: unknown[]) =>
  [...keys.project(project), 'workspace', agent, what, ...more] as const;

/** What is in a directory, or the one entry that is at the path. */
export function useEntries(place: Place, isWanted = true) {
  const { project, agent, path, turn } = place;
  return useQuery({
    queryKey: keyOf(place, 'entries', path, turn),
    queryFn: () =>
      api.listWorkspaceEntries({
        project,
        agent,
        query: { limit: mostEntries, ...(path === '' ? {} : { path }), ...(turn === undefined ? {} : { turn }) },
      }),
    enabled: isWanted,
  });
}

/** What the workspace is a clone of, and where that is. */
export function useClone(place: Place) {
  const { project, agent } = place;
  return useQuery({
    queryKey: keyOf(place, 'repository'),
    queryFn: async () => (await api.getWorkspaceRepository({ project, agent })).repository,
  });
}

/** The newest changes of the workspace, or of what is at a path. */
export function useChanges(place: Place, path: string) {
  const { project, agent } = place;
  return useQuery({
    queryKey: keyOf(place, 'changes', path),
    queryFn: () =>
      api.listWorkspaceChanges({
        project,
        agent,
        query: { limit: mostChanges, order: 'desc', ...(path === '' ? {} : { path }) },
      }),
  });
}

/** The beginning of a file; its content is named by its hash. */
export function useFile({ project, agent, path, turn }: Place, { sha256 }: WorkspaceFile) {
  return useQuery({
    queryKey: ['content', project, sha256, path],
    gcTime: 60_000,
    queryFn: async ({ signal }) => {
      const query = { path, ...(turn === undefined ? {} : { turn }) };
      return beginningOf(path, await api.getWorkspaceFile({ project, agent, query }, { signal }));
    },
  });
}

/** What has changed at the path from after one turn to after another one. */
export function useDifference(place: Place, from: number, turn: number) {
  const { project, agent, path } = place;
  return useQuery({
    queryKey: keyOf(place, 'diff', path, from, turn),
    queryFn: () =>
      api.getTurnDiff({
        project,
        turn: `${agent}:${turn}`,
        query: { from, ...(path === '' ? {} : { path }) },
      }),
  });
}
