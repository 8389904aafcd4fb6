import type { Agent, Event, ProjectDetail } from '@suzumio/sdk/client';
import { Link, useSearchParams } from 'wouter';
import { api, keys } from '../../api.js';
import { Acts } from '../../parts/acts.js';
import { Copyable } from '../../parts/copy.js';
import { Icon } from '../../parts/icon.js';
import { visible } from '../../parts/visible.js';
import { AgentOptions } from '../../parts/agent-options.js';
import { Growing } from '../../parts/growing.js';
import { useGrowing } from '../../parts/use-growing.js';
import { Moment } from '../../parts/time.js';
import { useActs } from '../../use-acts.js';
import { saidOf } from './event-words.js';

const part = 100;
/** What a row is likely to be high. */
const rowPx = 34;

/** Everything that has happened in a project, or what people did, the newest first. */
export function Log({ detail }: { detail: ProjectDetail }) {
  const { project, agents } = detail;
  const [search, setSearch] = useSearchParams();
  const isActs = search.get('what') === 'acts';
  const agent = search.get('agent') ?? '';
  const actor = search.get('by')?.slice(0, 200) ?? '';
  const choose = (name: string, value: string) =>
    setSearch(
      (old) =>
        new URLSearchParams([...[...old].filter(([key]) => key !== name), ...(value === '' ? [] : [[name, value]])]),
      { replace: true },
    );
  return (
    <div className="page">
      <div className="log-filters">
        <div className="switch" role="group" aria-label="What is listed">
          <button type="button" aria-pressed={!isActs} onClick={() => choose('what', '')}>
            Everything
          </button>
          <button type="button" aria-pressed={isActs} onClick={() => choose('what', 'acts')}>
            What people did
          </button>
        </div>
        {isActs ? null : (
          <label className="field">
            About{' '}
            <select value={agent} onChange={({ target }) => choose('agent', target.value)}>
              <option value="">everything</option>
              <AgentOptions agents={agents} />
            </select>
          </label>
        )}
        {actor === '' ? null : (
          <button type="button" className="button" onClick={() => choose('by', '')}>
            By <bdi>{visible(actor)}</bdi> <Icon name="close" />
            <span className="visually-hidden">, show everybody</span>
          </button>
        )}
      </div>
      {isActs ? (
        <ActsOf key={actor} project={project.id} actor={actor} />
      ) : (
        <Events key={`${agent} ${actor}`} project={project.id} agents={agents} agent={agent} actor={actor} />
      )}
    </div>
  );
}

function ActsOf({ project, actor }: { project: string; actor: string }) {
  const list = useActs([...keys.project(project), 'acts', actor], {
    project,
    actor: actor === '' ? undefined : actor,
  });
  return (
    <div>
      <Acts list={list} ofOne actorHref={(one) => `/p/${project}/log?what=acts&by=${encodeURIComponent(one)}`} />
      <p className="acts-foot">
        <Copyable text={`suzumio audit ${project}${actor === '' ? '' : ` --actor ${actor}`}`} />
      </p>
    </div>
  );
}

function Events({
  project,
  agents,
  agent,
  actor,
}: {
  project: string;
  agents: readonly Agent[];
  agent: string;
  actor: string;
}) {
  const list = useGrowing<Event>([...keys.project(project), 'events', agent, actor], (place) =>
    api.listEvents({
      project,
      query: {
        limit: part,
        order: 'desc',
        ...place,
        ...(agent === '' ? {} : { agent }),
        ...(actor === '' ? {} : { actor }),
      },
    }),
  );
  return (
    <div>
      <Growing
        list={list}
        none={<p className="quiet">Nothing has happened so.</p>}
        render={(event) => <Row event={event} project={project} agents={agents} />}
        heightPx={rowPx}
        className="log"
      />
    </div>
  );
}

function Row({ event, project, agents }: { event: Event; project: string; agents: readonly Agent[] }) {
  const { subject, words } = saidOf(event, project, agents);
  return (
    <div className="log-row">
      <span className="log-time">
        <Moment at={event.createdAt} seconds />
      </span>
      <b className="log-type">{event.type}</b>
      <span className="log-words">
        <b>
          <bdi>{subject}</bdi>
        </b>{' '}
        {words.map((one, at) =>
          typeof one === 'string' ? (
            <bdi key={at}>{one}</bdi>
          ) : (
            <Link key={at} href={one.to} className="evidence">
              <bdi>{one.text}</bdi>
            </Link>
          ),
        )}
      </span>
    </div>
  );
}
