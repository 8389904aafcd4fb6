import type { Agent, ProjectDetail, Why } from '@suzumio/sdk/client';
import { Fragment } from 'react';
import { Link } from 'wouter';
import { NextAct } from '../../acts/run/late.js';
import { Copyable } from '../../parts/copy.js';
import { visible } from '../../parts/visible.js';
import { nameOf } from '../../parts/states.js';
import { useWhys } from '../../use-why.js';
import { agentPath } from '../../parts/places.js';

/** What needs nobody: work, mail that is not there, and what passes by itself; what the inbox asks for stands above. */
const needsNobody: ReadonlySet<string> = new Set([
  'working',
  'stopping',
  'no-mail',
  'about-to-start',
  'queued-behind',
  'waiting-for-slot',
  'waiting-for-handler',
  'concurrency-limit',
  'backoff',
  'project-submitted',
  'project-completed',
  'agent-retired',
]);

/** So many reasons are shown; the others are on the agents' page. */
const [mostShown, mostNamed] = [4, 3];

type Reason = Why['reasons'][number];

/** Who is kept from turns, by what, and the command that helps. */
export function Held({ detail }: { detail: ProjectDetail }) {
  const { project, agents } = detail;
  const whys = useWhys(detail);
  const held = agents.flatMap((agent) => {
    const [reason] = whys.get(agent.id)?.reasons ?? [];
    return reason && !needsNobody.has(reason.code) ? [{ agent, reason }] : [];
  });
  if (held.length === 0) return null;
  const groups = [...Map.groupBy(held, ({ reason }) => `${reason.next}\n${reason.sentence}`).values()];
  return (
    <section className="held" aria-label="Why it is quiet">
      <ul>
        {groups.slice(0, mostShown).map((group) => {
          const [first] = group;
          return first === undefined ? null : (
            <li key={first.agent.id} className="held-row">
              <Who project={project.id} agents={group.map(({ agent }) => agent)} reason={first.reason} />
              {first.reason.request === null ? null : <NextAct next={first.reason.request} />}
              {first.reason.next === null ? null : <Copyable text={`suzumio ${first.reason.next}`} />}
            </li>
          );
        })}
      </ul>
      {groups.length > mostShown ? (
        <Link href={`/p/${project.id}/agents`} className="evidence">
          {groups.length - mostShown} more reasons
        </Link>
      ) : null}
    </section>
  );
}

function Who({ project, agents, reason }: { project: string; agents: readonly Agent[]; reason: Reason }) {
  return (
    <p className="held-words">
      {agents.slice(0, mostNamed).map((agent, at) => (
        <Fragment key={agent.id}>
          {at === 0 ? '' : ', '}
          <Link href={agentPath(project, agent.id)} className="evidence">
            <b>
              <bdi>{visible(nameOf(agent))}</bdi>
            </b>
          </Link>
        </Fragment>
      ))}
      {agents.length > mostNamed ? ` and ${agents.length - mostNamed} more` : ''}: <bdi>{visible(reason.sentence)}</bdi>
    </p>
  );
}
