import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { allItems } from '@suzumio/contract/client/all-items';
import { type Client, createClient } from '@suzumio/contract/client/client';
import type { ApiAddress } from '@suzumio/contract/client/make-client';
import { hintFrom } from '@suzumio/contract/errors/suggest';
import { isSuzumioError, messageOf, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { ArtifactView } from '@suzumio/contract/model/artifact';

/** A running server: every operation of its API, and where it is. */
export type ApiClient = ApiAddress & Client;

/** A client of a server. Every method throws a SuzumioError: the server's own, or `server-unreachable`. */
export function createApiClient(address: ApiAddress): ApiClient {
  return { ...address, ...createClient(address) };
}

/** Where a path of the API is, on a server that may be below a path of its own. */
export function addressOf(url: string, path: string): URL {
  return new URL(`${url.replace(/\/+$/, '')}${path}`);
}

/** Every project's id, oldest first. */
export async function allProjects(api: Client): Promise<string[]> {
  const items = await allItems((after: string | undefined) => api.listProjects({ query: { after } }));
  return items.map(({ id }) => id);
}

/**
 * One artifact by its id, or the newest of a name.
 *
 * @throws SuzumioError `artifact-unknown`
 */
export async function artifactCalled(api: Client, project: string, name: string): Promise<ArtifactView> {
  const artifact = await api.getArtifact({ project, artifact: name }).catch((error: unknown) => {
    if (!isSuzumioError(error, 'artifact-unknown')) throw error;
  });
  if (artifact) return artifact;
  const [newest] = (await api.listArtifacts({ project, query: { name, limit: 1 } })).items;
  if (newest) return newest;
  const published = (await api.listArtifacts({ project, query: { limit: 200 } })).items.map((item) => item.name);
  const message = `Nothing is published as "${name}" in ${project}${hintFrom(name, published)}`;
  throw new SuzumioError('artifact-unknown', message, { artifact: name });
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
