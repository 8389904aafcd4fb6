import type { Agent, ProjectDetail, Turn } from '@suzumio/sdk/client';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { Link } from 'wouter';
import { AgentActs, NextAct, Notes } from '../../../acts/run/late.js';
import { api, keys } from '../../../api.js';
import { Copyable } from '../../../parts/copy.js';
import { Failure } from '../../../parts/failure.js';
import { Mark } from '../../../parts/mark.js';
import type { MarkKind } from '../../../parts/mark-kind.js';
import { Markdown } from '../../../parts/markdown.js';
import { visible } from '../../../parts/visible.js';
import { count, dollars, some, span } from '../../../parts/numbers.js';
import { nameOf, stateOfAgent } from '../../../parts/states.js';
import { Ago, Moment } from '../../../parts/time.js';
import { addressed, called, mailPath, profilePath, turnPath, workspacePath } from '../../../parts/places.js';
import { useMayInCell } from '../../../acts/use-may-make.js';
import { useBudget } from '../../../use-project.js';
import { useWhy } from '../../../use-why.js';
import { useTitle } from '../../../title.js';

/** One agent: why it is quiet, what waits for it, what it remembers, what it did and how it was made. */
export function AgentPage({ detail, agent: id }: { detail: ProjectDetail; agent: string }) {
  const { project, agents } = detail;
  const agent = agents.find((one) => one.id === id);
  useTitle(`${id} · ${project.id}`);
  if (agent === undefined) {
    return (
      <div className="empty">
        <h2>
          There is no agent <bdi>{id.slice(0, 100)}</bdi>
        </h2>
        <Link href={`/p/${project.id}/agents`} className="button">
          All agents
        </Link>
      </div>
    );
  }
  const { mark, word } = stateOfAgent(agent);
  return (
    <div className="agent">
      <header className="agent-head">
        <p className="crumbs">
          <Link href={`/p/${project.id}/agents`}>Agents</Link> / <bdi>{agent.id}</bdi>
        </p>
        <h2 className="about-title">
          <bdi>{nameOf(agent)}</bdi>{' '}
          <span className={`state agent-state state-${mark}`}>
            <Mark kind={mark} /> {word}
          </span>
        </h2>
        <Facts project={project.id} agent={agent} />
        <AgentActs project={project.id} agent={agent} />
      </header>
      <div className="agent-main">
        <Why project={project.id} agent={agent} />
        <Unread detail={detail} agent={agent} />
        <Section title="Memory" note="what it noted, or was given to know">
          <Notes of={{ project: project.id, agent: agent.id }} name={nameOf(agent)} />
          {agent.profile === null ? null : (
            <p className="quiet">
              It finds the notes of its profile, too: <ProfileOf id={agent.profile} />.
            </p>
          )}
        </Section>
        <Memory project={project.id} agent={agent} />
      </div>
      <div className="agent-side">
        <Turns project={project.id} agent={agent} />
        <Made project={project.id} agent={agent} />
      </div>
    </div>
  );
}

function Facts({ project, agent }: { project: string; agent: Agent }) {
  const budget = useBudget(project).data?.find((one) => one.agent === agent.id);
  return (
    <ul className="facts">
      {agent.role === nameOf(agent) ? null : (
        <li>
          <bdi>{agent.role}</bdi>
        </li>
      )}
      <li>
        <b>{count(agent.turns)}</b> {agent.turns === 1 ? 'turn' : 'turns'}
      </li>
      <li>
        <b>{count(agent.unread)}</b> unread
      </li>
      {agent.undelivered > 0 ? (
        <li className="state-failed">
          <b>{count(agent.undelivered)}</b> not delivered
        </li>
      ) : null}
      <li>
        <Link href={workspacePath(project, agent.id)}>its files</Link>
      </li>
      {budget === undefined ? null : (
        <li>
          <b>{dollars(budget.usd.used)}</b>
          {budget.usd.limit === null ? null : ` of ${dollars(budget.usd.limit)}`}
        </li>
      )}
    </ul>
  );
}

function Section({ title, note, children }: { title: string; note?: string; children: ReactNode }) {
  return (
    <section className="agent-section" aria-label={title}>
      <h3>
        {title} {note === undefined ? null : <span className="pane-note">{note}</span>}
      </h3>
      {children}
    </section>
  );
}

function Why({ project, agent }: { project: string; agent: Agent }) {
  const why = useWhy(project, agent);
  return (
    <Section title={agent.activeTurn?.status === 'running' ? 'What it is at' : 'Why it is quiet'}>
      {why.error ? <Failure error={why.error} again={() => void why.refetch()} /> : null}
      <ol className="reasons">
        {why.data?.reasons.map(({ code, sentence, next, request }) => (
          <li key={code} className="reason">
            <p>
              <bdi>{sentence}</bdi>
            </p>
            {request === null ? null : <NextAct next={request} />}
            {next === null ? null : <Copyable text={`suzumio ${next}`} />}
          </li>
        ))}
      </ol>
    </Section>
  );
}

const mostShown = 20;

