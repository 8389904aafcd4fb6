import { readFile } from 'node:fs/promises';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { DataDirectory } from '@suzumio/store/cell/data-directory';
import type { Session } from '../session.js';
import { findServer } from './server-file.js';

/**
 * The token for a server. A token is sent to no other server than its own: `SUZUMIO_TOKEN` to that of `SUZUMIO_URL`, or
 * to any where that is not set; the data directory's to its own server, and to one that was named together with the
 * directory.
 *
 * @throws SuzumioError `unauthenticated` where there is no token for it
 */
export async function tokenFor(session: Session, url: string): Promise<string> {
  const { SUZUMIO_TOKEN: given = '', SUZUMIO_URL: givenFor = '' } = session.context.env;
  if (given !== '' && (givenFor === '' || isSameServer(givenFor, url))) return given;
  const lacking = given === '' ? 'SUZUMIO_TOKEN is not set' : `SUZUMIO_TOKEN is for ${givenFor}`;
  const directory = new DataDirectory(session.root);
  if (!(await isOwnServer(session, directory, url))) {
    throw new SuzumioError('unauthenticated', `There is no token to show to ${url}: ${lacking}.`);
  }
  try {
    return (await readFile(directory.adminTokenFile, 'utf8')).trim();
  } catch (error) {
    const why = `${lacking}, and ${directory.adminTokenFile} cannot be read`;
    throw new SuzumioError('unauthenticated', `There is no token to show: ${why}.`, {}, { cause: error });
  }
}

async function isOwnServer(
  { url: named, rootNamed }: Session,
  directory: DataDirectory,
  url: string,
): Promise<boolean> {
  if (named === undefined || rootNamed) return true;
  const own = await findServer(directory);
  return own !== undefined && isSameServer(own.url, url);
}

/** Paths are ignored: one server answers at all of them. */
function isSameServer(one: string, other: string): boolean {
  const origin = URL.parse(one)?.origin;
  return origin !== undefined && origin === URL.parse(other)?.origin;
}
