import type { ServerFinding, SystemAnswer, WorkerView } from '@suzumio/contract/operations/service';
import { bytesInWords } from '@suzumio/contract/model/storage';

type Seen = Omit<SystemAnswer, 'findings'>;

const ok = (what: string, detail: string): ServerFinding => ({ what, state: 'ok', detail, remedy: null, next: null });
const skipped = (what: string, detail: string, next: string | null = null): ServerFinding => ({
  what,
  state: 'skipped',
  detail,
  remedy: null,
  next,
});
const broken = (what: string, detail: string, remedy: string, next: string | null = null): ServerFinding => ({
  what,
  state: 'broken',
  detail,
  remedy,
  next,
});

/**
 * Says of what was seen what is well, what is broken, and what mends it.
 *
 * @param workers those of the fleet that serve this cell; null where they are unknown
 */
export function judgeSystem(seen: Seen, workers: readonly WorkerView[] | null): ServerFinding[] {
  return [
    judgeService(seen, 'scheduler', 'no turn starts'),
    ...judgeToolHosts(seen),
    judgeQueue(seen.queue),
    ...judgeMail(seen),
    ...judgeModels(seen),
    judgeData(seen),
    judgeDisk(seen),
    ...(workers === null ? [] : judgeWorkers(workers)),
  ];
}

/** Whether one of the processes that do some service is alive; `effect` says what comes of it where none is. */
function judgeService({ services }: Seen, service: 'api' | 'scheduler' | 'toolhost', effect: string): ServerFinding {
  const own = services.filter((one) => one.service === service);
  const alive = own.filter((one) => one.alive);
  if (alive.length > 0) return ok(service, `${alive.length} alive, on ${hostsOf(alive)}`);
  const last = own
    .map(({ seenAt }) => seenAt)
    .sort()
    .at(-1);
  const when = last === undefined ? 'none has been seen lately' : `the last was seen at ${last}`;
  return broken(service, `none is alive (${when}): ${effect}`, 'start it again; its log says why it ended');
}

function hostsOf(services: Seen['services']): string {
  return [...new Set(services.map(({ host }) => host))].slice(0, 3).join(', ');
}

/** Those that beat, and those that do not answer the API. */
function judgeToolHosts(seen: Seen): ServerFinding[] {
  const silent = seen.toolhosts.filter(({ version }) => version === null);
  return [
    judgeService(seen, 'toolhost', 'no turn can be claimed'),
    ...silent.map(({ url, problem }) =>
      broken(
        'toolhost',
        `${url} does not answer the API (${problem ?? 'no reason is known'})`,
        'start it, or correct SUZUMIO_TOOLHOST_URLS of the API',
      ),
    ),
  ];
}

function judgeQueue({ kind, turns }: Seen['queue']): ServerFinding {
  if (turns === null) return broken('queue', 'the API cannot reach Redis', 'start Redis, or correct SUZUMIO_REDIS_URL');
  const where = kind === 'redis' ? 'Redis' : 'in memory';
  return ok('queue', `${where}: ${turns.waiting} waiting, ${turns.active} active, ${turns.delayed} delayed`);
}

/** What went wrong in projects is no fault of the server. */
function judgeMail({ failures, undelivered }: Seen): ServerFinding[] {
  const [failure] = failures.items;
  const [mail] = undelivered.items;
  return [
    ...(failure ? [skipped('agents', `${count(failures.agents, 'agent')} failed`, failure.next)] : []),
    ...(mail ? [skipped('mail', `${count(undelivered.messages, 'message')} undelivered`, mail.next)] : []),
  ];
}

/** Another preset may have answered instead, so that nothing else shows them. */
function judgeModels({ models }: Seen): ServerFinding[] {
  return models
    .slice(0, mostNamed)
    .map(({ project, preset, code, message, at }) =>
      broken(
        'models',
        `preset ${preset} of ${project} refuses since ${at} (${code}): ${message}`,
        'mend what it says; the next answer of the preset clears this',
      ),
    );
}

/** The API writes a heartbeat to the data directory each second. */
function judgeData(seen: Seen): ServerFinding {
  const { unreadable, projects } = seen;
  const beat = judgeService(seen, 'api', 'the API answers and cannot write to its data directory');
  if (beat.state === 'broken')
    return { ...beat, what: 'data', remedy: 'see that it is writable and its disk has room' };
  if (unreadable.length === 0) return ok('data', `is written to, ${count(projects, 'project')}`);
  return broken(
    'data',
    `${unreadable.slice(0, 10).join(', ')} cannot be read (${unreadable.length} of ${count(projects, 'project')})`,
    "the server's log says why, and on its machine this looks into all that is stored",
    'verify',
  );
}

function judgeDisk({ disk }: Seen): ServerFinding {
  if (disk === null) return skipped('disk', 'how much is free is not known');
  const free = `${bytesInWords(disk.freeBytes)} free`;
  if (disk.shortFor.length === 0) return ok('disk', free);
  return broken('disk', `${free}: too little for ${disk.shortFor.join(', ')}`, 'make room there');
}

function judgeWorkers(workers: readonly WorkerView[]): ServerFinding[] {
  const lost = workers.filter(({ state }) => state === 'lost');
  const faults = [...lost.map(loss), ...workers.filter(({ state }) => state === 'not-ready').map(fault)];
  const ready = workers.length - faults.length;
  const named = faults.slice(0, mostNamed);
  if (ready > 0) return [ok('workers', `${ready} connected`), ...named];
  if (lost.length < faults.length) return named;
  return [...named, skipped('workers', 'none is connected: turns wait for one')];
}

function loss({ worker, host, version, commit, lostSince }: WorkerView): ServerFinding {
  const where = host === null ? '' : ` on ${host}`;
  const program = version === null ? '' : ` (${[version, commit].filter(Boolean).join(' ')})`;
  return broken(
    'workers',
    `${worker}${where}${program} is lost: last heard of at ${lostSince}; its turns go on elsewhere once their leases end`,
    'start it again, or see on its host why it ended; one that was taken away on purpose leaves this list after a day',
    'workers',
  );
}

const mostNamed = 50;

/** Refusals of a worker's credential. */
const ofCredential = ['token-rejected', 'unauthenticated'];

function fault({ worker, problem }: WorkerView): ServerFinding {
  if (problem !== null && ofCredential.includes(problem)) {
    return broken(
      'workers',
      `${worker} is refused (${problem}): its credential is none of this server's, as when it was revoked or has expired`,
      'make another and give it to the worker: SUZUMIO_WORKER_TOKEN_FILE',
      'tokens create NAME --scope worker',
    );
  }
  const why = problem === null ? '' : ` (${problem})`;
  return broken('workers', `${worker} takes no turns${why}`, 'its log says what is wrong on its host');
}

const count = (amount: number, noun: string): string => `${amount} ${noun}${amount === 1 ? '' : 's'}`;
