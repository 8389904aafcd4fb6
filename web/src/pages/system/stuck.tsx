import { Link } from 'wouter';
import { SystemActs } from '../../acts/run/late.js';
import { Copyable } from '../../parts/copy.js';
import { visible } from '../../parts/visible.js';
import { count } from '../../parts/numbers.js';
import { mailPath, turnPath } from '../../parts/places.js';
import { Table } from '../../parts/table.js';
import { Ago } from '../../parts/time.js';
import type { SystemState } from '../../use-system.js';

/** What stands still in projects until somebody does something. */
export function Stuck({ system: { failures, undelivered, unreadable } }: { system: SystemState }) {
  return (
    <>
      <Failures failures={failures} />
      <Undelivered undelivered={undelivered} />
      <Unreadable projects={unreadable} />
    </>
  );
}

function Failures({ failures: { agents, items } }: Pick<SystemState, 'failures'>) {
  if (agents === 0) return null;
  return (
    <section aria-label="Failed agents">
      <h2>
        Failed agents <span className="quiet">{count(agents)}</span>
      </h2>
      <p className="quiet">
        Retried, a turn goes on from where it stood: what it did has no second effect. Where its mail is delivered
        again, a new turn reads it, and may repeat what an earlier one did.
      </p>
      <Table
        rows={items}
        keyOf={({ project, agent }) => `${project} ${agent}`}
        columns={[
          {
            title: 'Agent',
            names: true,
            cell: ({ project, agent, turnNumber }) => (
              <Link href={turnPath(project, agent, turnNumber)}>
                <bdi>{agent}</bdi> in <bdi translate="no">{project}</bdi>, turn {turnNumber}
              </Link>
            ),
          },
          {
            title: 'Why',
            hint: ({ message }) => visible(message),
            cell: ({ code }) => <code translate="no">{code}</code>,
          },
          { title: 'Since', cell: ({ at }) => <Ago at={at} /> },
          {
            title: 'What next',
            classOf: () => 'cell-acts',
            cell: ({ project, request, next }) => (
              <>
                {request === null ? null : <SystemActs project={project} request={request} />}
                <Copyable text={`suzumio ${next}`} />
              </>
            ),
          },
        ]}
      />
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
      <Table
        rows={items}
        keyOf={({ project, seq, agent }) => `${project} ${seq} ${agent}`}
        columns={[
          {
            title: 'Message',
            names: true,
            cell: ({ project, seq }) => (
              <Link href={mailPath(project, seq)}>
                {seq} in <bdi translate="no">{project}</bdi>
              </Link>
            ),
          },
          {
            title: 'Read by',
            cell: ({ project, agent, turnNumber }) => (
              <Link href={turnPath(project, agent, turnNumber)}>
                <bdi>{agent}</bdi>, turn {turnNumber}
              </Link>
            ),
          },
          {
            title: 'Deliver again',
            classOf: () => 'cell-acts',
            cell: ({ project, request, next }) => (
              <>
                {request === null ? null : <SystemActs project={project} request={request} />}
                <Copyable text={`suzumio ${next}`} />
              </>
            ),
          },
        ]}
      />
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
            <bdi translate="no">{project}</bdi> <Copyable text={`suzumio verify ${project}`} />
          </li>
        ))}
      </ul>
      <More of={projects.length} shown={mostUnreadable} />
    </section>
  );
}

const mostUnreadable = 20;
