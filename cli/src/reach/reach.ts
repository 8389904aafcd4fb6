import type { Client } from '@suzumio/contract/client/client';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { DataDirectory } from '@suzumio/store/cell/data-directory';
import type { Session } from '../session.js';
import { addressOf, type ApiClient, createApiClient } from './api-client.js';
import { openDirectory } from './open-directory.js';
import { findServer } from './server-file.js';
import { tokenFor } from './server-token.js';

const pingWithinMs = 2_000;

/** The running server, or undefined when none serves this data directory. A server asked for by name is always used. */
export async function findApi(session: Session): Promise<ApiClient | undefined> {
  const { root, url } = session;
  if (url !== undefined) return createApiClient({ url, token: await tokenFor(session, url) });
  const server = await findServer(new DataDirectory(root));
  if (server === undefined || !(await answers(server.url))) return undefined;
  return createApiClient({ url: server.url, token: await tokenFor(session, server.url) });
}

/**
 * The running server.
 *
 * @throws SuzumioError `server-unreachable` when there is none
 */
export async function requireApi(session: Session): Promise<ApiClient> {
  const api = await findApi(session);
  if (api) return api;
  throw new SuzumioError('server-unreachable', `No Suzumio server is running for ${session.root}.`);
}

/** Where to read from: the server where one runs, else the data directory itself. */
export async function findReads(session: Session): Promise<Client> {
  return (await findApi(session)) ?? openDirectory(session);
}

/**
 * Where tokens, profiles and teams are kept: with a server that was asked for by name, else in the data directory, whose
 * owner needs none, whether a server runs or not.
 */
export async function findKept(session: Session): Promise<Client> {
  const { url } = session;
  return url === undefined ? openDirectory(session) : createApiClient({ url, token: await tokenFor(session, url) });
}

/** Whether a server answers, rather than another process with the id of one that died. */
async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(addressOf(url, '/health'), { signal: AbortSignal.timeout(pingWithinMs) })).ok;
  } catch {
    return false;
  }
}
