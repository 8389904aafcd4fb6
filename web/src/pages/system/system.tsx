import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import { Link, useSearchParams } from 'wouter';
import { NextAct, SystemActs } from '../../acts/run/late.js';
import { asked } from '../../acts/run/use-run.js';
import { api, isForbidden, keys, wordsOf } from '../../api.js';
import { Acts } from '../../parts/acts.js';
import { Copyable } from '../../parts/copy.js';
import { Failure } from '../../parts/failure.js';
import { Icon } from '../../parts/icon.js';
import { Mark, type MarkKind } from '../../parts/mark.js';
import { visible } from '../../parts/markdown.js';
import { bytes, count, some } from '../../parts/numbers.js';
import { Ago, Moment } from '../../parts/time.js';
import { type SystemState, useSystem } from '../../use-system.js';
import { useWho } from '../../who.js';
import { mailPath, turnPath } from '../../parts/places.js';

const everyMs = 5_000;

const marks: Readonly<Record<string, MarkKind>> = { ready: 'done', draining: 'paused', 'not-ready': 'failed' };

/** The server itself: its services, queue and workers, what stands still in projects, what it stores, who is signed in. */
export function System() {
  const who = useWho();
  useEffect(() => {
    document.title = 'System · Suzumio';
  }, []);
  const health = useQuery({ queryKey: ['health'], queryFn: () => api.getHealth(), staleTime: 60_000 });
  return (
    <>
      <header className="head">
        <h1>System</h1>
        <span className="head-note">{health.data ? `Suzumio ${health.data.version}` : ''}</span>
      </header>
      <div className="page">
        <p>
          You are <b>{who.name}</b>, with the scope <b>{who.scope}</b>
          {who.project === null ? '' : `, for the project ${who.project}`}.
          {who.access === 'open' ? ' This server asks nobody for a token (SUZUMIO_AUTH=off).' : ''}
        </p>
        {who.project === null ? <Cell /> : null}
        <Sessions />
        <WhoDidWhat />
        {who.scope === 'admin' && who.project === null ? <Refused /> : null}
      </div>
    </>
  );
}

/** What a token of the whole cell may see: asked again and again, since workers and services have no events. */
function Cell() {
  const system = useSystem();
  if (system.data === undefined) {
    return system.error ? <Failure error={system.error} again={() => void system.refetch()} /> : null;
  }
  return (
    <>
      {system.error ? (
        <p className="lost" role="status">
          What you see is of <Moment at={system.data.at} seconds />: {wordsOf(system.error)}
        </p>
      ) : null}
      <Services system={system.data} />
      <Workers elsewhere={system.data.workers?.elsewhere ?? 0} />
      <Failures failures={system.data.failures} />
      <Undelivered undelivered={system.data.undelivered} />
      <Unreadable projects={system.data.unreadable} />
      <Stored system={system.data} />
    </>
  );
}

interface Line {
  key: string;
  name: string;
  mark: MarkKind;
  word: string;
  detail: ReactNode;
}

