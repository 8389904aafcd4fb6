import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Link, useSearchParams } from 'wouter';
import { api, isForbidden, keys } from '../../api.js';
import { Acts } from '../../parts/acts.js';
import { Copyable } from '../../parts/copy.js';
import { Failure } from '../../parts/failure.js';
import { Icon } from '../../parts/icon.js';
import { Mark, type MarkKind } from '../../parts/mark.js';
import { visible } from '../../parts/markdown.js';
import { bytes } from '../../parts/numbers.js';
import { Ago, Moment } from '../../parts/time.js';
import { useWho } from '../../who.js';

const everyMs = 5_000;

const marks: Readonly<Record<string, MarkKind>> = { ready: 'done', draining: 'paused', 'not-ready': 'failed' };

/** The server itself: its workers, what it stores, who is signed in, and what was refused. */
export function System() {
  const who = useWho();
  useEffect(() => {
    document.title = 'System · Suzumio';
  }, []);
  const health = useQuery({ queryKey: ['health'], queryFn: () => api.getHealth(), refetchInterval: everyMs });
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
        {who.project === null ? <Workers /> : null}
        {who.project === null ? <Stored /> : null}
        <Sessions />
        <WhoDidWhat />
        {who.scope === 'admin' && who.project === null ? <Refused /> : null}
      </div>
    </>
  );
}

function Workers() {
  const fleet = useQuery({ queryKey: keys.fleet, queryFn: () => api.listWorkers(), refetchInterval: everyMs });
  if (fleet.error && fleet.data === undefined) {
    return <Failure error={fleet.error} again={() => void fleet.refetch()} />;
  }
  const workers = fleet.data?.items ?? [];
  return (
    <section aria-label="Workers">
      <h2>Workers</h2>
      {fleet.data && workers.length === 0 ? <p className="quiet">No worker is connected: no turn can run.</p> : null}
      <div className="table-scroll">
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Worker</th>
              <th scope="col">State</th>
              <th scope="col" className="number">
                Slots
              </th>
              <th scope="col">Runs</th>
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
                <td className="number">{worker.slots}</td>
                <td>{worker.backends?.join(', ') ?? ''}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {fleet.data && fleet.data.elsewhere > 0 ? (
        <p className="quiet">{fleet.data.elsewhere} serve other cells only.</p>
      ) : null}
    </section>
  );
}

function Stored() {
  const usage = useQuery({ queryKey: ['usage', 'project'], queryFn: () => api.getUsage(), staleTime: 60_000 });
  const stored = usage.data?.stored;
  if (stored === undefined) return null;
  return (
    <section aria-label="Disk">
      <h2>Disk</h2>
      <p>
        {bytes(Object.values(stored.bytes).reduce((sum, size) => sum + size, 0))} stored
        {stored.disk ? `, ${bytes(stored.disk.freeBytes)} free` : ''}.
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
