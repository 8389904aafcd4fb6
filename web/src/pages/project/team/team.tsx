import type { Agent, MailCount, ProjectDetail } from '@suzumio/sdk/client';
import { useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import { Mark } from '../../../parts/mark.js';
import { count, some } from '../../../parts/numbers.js';
import { nameOf, stateOfAgent } from '../../../parts/states.js';
import { agentPath } from '../../../parts/places.js';
import { useMailCounts } from '../../../use-project.js';
import { Graph } from './graph.js';
import { membersOf, mostDrawn } from './members.js';

/** The others are on the page of all agents. */
const mostRows = 60;

/** The team as a graph: a way for each direction that mail went, as wide as there was much of it. Or as a table. */
export function Team({ detail }: { detail: ProjectDetail }) {
  const { project, agents } = detail;
  const counts = useMailCounts(project.id);
  const [asTable, setAsTable] = useState(false);
  const [search] = useSearchParams();
  const opened = search.get('role');
  const ways = counts.data ?? [];
  const drawn = membersOf(project.id, agents, { ways, opened });
  return (
    <section className="team" aria-label="Team">
      <header className="pane-head">
        <h2>
          Team{' '}
          <span className="pane-note">
            {some(agents.length, 'agent')}, {some(project.messages, 'message')}
          </span>
        </h2>
        {agents.length > mostDrawn && opened !== null && !asTable ? (
          <Link href={`/p/${project.id}`}>All roles</Link>
        ) : null}
        <div className="switch" role="group" aria-label="How it is shown">
          <button type="button" aria-pressed={!asTable} onClick={() => setAsTable(false)}>
            Graph
          </button>
          <button type="button" aria-pressed={asTable} onClick={() => setAsTable(true)}>
            Table
          </button>
        </div>
      </header>
      {asTable ? <Table project={project.id} agents={agents} ways={ways} /> : <Graph {...drawn} />}
    </section>
  );
}

interface TableProps {
  project: string;
  agents: readonly Agent[];
  ways: readonly MailCount[];
}

function Table({ project, agents, ways }: TableProps) {
  const total = (id: string, side: 'sender' | 'recipient') =>
    ways.reduce((sum, way) => sum + (way[side] === id ? way.messages : 0), 0);
  return (
    <div className="table-scroll">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Agent</th>
            <th scope="col">State</th>
            <th scope="col" className="wide">
              Role
            </th>
            <th scope="col" className="number">
              Wrote
            </th>
            <th scope="col" className="number">
              Got
            </th>
            <th scope="col" className="number">
              Unread
            </th>
            <th scope="col" className="number">
              Turns
            </th>
          </tr>
        </thead>
        <tbody>
          {agents.slice(0, mostRows).map((agent) => {
            const { mark, word } = stateOfAgent(agent);
            return (
              <tr key={agent.id}>
                <th scope="row">
                  <Link href={agentPath(project, agent.id)}>
                    <bdi>{nameOf(agent)}</bdi>
                  </Link>
                </th>
                <td className={`state state-${mark}`}>
                  <Mark kind={mark} /> {word}
                </td>
                <td className="wide clip">
                  <bdi>{agent.role}</bdi>
                </td>
                <td className="number">{count(total(agent.id, 'sender'))}</td>
                <td className="number">{count(total(agent.id, 'recipient'))}</td>
                <td className="number">{agent.unread}</td>
                <td className="number">{count(agent.turns)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {agents.length > mostRows ? (
        <Link href={`/p/${project}/agents`} className="quiet">
          and {agents.length - mostRows} more agents
        </Link>
      ) : null}
    </div>
  );
}
