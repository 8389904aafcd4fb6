import type { Agent, MailCount, ProjectDetail } from '@suzumio/sdk/client';
import { useMemo, useState } from 'react';
import { Link } from 'wouter';
import { Mark, type MarkKind } from '../../../parts/mark.js';
import { count, some } from '../../../parts/numbers.js';
import { nameOf, stateOfAgent } from '../../../parts/states.js';
import { useNow } from '../../../parts/time.js';
import { useWidth } from '../../../parts/use-width.js';
import { agentPath } from '../../../parts/places.js';
import { useMailCounts } from '../../../use-project.js';
import { layOut, type Spot } from './layout.js';

/** Who stands in the graph. */
interface Member {
  id: string;
  name: string;
  role: string;
  mark: MarkKind | 'person';
  word: string;
}

const pill = { height: 44, chars: 7.4, pad: 48 };
const mostDrawn = 40;
/** The others are on the page of all agents. */
const mostRows = 60;
/** How long a way is drawn as one that mail has just gone. */
const freshMs = 10_000;

/** The team as a graph: a way for each direction that mail went, as wide as there was much of it. Or as a table. */
export function Team({ detail }: { detail: ProjectDetail }) {
  const { project, agents } = detail;
  const counts = useMailCounts(project.id);
  const [asTable, setAsTable] = useState(false);
  const ways = counts.data ?? [];
  return (
    <section className="team" aria-label="Team">
      <header className="pane-head">
        <h2>
          Team{' '}
          <span className="pane-note">
            {some(agents.length, 'agent')}, {some(project.messages, 'message')}
          </span>
        </h2>
        <div className="switch" role="group" aria-label="How it is shown">
          <button type="button" aria-pressed={!asTable} onClick={() => setAsTable(false)}>
            Graph
          </button>
          <button type="button" aria-pressed={asTable} onClick={() => setAsTable(true)}>
            Table
          </button>
        </div>
      </header>
      {asTable || agents.length > mostDrawn ? (
        <Table project={project.id} agents={agents} ways={ways} />
      ) : (
        <Graph project={project.id} agents={agents} ways={ways} />
      )}
    </section>
  );
}

function membersOf(agents: readonly Agent[]): Member[] {
  return [
    { id: 'user', name: 'You', role: '', mark: 'person', word: '' },
    ...agents.map((agent) => {
      const { mark, word } = stateOfAgent(agent);
      const waits = agent.unread > 0 && mark !== 'queued' ? `, ${agent.unread} unread` : '';
      return {
        id: agent.id,
        name: nameOf(agent),
        role: agent.role === nameOf(agent) ? '' : agent.role,
        mark,
        word: `${word}${waits}`,
      };
    }),
  ];
}

interface TeamProps {
  project: string;
  agents: readonly Agent[];
  ways: readonly MailCount[];
}

function Graph({ project, agents, ways }: TeamProps) {
  const [width, frame] = useWidth();
  const members = membersOf(agents);
  const drawn = ways.filter(({ recipient, sender }) => recipient !== null && recipient !== sender);
  const shape = JSON.stringify([
    members.map(({ id }) => id),
    drawn.map(({ sender, recipient }) => [sender, recipient]),
  ]);
  const spots = useMemo(() => {
    const [ids, pairs] = JSON.parse(shape) as [string[], [string, string][]];
    return layOut(
      ids,
      pairs.map(([from, to]) => ({ from, to })),
    );
  }, [shape]);
  const isNarrow = width < 560;
  const height = Math.min(Math.max(260, agents.length * (isNarrow ? 78 : 62)), 460);
  const boxOf = (member: Member) => {
    const label = isNarrow || member.role === '' ? member.name : `${member.name} ${member.role}`;
    const chars = Math.min(Math.max(label.length, member.word.length * 0.92), 26);
    return { width: Math.round(chars * pill.chars) + pill.pad, label };
  };
  const widest = Math.max(...members.map((member) => boxOf(member).width));
  const placed = new Map(
    members.map((member) => {
      const spot = spots.get(member.id) ?? { x: 0.5, y: 0.5 };
      return [
        member.id,
        {
          x: widest / 2 + 8 + spot.x * Math.max(width - widest - 16, 0),
          y: pill.height / 2 + 8 + spot.y * (height - pill.height - 16),
          ...boxOf(member),
        },
      ];
    }),
  );
  const now = useNow(2_000);
  const most = Math.max(...drawn.map(({ messages }) => messages), 1);
  return (
    <div className="team-frame" ref={frame}>
      {width === 0 ? null : (
        <svg width={width} height={height} role="group" aria-label={`${agents.length} agents and their mail`}>
          <defs>
            {['plain', 'fresh'].map((kind) => (
              <marker
                key={kind}
                id={`arrow-${kind}`}
                className={`arrow-${kind}`}
                viewBox="0 0 8 8"
                refX="6.5"
                refY="4"
                markerWidth="8"
                markerHeight="8"
                markerUnits="userSpaceOnUse"
                orient="auto"
              >
                <path d="M0 .8 7.2 4 0 7.2Z" />
              </marker>
            ))}
          </defs>
          {drawn.map((way) => {
            const [from, to] = [placed.get(way.sender), placed.get(way.recipient ?? '')];
            if (!from || !to) return null;
            const isFresh = now - Date.parse(way.lastAt) < freshMs;
            return (
              <path
                key={`${way.sender} ${way.recipient ?? ''}`}
                d={arc(from, to)}
                className={isFresh ? 'way way-fresh' : 'way'}
                strokeWidth={1.2 + 2.2 * Math.sqrt(way.messages / most)}
                markerEnd={`url(#arrow-${isFresh ? 'fresh' : 'plain'})`}
              >
                <title>{`${some(way.messages, 'message')} from ${way.sender} to ${way.recipient ?? ''}`}</title>
              </path>
            );
          })}
          {members.map((member) => {
            const at = placed.get(member.id);
            if (at === undefined) return null;
            const pillOf = <Pill member={member} at={at} narrow={isNarrow} />;
            const href = member.mark === 'person' ? `/p/${project}/mail?to=user` : agentPath(project, member.id);
            return (
              <Link key={member.id} href={href}>
                {pillOf}
              </Link>
            );
          })}
        </svg>
      )}
    </div>
  );
}

