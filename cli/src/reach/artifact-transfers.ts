import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { isSuzumioError, messageOf, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { artifactListAnswer, entryListAnswer } from '@suzumio/contract/model/http-api';
import { type ArtifactView, artifactView } from '@suzumio/contract/model/views';
import { type ApiAddress, type ApiRequests, unreachable } from './api-requests.js';
import type { ProjectReads } from './project-reads.js';

/** What a person says of a file that is published. */
export interface PublishOptions {
  readonly name?: string;
  readonly description?: string;
}

/** Artifacts of a server, to and from this machine. A transfer takes as long as it takes. */
export function createArtifactTransfers({ url }: ApiAddress, requests: ApiRequests) {
  const reads = {
    async artifact(project, name) {
      const artifact = await requests.json(artifactView, 'GET', pathOf(project, name)).catch((error: unknown) => {
        if (!isSuzumioError(error, 'artifact-unknown')) throw error;
      });
      if (artifact) return artifact;
      const query = new URLSearchParams({ name, limit: '1' }).toString();
      const { items } = await requests.json(artifactListAnswer, 'GET', `${pathOf(project)}?${query}`);
      const [newest] = items;
      if (newest) return newest;
      throw artifactUnknown(project, name);
    },
    entries: async (project, { id }) =>
      (await requests.json(entryListAnswer, 'GET', `${pathOf(project, id)}/entries`)).items,
    async content(project, { id }, file?) {
      const query = file === undefined ? '' : `?${new URLSearchParams({ path: file.path }).toString()}`;
      return bytesOf(await requests.ask(`${pathOf(project, id)}/content${query}`, { method: 'GET' }), url);
    },
  } satisfies Pick<ProjectReads, 'artifact' | 'entries' | 'content'>;

  return {
    ...reads,
    async publish(
      project: string,
      file: string,
      { name = basename(file), description }: PublishOptions,
    ): Promise<ArtifactView> {
      const query = new URLSearchParams({ name, ...(description === undefined ? {} : { description }) }).toString();
      const headers = { 'content-type': 'application/octet-stream' };
      const body = await blobOf(file);
      return requests.parsedAs(
        artifactView,
        await requests.ask(`${pathOf(project)}?${query}`, { method: 'POST', headers, body }),
      );
    },
  };
}

/** Nothing is published under what a person gave as an id or a name. */
export function artifactUnknown(project: string, name: string): SuzumioError {
  return new SuzumioError('artifact-unknown', `Nothing is published as "${name}" in ${project}.`, { artifact: name });
}

/** A file whose bytes are read when they are sent. */
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

async function* bytesOf({ body }: Response, url: string): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) yield chunk;
  } catch (error) {
    throw unreachable(url, error);
  }
}

function pathOf(project: string, artifact?: string): string {
  const artifacts = `/api/projects/${encodeURIComponent(project)}/artifacts`;
  return artifact === undefined ? artifacts : `${artifacts}/${encodeURIComponent(artifact)}`;
}
