import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { allItems } from '@suzumio/contract/client/all-items';
import { type Client, createClient } from '@suzumio/contract/client/client';
import type { ApiAddress } from '@suzumio/contract/client/make-client';
import { isSuzumioError, messageOf, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { ArtifactView } from '@suzumio/contract/model/views';
import type { ProjectReads } from './project-reads.js';

/** A running server: every operation of its API, and what commands read by several of them. */
export type ApiClient = ApiAddress & Client & ProjectReads;

/** A client of a server. Every method throws a SuzumioError: the server's own, or `server-unreachable`. */
export function createApiClient(address: ApiAddress): ApiClient {
  const client = createClient(address);
  return { ...address, ...client, ...readsOf(client) };
}

/** Where a path of the API is, on a server that may be below a path of its own. */
export function addressOf(url: string, path: string): URL {
  return new URL(`${url.replace(/\/+$/, '')}${path}`);
}

function readsOf(api: Client): ProjectReads {
  return {
    projects: async () =>
      (await allItems((after: string | undefined) => api.listProjects({ query: { after } }))).map(({ id }) => id),
    async details({ labels = {}, statuses }) {
      const label = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
      const wanted = {
        ...(label.length > 0 ? { label } : {}),
        ...(statuses === undefined ? {} : { status: statuses }),
      };
      const items = await allItems((after: string | undefined) =>
        api.listProjects({ query: { include: 'detail', ...wanted, after } }),
      );
      return {
        details: items.flatMap(({ detail }) => detail ?? []),
        broken: items.flatMap(({ id, problem }) => (problem ? [{ id, ...problem }] : [])),
      };
    },
    detail: (project) => api.getProject({ project }),
    why: (project, agent) => api.whyAgent({ project, agent }),
    messages: async (project, limit) => (await api.listMessages({ project, query: { limit } })).items,
    message: (project, message) => api.getMessage({ project, message }),
    thread: async (project, thread, limit) => (await api.listThread({ project, thread, query: { limit } })).items,
    inbox: async (project, limit, { agent, undelivered }) =>
      (await api.listInbox({ project, query: { limit, agent, undelivered: undelivered ? 'true' : 'false' } })).items,
    tasks: async (project, limit, which) => (await api.listTasks({ project, query: { limit, ...which } })).items,
    turns: async (project, limit, agent?: string) => (await api.listTurns({ project, query: { limit, agent } })).items,
    turn: (project, turn) => api.getTurn({ project, turn }),
    conversation: (project, turn) =>
      allItems((after) => api.getTurnConversation({ project, turn, query: { limit: 1000, after } }), 0),
    log: (project, turn, attempt) => api.getTurnLog({ project, turn, query: { attempt } }),
    toolCalls: async (project, limit, turn?: string) =>
      (await api.listToolCalls({ project, query: { limit, turn } })).items,
    artifacts: async (project, limit) => (await api.listArtifacts({ project, query: { limit } })).items,
    async artifact(project, name) {
      const artifact = await api.getArtifact({ project, artifact: name }).catch((error: unknown) => {
        if (!isSuzumioError(error, 'artifact-unknown')) throw error;
      });
      if (artifact) return artifact;
      const [newest] = (await api.listArtifacts({ project, query: { name, limit: 1 } })).items;
      if (newest) return newest;
      throw artifactUnknown(project, name);
    },
    entries: async (project, { id }) => (await api.listArtifactEntries({ project, artifact: id })).items,
    content: (project, { id }, file?) =>
      api.getArtifactContent({ project, artifact: id, query: file === undefined ? {} : { path: file.path } }),
    events: async (project, limit) => (await api.listEvents({ project, query: { limit } })).items,
    usage: ({ by, project, from, to }) =>
      api.getUsage({ query: { by, project, from: isoTime(from), to: isoTime(to) } }),
    budgets: async (project) => (await api.getBudget({ project })).items,
    memory: async (project, agent) => (await api.getMemory({ project, agent })).items,
    report: (project, version) => api.getReport({ project, query: { version } }),
  };
}

function isoTime(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}

/** Nothing is published under what a person gave as an id or a name. */
export function artifactUnknown(project: string, name: string): SuzumioError {
  return new SuzumioError('artifact-unknown', `Nothing is published as "${name}" in ${project}.`, { artifact: name });
}

/** What a person says of a file that is published. */
export interface PublishOptions {
  readonly name?: string;
  readonly description?: string;
}

/** Publishes a file of this machine. */
export async function publishFile(
  api: Client,
  project: string,
  file: string,
  { name = basename(file), description }: PublishOptions,
): Promise<ArtifactView> {
  return api.uploadArtifact({ project, query: { name, description }, body: await blobOf(file) });
}

/** A file that is read while it is sent. */
async function blobOf(file: string): Promise<Blob> {
  let isFile: boolean;
  try {
    isFile = (await stat(file)).isFile();
    if (isFile) return await openAsBlob(file);
  } catch (error) {
    throw new SuzumioError('invalid-request', `${file} cannot be read: ${messageOf(error)}.`, {}, { cause: error });
  }
  throw new SuzumioError('invalid-request', `${file} is not a file; a person publishes single files.`);
}
