import { isSuzumioError, messageOf } from '@suzumio/contract/errors/suzumio-error';
import type { SystemAnswer } from '@suzumio/contract/operations/service';
import { findApi } from '../reach/reach.js';
import { count } from '../render/format.js';
import type { Session } from '../session.js';
import { broken, type Finding, ok, skipped } from './check.js';

/** The services and the queue of the server that runs; nothing where none does. */
export async function checkSystem(session: Session): Promise<Finding[]> {
  try {
    const api = await findApi(session);
    return api ? judgeSystem(await api.getSystem(), session.suzumio) : [];
  } catch (error) {
    // A server of an earlier version.
    if (isSuzumioError(error, 'not-found')) return [];
    return [skipped('services', messageOf(error))];
  }
}

/** @param suzumio how the command is called */
export function judgeSystem(system: SystemAnswer, suzumio: string): Finding[] {
  return [
    judgeService(system, 'scheduler', 'no turn starts'),
    ...judgeToolHosts(system),
    judgeQueue(system.queue),
    ...judgeMail(system, suzumio),
  ];
}

/** Whether one of the processes that do some service is alive; `effect` says what comes of it where none is. */
export function judgeService(
  { services }: SystemAnswer,
  service: 'api' | 'scheduler' | 'toolhost',
  effect: string,
): Finding {
  const own = services.filter((one) => one.service === service);
  const alive = own.filter((one) => one.alive);
  if (alive.length > 0) return ok(service, `${alive.length} alive, on ${hostsOf(alive)}`);
  const seen = own
    .map(({ seenAt }) => seenAt)
    .sort()
    .at(-1);
  const when = seen === undefined ? 'none has been seen lately' : `the last was seen at ${seen}`;
  return broken(service, `none is alive (${when}): ${effect}`, `start it again; its log says why it ended`);
}

function hostsOf(services: SystemAnswer['services']): string {
  return [...new Set(services.map(({ host }) => host))].slice(0, 3).join(', ');
}

/** Those that beat, and those that do not answer the API. */
function judgeToolHosts(system: SystemAnswer): Finding[] {
  const silent = system.toolhosts.filter(({ version }) => version === null);
  return [
    judgeService(system, 'toolhost', 'no turn can be claimed'),
    ...silent.map(({ url, problem }) =>
      broken(
        'toolhost',
        `${url} does not answer the API (${problem ?? 'no reason is known'})`,
        'start it, or correct SUZUMIO_TOOLHOST_URLS of the API',
      ),
    ),
  ];
}

export function judgeQueue({ kind, turns }: SystemAnswer['queue']): Finding {
  if (turns === null) return broken('queue', 'the API cannot reach Redis', 'start Redis, or correct SUZUMIO_REDIS_URL');
  const where = kind === 'redis' ? 'Redis' : 'in memory';
  return ok('queue', `${where}: ${turns.waiting} waiting, ${turns.active} active, ${turns.delayed} delayed`);
}

/** What went wrong in projects is no fault of the machine. */
function judgeMail({ failures, undelivered }: SystemAnswer, suzumio: string): Finding[] {
  const [failure] = failures.items;
  const [mail] = undelivered.items;
  return [
    ...(failure ? [skipped('agents', `${count(failures.agents, 'agent')} failed; ${suzumio} ${failure.next}`)] : []),
    ...(mail
      ? [skipped('mail', `${count(undelivered.messages, 'message')} undelivered; ${suzumio} ${mail.next}`)]
      : []),
  ];
}
