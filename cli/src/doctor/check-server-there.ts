import { createClient } from '@suzumio/contract/client/client';
import { isSuzumioError, messageOf } from '@suzumio/contract/errors/suzumio-error';
import { version as own } from '@suzumio/runtime/version';
import { createApiClient } from '../reach/api-client.js';
import { tokenFor } from '../reach/server-token.js';
import type { Session } from '../session.js';
import { broken, type Finding, ok, skipped } from './check.js';
import { checkClock } from './check-machine.js';
import { serverClock } from './check-server.js';
import { toldHere } from './check-system.js';

/** Checks a server that was asked for by name, by what it answers. Of this machine, only the clock is compared. */
export async function checkServerThere(session: Session, url: string): Promise<Finding[]> {
  let health;
  try {
    health = await createClient({ url }).getHealth();
  } catch (error) {
    return [broken('server', messageOf(error), 'see that the address is right and a server runs there')];
  }
  const { version, queue } = health;
  const beside = version === own ? '' : `; this command is of version ${own}`;
  const clock = await serverClock(url, session.context.now);
  return [
    ok('server', `answers at ${url}, version ${version}${beside}`),
    ...(await checkCell(session, url, queue)),
    checkClock(clock ? [clock] : []),
  ];
}

/** What only tokens of the whole cell may see; less where the session's is of another kind. */
async function checkCell(session: Session, url: string, queue: 'ok' | 'away'): Promise<Finding[]> {
  try {
    const api = createApiClient({ url, token: await tokenFor(session, url) });
    const { findings } = await api.getSystem();
    return findings.map((finding) => toldHere(finding, session.suzumio));
  } catch (error) {
    const away =
      queue === 'away'
        ? [broken('queue', 'the API cannot reach Redis', 'start Redis, or correct SUZUMIO_REDIS_URL')]
        : [];
    if (isSuzumioError(error, 'forbidden')) {
      return [...away, skipped('system', 'services, workers and disk are shown to tokens of the whole cell only')];
    }
    const remedy = isSuzumioError(error, 'unauthenticated')
      ? 'set SUZUMIO_URL to that server and SUZUMIO_TOKEN to a token of it'
      : "the server's log says what is wrong";
    return [...away, broken('system', messageOf(error), remedy)];
  }
}
