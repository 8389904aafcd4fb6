import type { Agent, ProjectDetail } from '@suzumio/sdk/client';
import { Link } from 'wouter';
import { useListKeys } from '../../../acts/keys.js';
import { Mark } from '../../../parts/mark.js';
import { count, some } from '../../../parts/numbers.js';
import { nameOf, stateOfAgent } from '../../../parts/states.js';
import { Rows } from '../../../parts/rows.js';
import { agentPath } from '../../../parts/places.js';
import { useWhys } from '../../../use-why.js';
import { useTitle } from '../../../title.js';

/** What a row is likely to be high. */
const rowPx = 42;

/** All agents, with their states and what has to change first. */
export function Agents({ detail }: { detail: ProjectDetail }) {
  const { project, agents } = detail;
  const whys = useWhys(detail);
  useTitle(`Agents · ${project.id}`);
  useListKeys({ rows: '.agents-row' });
  return (
    <section aria-label="Agents">
      <header className="pane-head">
        <h2>
          Agents <span className="pane-note">{some(agents.length, 'agent')}</span>
        </h2>
      </header>
      <Rows
        rows={agents}
        render={(agent) => <Row project={project.id} agent={agent} why={whys.get(agent.id)?.reasons[0]?.sentence} />}
        heightPx={rowPx}
        className="agents"
      />
    </section>
  );
}

/** @param why what it waits for, as the first agents are asked; the others say it on their own pages */
function Row({ project, agent, why }: { project: string; agent: Agent; why: string | undefined }) {
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
        <bdi>{why}</bdi>
      </span>
      <span className="agents-unread quiet">{agent.unread > 0 ? `${count(agent.unread)} unread` : ''}</span>
    </Link>
  );
}
