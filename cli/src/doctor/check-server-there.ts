import { allItems } from '@suzumio/contract/client/all-items';
import { createClient } from '@suzumio/contract/client/client';
import { isSuzumioError, messageOf } from '@suzumio/contract/errors/suzumio-error';
import type { SystemAnswer } from '@suzumio/contract/operations/service';
import { version as own } from '@suzumio/runtime/version';
import { type ApiClient, createApiClient } from '../reach/api-client.js';
import { tokenFor } from '../reach/server-token.js';
import { count, size } from '../render/format.js';
import type { Session } from '../session.js';
import { broken, type Finding, ok, skipped } from './check.js';
import { checkClock } from './check-machine.js';
import { serverClock } from './check-server.js';
import { judgeQueue, judgeService, judgeSystem } from './check-system.js';
import { judgeWorkers } from './check-workers.js';

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
    const system = await api.getSystem();
    return [
      ...judgeSystem(system, session.suzumio),
      judgeData(system),
      judgeDisk(system),
      ...(system.workers === null ? [] : await workersOf(api, session)),
    ];
  } catch (error) {
    const away = queue === 'away' ? [judgeQueue({ kind: 'redis', turns: null })] : [];
    if (isSuzumioError(error, 'forbidden')) {
      return [...away, skipped('system', 'services, workers and disk are shown to tokens of the whole cell only')];
    }
    const remedy = isSuzumioError(error, 'unauthenticated')
      ? 'set SUZUMIO_URL to that server and SUZUMIO_TOKEN to a token of it'
      : "the server's log says what is wrong";
    return [...away, broken('system', messageOf(error), remedy)];
  }
}

async function workersOf(api: ApiClient, session: Session): Promise<Finding[]> {
  return judgeWorkers(
    await allItems((after: string | undefined) => api.listWorkers({ query: { after } })),
    session.suzumio,
  );
}

/** Its API writes a heartbeat to the data directory each second. */
function judgeData(system: SystemAnswer): Finding {
  const { unreadable, projects } = system;
  const beat = judgeService(system, 'api', 'the API answers and cannot write to its data directory');
  if (beat.state === 'broken')
    return { ...beat, what: 'data', remedy: 'see that it is writable and its disk has room' };
  if (unreadable.length === 0) return ok('data', `is written to, ${count(projects, 'project')}`);
  return broken(
    'data',
    `${unreadable.slice(0, 10).join(', ')} cannot be read (${unreadable.length} of ${count(projects, 'project')})`,
    "the server's log says why; suzumio verify, on its machine, looks into all that is stored",
  );
}

function judgeDisk({ disk }: SystemAnswer): Finding {
  if (disk === null) return skipped('disk', 'how much is free is not known');
  const free = `${size(disk.freeBytes)} free`;
  if (disk.shortFor.length === 0) return ok('disk', free);
  return broken('disk', `${free}: too little for ${disk.shortFor.join(', ')}`, 'make room there');
}
