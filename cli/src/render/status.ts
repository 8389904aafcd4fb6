import type { AgentView, ProjectView } from '@suzumio/shared/model/views';
import type { CliContext } from '../cli-context.js';
import { paint } from './colors.js';
import { count, cut, duration, timeOfDay } from './format.js';

type Style = Pick<CliContext, 'now' | 'timeZone'> & { readonly out: Pick<CliContext['out'], 'colors' | 'columns'> };

/** A project in a line, each agent in another, and what the person may do now. */
export function renderStatus(
  project: ProjectView,
  agents: readonly AgentView[],
  style: Style,
): { lines: string[]; next: string[] } {
  const colors = paint(style.out);
  const width = Math.max(...agents.map(({ id }) => id.length));
  const lines = agents.map((agent) => {
    const line = cut(`  ${agent.id.padEnd(width)}  ${agentState(agent, project, style)}`, style.out.columns);
    return agent.state === 'failed' ? colors.red(line) : agent.state === 'running' ? line : colors.dim(line);
  });
  const state = projectState(project, agents);
  const line = cut(`${project.id}   ${state}     ${figures(project, style)}`, style.out.columns);
  return { lines: [line.replace(project.id, colors.bold), ...lines], next: nextCommands(project, agents) };
}

/** Several projects, a line each. */
export function renderProjects(
  projects: readonly { project: ProjectView; agents: readonly AgentView[] }[],
  style: Style,
): string[] {
  const name = Math.max(...projects.map(({ project }) => project.id.length));
  const state = Math.max(...projects.map(({ project, agents }) => projectState(project, agents).length));
  return projects.map(({ project, agents }) =>
    cut(
      `${project.id.padEnd(name)}   ${projectState(project, agents).padEnd(state)}   ${figures(project, style)}`,
      style.out.columns,
    ),
  );
}

function figures(project: ProjectView, { now }: Pick<Style, 'now'>): string {
  const { turns, startedAt, statusAt, status, tokens } = project;
  const untilMs = status === 'running' ? now() : Date.parse(statusAt);
  return [
    count(turns.total, 'turn'),
    ...(turns.failed > 0 ? [`${turns.failed} failed`] : []),
    count(tokens, 'token'),
    ...(startedAt === null ? [] : [duration(Math.max(0, untilMs - Date.parse(startedAt)))]),
  ].join(', ');
}

/** The project's status, and why nothing moves where nothing does. */
function projectState(project: ProjectView, agents: readonly AgentView[]): string {
  switch (project.status) {
    case 'initialized':
      return 'initialized, not started yet';
    case 'running': {
      const working = agents.filter(({ state }) => state === 'running').length;
      if (working > 0) return `running, ${count(working, 'agent')} at work`;
      if (agents.some(({ state }) => state === 'failed')) return 'running, waits for a failed agent';
      if (agents.some(({ unread, state }) => unread > 0 && state === 'stopped'))
        return 'running, waits for a stopped agent';
      return 'running, all quiet: waits for mail';
    }
    case 'submitted':
      return 'submitted, waits for you';
    case 'completed':
      return 'completed, the report is approved';
    case 'stopped':
      return project.turns.active > 0 ? 'stopping, turns that run go to their end' : 'stopped';
  }
}

/** What an agent is at, and why it is not at more. */
function agentState(agent: AgentView, project: ProjectView, style: Style): string {
  const mail = [
    ...(agent.unread === 0 ? [] : [`${agent.unread} unread`]),
    ...(agent.undelivered === 0 || agent.state === 'failed' ? [] : [`${agent.undelivered} undelivered`]),
  ];
  const and = mail.map((part) => `, ${part}`).join('');
  switch (agent.state) {
    case 'quiet':
      return `quiet${and}${quietBecause(agent, project)}`;
    case 'running':
      return `${working(agent, project, style)}${and}${agent.stopping ? '; stops then' : ''}`;
    case 'failed': {
      const { failure } = agent;
      const why =
        failure === null ? '' : `   ${failure.code} in turn ${failure.turnNumber}, attempt ${failure.attempt}`;
      return `failed${why}${and}`;
    }
    case 'stopped':
      return `stopped${and}`;
  }
}

/** Unread mail of a quiet agent starts a turn at once, unless the project keeps it from that. */
function quietBecause({ unread }: AgentView, { status }: ProjectView): string {
  if (unread === 0) return '';
  return status === 'running' ? '; its turn is about to start' : ` (project is ${status})`;
}

function working({ activeTurn: turn }: AgentView, { status }: ProjectView, style: Style): string {
  if (turn === null) return 'running';
  const attempt = turn.attempt > 1 ? `, attempt ${turn.attempt}` : '';
  if (turn.status !== 'queued') {
    const since = turn.startedAt === null ? '' : `, ${duration(Math.max(0, style.now() - Date.parse(turn.startedAt)))}`;
    return `running  turn ${turn.number}${attempt}${since}`;
  }
  const after = turn.failure === null ? '' : ` after ${turn.failure.code}`;
  if (status !== 'running') return `queued   turn ${turn.number} goes on when the project runs again${after}`;
  if (turn.notBefore !== null && Date.parse(turn.notBefore) > style.now()) {
    return `queued   turn ${turn.number} is tried again at ${timeOfDay(turn.notBefore, style)}${after}`;
  }
  return `queued   turn ${turn.number} waits for a worker${after}, ${duration(Math.max(0, style.now() - Date.parse(turn.queuedAt)))}`;
}

function nextCommands(project: ProjectView, agents: readonly AgentView[]): string[] {
  const { id } = project;
  const first = agents[0]?.id ?? 'AGENT';
  const failed = agents.filter(({ state }) => state === 'failed');
  switch (project.status) {
    case 'initialized':
    case 'stopped':
      return [`start ${id}`];
    case 'running': {
      const [one, ...others] = failed;
      if (one)
        return [`logs ${id} ${one.id}`, others.length === 0 ? `agents retry ${id} ${one.id}` : `retry ${id} --failed`];
      if (project.turns.active > 0) return [`watch ${id}`];
      const stopped = agents.find(({ state, unread }) => state === 'stopped' && unread > 0);
      const left = agents.some(({ undelivered }) => undelivered > 0) ? [`inbox ${id} --undelivered`] : [];
      return [stopped ? `agents start ${id} ${stopped.id}` : `send ${id} ${first} P1 "…"`, ...left];
    }
    case 'submitted':
      return [`report ${id}`, `approve ${id}`, `request-changes ${id} ${first} "…"`];
    case 'completed':
      return [`report ${id}`];
  }
}