function Unread({ detail: { project, agents }, agent }: { detail: ProjectDetail; agent: Agent }) {
  const mail = useQuery({
    queryKey: [...keys.project(project.id), 'inbox', agent.id],
    queryFn: () => api.listInbox({ project: project.id, query: { agent: agent.id, limit: mostShown, order: 'desc' } }),
    enabled: agent.unread > 0,
  });
  if (agent.unread === 0) return null;
  const more = agent.unread - (mail.data?.items.length ?? 0);
  return (
    <Section title="Unread mail" note={count(agent.unread)}>
      {mail.error ? <Failure error={mail.error} again={() => void mail.refetch()} /> : null}
      <ol className="lines">
        {mail.data?.items.map((message) => (
          <li key={message.id}>
            <Link href={mailPath(project.id, message.seq)} className="line">
              <Mark kind="message" />
              <span className="line-text clip">
                <b>
                  <bdi>{called(message.sender, agents)}</bdi>
                </b>{' '}
                {message.channel === null ? null : (
                  <span className="quiet">
                    to <bdi>{addressed(message, agents)}</bdi>{' '}
                  </span>
                )}
                <bdi>{visible(message.body.slice(0, 300))}</bdi>
              </span>
              <span className="line-age">
                {message.priority} <Ago at={message.createdAt} />
              </span>
            </Link>
          </li>
        ))}
      </ol>
      {mail.data && more > 0 ? <p className="quiet">and {count(more)} older</p> : null}
    </Section>
  );
}

function Memory({ project, agent: { id } }: { project: string; agent: Agent }) {
  const memory = useQuery({
    queryKey: [...keys.project(project), 'memory', id],
    queryFn: () => api.getMemory({ project, agent: id }),
  });
  const notes = memory.data?.items ?? [];
  return (
    <Section title="What it remembers">
      {memory.error ? <Failure error={memory.error} again={() => void memory.refetch()} /> : null}
      {memory.data && notes.length === 0 ? (
        <p className="quiet">Nothing is summed up yet: it is told of its earlier turns themselves.</p>
      ) : null}
      {notes.map((note, at) => (
        <details key={note.turn + note.step} className="note" open={at === 0}>
          <summary>
            Turns up to {note.throughTurn}, written <Moment at={note.createdAt} />
          </summary>
          <Markdown text={note.text} />
        </details>
      ))}
    </Section>
  );
}

const turnMarks: Readonly<Record<Turn['status'], MarkKind>> = {
  queued: 'queued',
  running: 'running',
  completed: 'done',
  failed: 'failed',
  cancelled: 'stopped',
};

function Turns({ project, agent: { id, turns: total } }: { project: string; agent: Agent }) {
  const turns = useQuery({
    queryKey: [...keys.project(project), 'turns', id],
    queryFn: () => api.listTurns({ project, query: { agent: id, limit: mostShown, order: 'desc' } }),
  });
  return (
    <Section title="Turns" note={count(total)}>
      {turns.error ? <Failure error={turns.error} again={() => void turns.refetch()} /> : null}
      {turns.data?.items.length === 0 ? <p className="quiet">None yet. Mail begins one.</p> : null}
      <ol className="lines">
        {turns.data?.items.map((turn) => (
          <li key={turn.id}>
            <Link href={turnPath(project, id, turn.number)} className="line">
              <Mark kind={turnMarks[turn.status]} title={turn.status} />
              <span className="line-text clip">
                <b>Turn {turn.number}</b> <bdi>{visible((turn.failure?.message ?? turn.text ?? '').slice(0, 300))}</bdi>
              </span>
              <span className="line-age">{tookOf(turn)}</span>
            </Link>
          </li>
        ))}
      </ol>
      {turns.data?.previous === undefined ? null : <Link href={`/p/${project}/turns?agent=${id}`}>All its turns</Link>}
    </Section>
  );
}

function tookOf({ startedAt, endedAt, attempt }: Turn): string {
  if (startedAt === null || endedAt === null) return '';
  const took = span(Date.parse(endedAt) - Date.parse(startedAt));
  return attempt > 1 ? `${took}, ${some(attempt, 'attempt')}` : took;
}

/** A profile by its name, which leads to it where the session may read profiles. */
function ProfileOf({ id }: { id: string }) {
  const may = useMayInCell();
  const nickname = useQuery({
    queryKey: [...keys.profiles, 'called', id],
    queryFn: async () => (await api.getProfile({ profile: id })).profile.nickname,
    enabled: may('getProfile'),
    staleTime: Infinity,
  }).data;
  return nickname === undefined ? (
    <bdi translate="no">{id}</bdi>
  ) : (
    <Link href={profilePath(nickname)} className="evidence">
      <bdi>{nickname}</bdi>
    </Link>
  );
}

/** How it was made: from the project file. */
function Made({ project, agent: { prompt, tools, model, team, profile } }: { project: string; agent: Agent }) {
  const runner = useQuery({
    queryKey: [...keys.project(project), 'config'],
    queryFn: () => api.getResolvedConfig({ project }),
  }).data?.backend.runner;
  // Who names none thinks with the project's.
  const thinksWith = model ?? (runner?.mode === 'mock' ? 'none' : runner?.model);
  return (
    <Section title="How it was made">
      <dl className="made">
        <dt>Model</dt>
        <dd>
          <bdi>{thinksWith}</bdi>
        </dd>
        {team === null ? null : (
          <>
            <dt>Team</dt>
            <dd>
              <bdi>{team}</bdi>
            </dd>
          </>
        )}
        {profile === null ? null : (
          <>
            <dt>Profile</dt>
            <dd>
              <ProfileOf id={profile} />
            </dd>
          </>
        )}
        <dt>Tools</dt>
        <dd>
          <ul className="tools">
            {tools.map((tool) => (
              <li key={tool}>
                <code translate="no">{tool}</code>
              </li>
            ))}
          </ul>
        </dd>
      </dl>
      <details className="note">
        <summary>Its prompt</summary>
        <Markdown text={prompt} />
      </details>
    </Section>
  );
}
