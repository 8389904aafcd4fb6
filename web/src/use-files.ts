import { type Artifact } from '@suzumio/sdk/client';
import { useQuery } from '@tanstack/react-query';
import { api, keys } from './api.js';
import { beginningOf } from './parts/preview.js';

const newest = 500;

/** A name that was published under: its versions, the newest first. */
export interface Published {
  name: string;
  versions: [Artifact, ...Artifact[]];
}

/** What was published in a project, the newest first. */
export function useFiles(project: string) {
  return useQuery({
    queryKey: [...keys.project(project), 'artifacts'],
    queryFn: async () => {
      const { items, previous, next } = await api.listArtifacts({ project, query: { limit: newest, order: 'desc' } });
      return { files: byName(items), hasMore: previous !== undefined || next !== undefined };
    },
  });
}

function byName(artifacts: readonly Artifact[]): Published[] {
  const names = new Map<string, Published>();
  for (const artifact of artifacts) {
    const known = names.get(artifact.name);
    if (known) known.versions.push(artifact);
    else names.set(artifact.name, { name: artifact.name, versions: [artifact] });
  }
  return [...names.values()];
}

/** The beginning of a published file. Content never changes. */
export function useContent(project: string, artifact: Artifact, path?: string) {
  return useQuery({
    queryKey: ['content', project, artifact.id, path ?? ''],
    enabled: artifact.redacted === null && (artifact.kind === 'file' || path !== undefined),
    gcTime: 60_000,
    queryFn: async ({ signal }) => {
      const query = path === undefined ? {} : { path };
      const content = await api.getArtifactContent({ project, artifact: artifact.id, query }, { signal });
      return beginningOf(path ?? artifact.name, content);
    },
  });
}
