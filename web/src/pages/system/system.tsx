import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, wordsOf } from '../../api.js';
import { Failure } from '../../parts/failure.js';
import { bytes, some } from '../../parts/numbers.js';
import { Moment } from '../../parts/time.js';
import { type SystemState, useSystem } from '../../use-system.js';
import { useWho } from '../../who.js';
import { Broken } from './broken.js';
import { Services } from './services.js';
import { Stuck } from './stuck.js';
import { Refused, WhoDidWhat } from './who-did-what.js';
import { Workers } from './workers.js';
import { useTitle } from '../../title.js';

/** The server itself: its services, queue and workers, what stands still in projects, what it stores, who did what. */
export function System() {
  const who = useWho();
  useTitle('System');
  const health = useQuery({ queryKey: ['health'], queryFn: () => api.getHealth(), refetchInterval: 15_000 });
  return (
    <>
      <header className="head">
        <h1>System</h1>
        <span className="head-note">{health.data ? `Suzumio ${health.data.version}` : ''}</span>
      </header>
      <div className="page">
        <p className="system-who">
          You are <b>{who.name}</b>, with the scope <b>{who.scope}</b>
          {who.project === null ? '' : `, for the project ${who.project}`}.
          {who.access === 'open' ? ' This server asks nobody for a token (SUZUMIO_AUTH=off).' : ''}{' '}
          <Link href="/tokens" className="button">
            Who is signed in, and tokens
          </Link>
        </p>
        {who.project === null ? <Cell /> : health.data?.queue === 'away' ? <QueueAway /> : null}
        <WhoDidWhat />
        {who.scope === 'admin' && who.project === null ? <Refused /> : null}
      </div>
    </>
  );
}

/** For tokens of one project, which may not see more of the server. */
function QueueAway() {
  return (
    <p className="state state-failed" role="status">
      The queue does not answer: turns start late, or not.
    </p>
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
      <Broken system={system.data} />
      <Services system={system.data} />
      <Workers elsewhere={system.data.workers?.elsewhere ?? 0} />
      <Stuck system={system.data} />
      <Stored system={system.data} />
    </>
  );
}

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