interface Placed extends Spot {
  width: number;
}

function Pill({ member, at, narrow }: { member: Member; at: Placed; narrow: boolean }) {
  const [left, top] = [at.x - at.width / 2, at.y - pill.height / 2];
  const isLoud = member.mark === 'running' || member.mark === 'failed' || member.mark === 'asks';
  return (
    <g className={`pill pill-${member.mark} ${isLoud ? 'pill-loud' : ''}`}>
      <title>{`${member.name} ${member.role}: ${member.word}`}</title>
      <rect x={left} y={top} width={at.width} height={pill.height} rx={8} />
      <svg x={left + 12} y={member.word === '' ? at.y - 8 : at.y - 8} width={16} height={16} overflow="visible">
        {member.mark === 'person' ? (
          <path
            className="person"
            d="M8 2.2a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6ZM2.8 14c.3-3.2 2.3-4.6 5.2-4.6s4.9 1.4 5.2 4.6Z"
          />
        ) : (
          <Mark kind={member.mark} />
        )}
      </svg>
      <text x={left + 38} y={member.word === '' ? at.y + 5 : at.y - 2}>
        <tspan className="pill-name">{cut(member.name, 18)}</tspan>
        {narrow || member.role === '' ? null : (
          <tspan className="pill-role" dx={6}>
            {cut(member.role, Math.max(4, 24 - member.name.length))}
          </tspan>
        )}
      </text>
      {member.word === '' ? null : (
        <text x={left + 38} y={at.y + 14} className="pill-word">
          {cut(member.word, 26)}
        </text>
      )}
    </g>
  );
}

function cut(text: string, chars: number): string {
  return text.length > chars ? `${text.slice(0, chars - 1)}…` : text;
}

/** A bent line from the edge of one box to the edge of another: each direction bends to its own side. */
function arc(from: Placed, to: Placed): string {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  const bend = Math.min(length * 0.14, 34);
  const middle = { x: (from.x + to.x) / 2 - (dy / length) * bend, y: (from.y + to.y) / 2 + (dx / length) * bend };
  const [start, end] = [edge(from, middle, 2), edge(to, middle, 5)];
  return `M${start.x.toFixed(1)} ${start.y.toFixed(1)}Q${middle.x.toFixed(1)} ${middle.y.toFixed(1)} ${end.x.toFixed(1)} ${end.y.toFixed(1)}`;
}

/** Where the line from a box's middle towards a place leaves the box. */
function edge(box: Placed, towards: Spot, gap: number): Spot {
  const [dx, dy] = [towards.x - box.x, towards.y - box.y];
  const scale = Math.min(
    (box.width / 2 + gap) / Math.max(Math.abs(dx), 0.001),
    (pill.height / 2 + gap) / Math.max(Math.abs(dy), 0.001),
    1,
  );
  return { x: box.x + dx * scale, y: box.y + dy * scale };
}

function Table({ project, agents, ways }: TeamProps) {
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