/** Services, the queue and what is on it, a line each; each says how that is known. */
function Services({ system }: { system: SystemState }) {
  const { queue, services, toolhosts, workers, version, paused } = system;
  const lines: Line[] = [
    { key: 'api', name: 'API', mark: 'done', word: 'answers', detail: `version ${version}` },
    serviceLine('Scheduler', 'scheduler', services, 'No turn starts without one.'),
    serviceLine('ToolHost', 'toolhost', services, 'No turn can run without one.'),
    ...toolhosts.map(({ url, version: own, problem }): Line => ({
      key: url,
      name: 'ToolHost, asked',
      mark: own === null ? 'failed' : 'done',
      word: own === null ? 'does not answer' : 'answers',
      detail: (
        <>
          <code>{url}</code> {own === null ? problem : `version ${own}`}
        </>
      ),
    })),
    queueLine(queue),
    {
      key: 'workers',
      name: 'Workers',
      mark: workers === null ? 'failed' : workers.ready > 0 ? 'done' : 'paused',
      word: workers === null ? 'unknown' : `${workers.ready} of ${workers.connected} ready`,
      detail: workers === null ? 'The queue knows them.' : `${workers.busy} of ${some(workers.slots, 'slot')} busy`,
    },
  ];
  return (
    <section aria-label="Services">
      <h2>Services</h2>
      {paused === null ? null : (
        <p className="state state-paused">
          <Mark kind="paused" /> Every project is paused by <bdi>{paused.by}</bdi>.{' '}
          <NextAct next={{ operation: 'resumeCell', params: {}, asks: [] }} /> <Copyable text="suzumio resume --all" />
        </p>
      )}
      <ul className="services">
        {lines.map(({ key, name, mark, word, detail }) => (
          <li key={key} className="service">
            <Mark kind={mark} />
            <b>{name}</b>
            <span className={`state state-${mark}`}>{word}</span>
            <span className="service-detail">{detail}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function serviceLine(name: string, service: string, services: SystemState['services'], without: string): Line {
  const own = services.filter((one) => one.service === service);
  const alive = own.filter((one) => one.alive);
  const last = own.toSorted((a, b) => (a.seenAt < b.seenAt ? 1 : -1))[0];
  if (alive.length === 0) {
    return {
      key: service,
      name,
      mark: 'failed',
      word: 'not seen',
      detail: last ? (
        <>
          Last seen <Ago at={last.seenAt} /> ago. {without}
        </>
      ) : (
        without
      ),
    };
  }
  const hosts = [...new Set(alive.map(({ host }) => host))].join(', ');
  return {
    key: service,
    name,
    mark: 'done',
    word: alive.length === 1 ? 'alive' : `${alive.length} alive`,
    detail: (
      <>
        on <bdi>{hosts}</bdi>, since <Moment at={alive.map(({ since }) => since).sort()[0] ?? ''} />
      </>
    ),
  };
}

function queueLine({ kind, turns }: SystemState['queue']): Line {
  const name = kind === 'redis' ? 'Queue, in Redis' : 'Queue, in memory';
  if (turns === null) {
    return { key: 'queue', name, mark: 'failed', word: 'does not answer', detail: 'Turns start more slowly, or not.' };
  }
  const { waiting, active, delayed } = turns;
  return {
    key: 'queue',
    name,
    mark: 'done',
    word: 'answers',
    detail: `${some(waiting, 'turn')} waiting, ${count(active)} active, ${count(delayed)} delayed`,
  };
}

function Workers({ elsewhere }: { elsewhere: number }) {
  const fleet = useQuery({ queryKey: keys.fleet, queryFn: () => api.listWorkers(), refetchInterval: everyMs });
  if (fleet.error && fleet.data === undefined) {
    return <Failure error={fleet.error} again={() => void fleet.refetch()} />;
  }
  const workers = fleet.data?.items ?? [];
  return (
    <section aria-label="Workers">
      <h2>Workers</h2>
      {fleet.data && workers.length === 0 ? <p className="quiet">No worker is connected: no turn can run.</p> : null}
      {workers.length === 0 ? null : (
        <div className="table-scroll">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Worker</th>
                <th scope="col">State</th>
                <th scope="col">Busy</th>
                <th scope="col">Version</th>
                <th scope="col" className="wide">
                  Runs
                </th>
              </tr>
            </thead>
            <tbody>
              {workers.map((worker) => (
                <tr key={worker.worker}>
                  <th scope="row">
                    <bdi>{worker.worker}</bdi>
                  </th>
                  <td className={`state state-${marks[worker.state ?? ''] ?? 'quiet'}`}>
                    <Mark kind={marks[worker.state ?? ''] ?? 'quiet'} /> {worker.state ?? 'unknown'}
                    {worker.problem === null ? '' : `: ${worker.problem}`}
                  </td>
                  <td>
                    <Slots busy={worker.busy} slots={worker.slots} />
                  </td>
                  <td>{worker.version ?? ''}</td>
                  <td className="wide">{worker.backends?.join(', ') ?? ''}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {elsewhere > 0 ? <p className="quiet">{some(elsewhere, 'worker')} of other cells only.</p> : null}
    </section>
  );
}

/** The most slots that are drawn one by one. */
const mostDrawn = 16;

/** Busy slots of all, drawn and said. */
function Slots({ busy, slots }: { busy: number | null; slots: number }) {
  if (busy === null) return <>{some(slots, 'slot')}</>;
  const all = Math.max(busy, slots);
  return (
    <span className="slots">
      {all === 0 || all > mostDrawn ? null : (
        <span className="slots-drawn" aria-hidden>
          {Array.from({ length: all }, (_none, at) => (
            <span key={at} className={at < busy ? 'slot slot-busy' : 'slot'} />
          ))}
        </span>
      )}
      {busy} of {slots}
    </span>
  );
}

function Failures({ failures: { agents, items } }: Pick<SystemState, 'failures'>) {
  if (agents === 0) return null;
  return (
    <section aria-label="Failed agents">
      <h2>
        Failed agents <span className="quiet">{count(agents)}</span>
      </h2>
      <p className="quiet">Retried, a turn goes on from where it stood: what it did has no second effect.</p>
      <div className="table-scroll">
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Agent</th>
              <th scope="col">Why</th>
              <th scope="col">Since</th>
              <th scope="col">What next</th>
            </tr>
          </thead>
          <tbody>
            {items.map(({ project, agent, turnNumber, code, message, at, next }) => (
              <tr key={`${project} ${agent}`}>
                <th scope="row">
                  <Link href={turnPath(project, agent, turnNumber)}>
                    <bdi>{agent}</bdi> in <bdi>{project}</bdi>, turn {turnNumber}
                  </Link>
                </th>
                <td title={visible(message)}>
                  <code>{code}</code>
                </td>
                <td>
                  <Ago at={at} />
                </td>
                <td className="cell-acts">
                  {next.startsWith('agents retry ') ? (
                    <SystemActs project={project} request={asked('retryAgent', { project, agent })} />
                  ) : null}
                  <Copyable text={`suzumio ${next}`} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <More of={agents} shown={items.length} />
    </section>
  );
}

function Undelivered({ undelivered: { messages, items } }: Pick<SystemState, 'undelivered'>) {
  if (messages === 0) return null;
  return (
    <section aria-label="Undelivered mail">
      <h2>
        Undelivered mail <span className="quiet">{count(messages)}</span>
      </h2>
      <p className="quiet">A turn read it that failed or was cancelled. Delivered again, a new turn reads it.</p>
      <div className="table-scroll">
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Message</th>
              <th scope="col">Read by</th>
              <th scope="col">Deliver again</th>
            </tr>
          </thead>
          <tbody>
            {items.map(({ project, seq, agent, turnNumber, next }) => (
              <tr key={`${project} ${seq} ${agent}`}>
                <th scope="row">
                  <Link href={mailPath(project, seq)}>
                    {seq} in <bdi>{project}</bdi>
                  </Link>
                </th>
                <td>
                  <Link href={turnPath(project, agent, turnNumber)}>
                    <bdi>{agent}</bdi>, turn {turnNumber}
                  </Link>
                </td>
                <td className="cell-acts">
                  <SystemActs
                    project={project}
                    request={asked('redeliverMessage', { project, message: String(seq), body: { agent } })}
                  />
                  <Copyable text={`suzumio ${next}`} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <More of={messages} shown={items.length} />
    </section>
  );
}

function More({ of, shown }: { of: number; shown: number }) {
  return of > shown ? <p className="quiet">and {count(of - shown)} more</p> : null;
}

function Unreadable({ projects }: { projects: readonly string[] }) {
  if (projects.length === 0) return null;
  return (
    <section aria-label="Unreadable projects">
      <h2>Unreadable projects</h2>
      <ul>
        {projects.slice(0, mostUnreadable).map((project) => (
          <li key={project}>
            <bdi>{project}</bdi> <Copyable text={`suzumio verify ${project}`} />
          </li>
        ))}
      </ul>
      <More of={projects.length} shown={mostUnreadable} />
    </section>
  );
}

const mostUnreadable = 20;

function Stored({ system: { disk, projects } }: { system: SystemState }) {
  const usage = useQuery({ queryKey: ['usage', 'project'], queryFn: () => api.getUsage(), staleTime: 60_000 });
  const stored = usage.data?.stored;
  const isShort = disk !== null && disk.shortFor.length > 0;
  return (
    <section aria-label="Disk">
      <h2>Disk</h2>
      <p className={isShort ? 'state state-failed' : ''}>
        {disk ? `${bytes(disk.freeBytes)} free` : 'How much is free is not known'}
        {isShort ? ': too little, so that some things are refused' : ''}.
      </p>
      <p className="quiet">
        {some(projects, 'project')}
        {stored ? `, ${bytes(Object.values(stored.bytes).reduce((sum, size) => sum + size, 0))} stored` : ''}.
      </p>
    </section>
  );
}

function Sessions() {
  const sessions = useQuery({ queryKey: ['sessions'], queryFn: () => api.listSessions(), staleTime: 10_000 });
  const items = sessions.data?.items ?? [];
  if (items.length === 0) return null;
  return (
    <section aria-label="Signed in">
      <h2>Signed in</h2>
      <div className="table-scroll">
        <table className="table">
          <thead>
            <tr>
              <th scope="col">As</th>
              <th scope="col">From</th>
              <th scope="col">Last used</th>
              <th scope="col" className="wide">
                Browser
              </th>
              <th scope="col">Sign out</th>
            </tr>
          </thead>
          <tbody>
            {items.map((session) => (
              <tr key={session.id}>
                <th scope="row">
                  <bdi>{session.token}</bdi>
                  {session.current ? <span className="quiet"> (here)</span> : null}
                </th>
                <td>{session.address}</td>
                <td>
                  <Ago at={session.seenAt} /> ago
                </td>
                <td className="wide clip">
                  <bdi>{session.agent}</bdi>
                </td>
                <td>
                  <Copyable text={`suzumio sessions end ${session.id}`} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** What people did, of all of them or of one. */
function WhoDidWhat() {
  const [search] = useSearchParams();
  const actor = search.get('by') ?? undefined;
  const acts = useInfiniteQuery({
    queryKey: ['acts', actor],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: before }) =>
      api.listActs({
        query: {
          limit: 50,
          ...(before === undefined ? {} : { before }),
          ...(actor === undefined ? {} : { actor: actor.slice(0, 200) }),
        },
      }),
    getNextPageParam: ({ previous }) => previous,
    staleTime: 10_000,
  });
  const items = acts.data?.pages.flatMap((page) => page.items) ?? [];
  const unreadable = acts.data?.pages[0]?.unreadable ?? [];
  return (
    <section aria-label="Who did what">
      <h2 className="acts-head">
        Who did what
        {actor === undefined ? null : (
          <Link href="/system" className="button" replace>
            <bdi>{visible(actor.slice(0, 200))}</bdi> <Icon name="close" />
            <span className="visually-hidden">, show everybody</span>
          </Link>
        )}
      </h2>
      {acts.error ? <Failure error={acts.error} again={() => void acts.refetch()} /> : null}
      {acts.data && items.length === 0 ? <p className="quiet">Nobody did anything yet.</p> : null}
      {items.length === 0 ? null : <Acts acts={items} actorHref={(one) => `/system?by=${encodeURIComponent(one)}`} />}
      {unreadable.length === 0 ? null : (
        <p className="quiet">What was done to {unreadable.slice(0, 10).join(', ')} cannot be read.</p>
      )}
      <p className="acts-foot">
        {acts.hasNextPage ? (
          <button
            type="button"
            className="button"
            disabled={acts.isFetchingNextPage}
            onClick={() => void acts.fetchNextPage()}
          >
            Earlier
          </button>
        ) : null}
        <Copyable text={`suzumio audit${actor === undefined ? '' : ` --actor ${actor.slice(0, 200)}`}`} />
      </p>
    </section>
  );
}

function Refused() {
  const audit = useQuery({
    queryKey: ['audit'],
    queryFn: () => api.listAudit({ query: { limit: 50, order: 'desc' } }),
    staleTime: 10_000,
  });
  if (audit.error)
    return isForbidden(audit.error) ? null : <Failure error={audit.error} again={() => void audit.refetch()} />;
  const items = audit.data?.items ?? [];
  return (
    <section aria-label="Refused">
      <h2>Refused requests</h2>
      {items.length === 0 ? <p className="quiet">Nobody with a good token was refused anything.</p> : null}
      {items.length === 0 ? null : (
        <div className="table-scroll">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">When</th>
                <th scope="col">Token</th>
                <th scope="col">Why</th>
                <th scope="col" className="wide">
                  What
                </th>
              </tr>
            </thead>
            <tbody>
              {items.map((entry) => (
                <tr key={entry.seq}>
                  <td>
                    <Moment at={entry.at} />
                  </td>
                  <th scope="row">
                    <bdi>{entry.token}</bdi>
                  </th>
                  <td>
                    <code>{entry.code}</code>
                  </td>
                  <td className="wide clip">
                    {entry.method} {entry.route}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
