import type { Project } from '@suzumio/sdk/client';
import type { ReactElement } from 'react';
import { Link, useLocation } from 'wouter';
import { publicPath } from '../api.js';
import type { Live } from '../live/use-live.js';
import { Key } from '../acts/keys.js';
import { useFailed, useInboxCounts } from '../use-inbox.js';
import { useProjects } from '../use-projects.js';
import { useWho } from '../who.js';
import { useFleet } from '../use-fleet.js';
import { Icon, type IconName } from '../parts/icon.js';
import { Mark } from '../parts/mark.js';
import { openPalette } from './open-palette.js';
import { count, some } from '../parts/numbers.js';
import { stateOfProject } from '../parts/states.js';

/** Where one can go: a rail at the side, a bar below on small screens. */
export function Rail({ live }: { live: Live }) {
  const counts = useInboxCounts().data;
  const projects = useProjects();
  const waiting = counts?.waiting ?? 0;
  const unread = counts?.unread ?? 0;
  const waitingIn = new Map(counts?.projects.map(({ project, waiting: number }) => [project, number]));
  return (
    <nav className="rail" aria-label="Suzumio">
      <Link href="/" className="brand">
        <svg viewBox="0 0 32 32" width="20" height="20" aria-hidden>
          <rect width="32" height="32" rx="8" className="brand-ground" />
          <path d="M8 13.5c2.7-3 5.3-3 8 0s5.3 3 8 0M8 20c2.7-3 5.3-3 8 0s5.3 3 8 0" className="brand-lines" />
        </svg>
        Suzumio
      </Link>
      <ul className="rail-pages">
        <Place href="/" icon="inbox" also={/^\/inbox/}>
          Inbox {waiting > 0 ? <span className="badge">{waiting}</span> : null}{' '}
          {unread > 0 ? (
            <span className="rail-unread">
              {unread > 999 ? '999+' : unread}
              <span className="visually-hidden"> unread</span>
            </span>
          ) : null}
        </Place>
        <Place href="/projects" icon="folder" also={/^\/p\//}>
          Projects <span className="rail-count">{projects.data?.length ?? ''}</span>
        </Place>
        <li className="rail-find">
          <button type="button" className="rail-link" aria-haspopup="dialog" onClick={openPalette}>
            <Icon name="search" />
            Find
          </button>
        </li>
        <Place href="/search" icon="search" also={/^\/search/} className="rail-search">
          Search{' '}
          <span className="rail-key">
            <Key name="palette" />
          </span>
        </Place>
        <Place href="/system" icon="server" also={/^\/system/}>
          System
        </Place>
        <Place href="/tokens" icon="person" also={peoplePages} className="rail-people">
          People
        </Place>
        <li>
          <a href={`${publicPath}/docs`} className="rail-link">
            <Icon name="book" />
            Docs
          </a>
        </li>
      </ul>
      <OpenProjects projects={projects.data ?? []} waiting={waitingIn} />
      <div className="rail-foot">
        <WhoIsIn />
        <Fleet live={live} />
      </div>
    </nav>
  );
}

const peoplePages = /^\/(tokens|profiles|teams)(\/|$)/;

/** Whose session this is; it leads to all of them. */
function WhoIsIn() {
  const { name, scope } = useWho();
  return (
    <Link href="/tokens" className="rail-who">
      <Icon name="person" />
      <bdi className="clip">{name}</bdi>
      <span className="quiet">{scope}</span>
    </Link>
  );
}

function Place({
  href,
  icon,
  also,
  className,
  children,
}: {
  href: string;
  icon: IconName;
  also: RegExp;
  className?: string;
  children: React.ReactNode;
}) {
  const [location] = useLocation();
  const isHere = location === href || also.test(location);
  return (
    <li className={className}>
      <Link href={href} className="rail-link" aria-current={isHere ? 'page' : undefined}>
        <Icon name={icon} />
        {children}
      </Link>
    </li>
  );
}

const mostOpen = 30;

function OpenProjects({ projects, waiting }: { projects: readonly Project[]; waiting: ReadonlyMap<string, number> }) {
  const [location] = useLocation();
  const failed = useFailed();
  const open = projects.filter(({ status }) => status === 'running' || status === 'submitted').slice(0, mostOpen);
  if (open.length === 0) return null;
  return (
    <section className="rail-projects" aria-label="Open projects">
      <h2 className="rail-title">Open projects</h2>
      <ul>
        {open.map((project) => {
          const path = `/p/${project.id}`;
          const isHere = location === path || location.startsWith(`${path}/`);
          const { mark, word } = stateOfProject(project, failed.has(project.id));
          const count = waiting.get(project.id) ?? 0;
          return (
            <li key={project.id}>
              <Link href={path} className="rail-link" aria-current={isHere ? 'page' : undefined}>
                <Mark kind={mark} title={word} />
                <bdi className="clip">{project.id}</bdi>
                {count > 0 ? <span className="rail-waits">{count}</span> : null}
              </Link>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** Whether what is shown is live, and the workers: they have no events. */
function Fleet({ live }: { live: Live }): ReactElement {
  const workers = useFleet().data?.items;
  const ready = workers?.filter(({ state }) => state === 'ready') ?? [];
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
  const [busy, slots] = [sum(ready.map((worker) => worker.busy ?? 0)), sum(ready.map((worker) => worker.slots))];
  const words = workers ? `, ${some(ready.length, 'worker')}, ${count(busy)} of ${some(slots, 'slot')}` : '';
  return (
    <p className="fleet">
      <span className={`fleet-dot fleet-${live.state}`} aria-hidden />
      {live.state === 'live' ? `Live${words}` : 'Not live'}
    </p>
  );
}
