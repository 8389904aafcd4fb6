import type { Agent, ProjectDetail } from '@suzumio/sdk/client';
import { Link } from 'wouter';
import { useListKeys } from '../../../acts/keys.js';
import { Mark } from '../../../parts/mark.js';
import { count, some } from '../../../parts/numbers.js';
import { nameOf, stateOfAgent } from '../../../parts/states.js';
import { Rows } from '../../../parts/rows.js';
import { agentPath } from '../../../parts/places.js';
import { useWhy } from '../../../use-why.js';
import { useTitle } from '../../../title.js';

/** So many are asked why at once; the others say it on their own pages. */
const mostAsked = 40;
/** What a row is likely to be high. */
const rowPx = 42;

/** All agents, with their states and what has to change first. */
export function Agents({ detail: { project, agents } }: { detail: ProjectDetail }) {
  useTitle(`Agents · ${project.id}`);
  useListKeys({ rows: '.agents-row' });
  const asked = new Set(agents.slice(0, mostAsked).map(({ id }) => id));
  return (
    <section aria-label="Agents">
      <header className="pane-head">
        <h2>
          Agents <span className="pane-note">{some(agents.length, 'agent')}</span>
        </h2>
      </header>
      <Rows
        rows={agents}
        render={(agent) => <Row project={project.id} agent={agent} isAsked={asked.has(agent.id)} />}
        heightPx={rowPx}
        className="agents"
      />
    </section>
  );
}

function Row({ project, agent, isAsked }: { project: string; agent: Agent; isAsked: boolean }) {
  const why = useWhy(project, agent, isAsked);
  const { mark, word } = stateOfAgent(agent);
  return (
    <Link href={agentPath(project, agent.id)} className="agents-row">
      <Mark kind={mark} />
      <span className="agents-who">
        <b>
          <bdi>{nameOf(agent)}</bdi>
        </b>{' '}
        <span className="quiet">
          <bdi>{agent.role === nameOf(agent) ? '' : agent.role}</bdi>
        </span>
      </span>
      <span className={`state state-${mark}`}>{word}</span>
      <span className="agents-why">
        <bdi>{why.data?.reasons[0]?.sentence ?? ''}</bdi>
      </span>
      <span className="agents-unread quiet">{agent.unread > 0 ? `${count(agent.unread)} unread` : ''}</span>
    </Link>
  );
}
