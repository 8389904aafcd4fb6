import { type Artifact } from '@suzumio/sdk/client';
import { useQuery } from '@tanstack/react-query';
import { api, keys } from './api.js';
import { beginningOf } from './parts/preview.js';
import { useGrowing } from './parts/use-growing.js';

const partFiles = 100;
const mostVersions = 500;

/** A name that was published under: its newest version, and how many there are. */
export interface Published {
  id: string;
  seq: number;
  newest: Artifact;
  versions: number;
}

/** The names that were published under in a project, that of the newest artifact first. */
export function useFiles(project: string) {
  return useGrowing<Published>([...keys.project(project), 'artifacts'], async (place) => {
    const query = { latest: 'true', limit: partFiles, order: 'desc', ...place } as const;
    const { items, ...further } = await api.listArtifacts({ project, query });
    const files = items.map(({ versions = 1, ...newest }) => ({
      id: newest.name,
      seq: newest.seq,
      newest,
      versions,
    }));
    return { ...further, items: files };
  });
}

/** An artifact with the newest versions of its name, the newest first, and how many there are. */
export interface Versions {
  version: Artifact;
  versions: Artifact[];
  count: number;
}

export function useVersions(project: string, id: string | undefined) {
  return useQuery({
    queryKey: [...keys.project(project), 'versions', id],
    enabled: id !== undefined,
    queryFn: async (): Promise<Versions> => {
      const version = await api.getArtifact({ project, artifact: id ?? '' });
      const { name } = version;
      const [{ items: versions }, latest] = await Promise.all([
        api.listArtifacts({ project, query: { name, limit: mostVersions, order: 'desc' } }),
        api.listArtifacts({ project, query: { name, latest: 'true', limit: 1 } }),
      ]);
      return { version, versions, count: latest.items[0]?.versions ?? versions.length };
    },
    // Another version of the same name is shown at once.
    placeholderData: (old) => {
      const version = old?.versions.find((one) => one.id === id);
      return old && version && { ...old, version };
    },
  });
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
