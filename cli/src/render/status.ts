import type { AgentView, ProjectView } from '@suzumio/shared/model/views';
import type { Output } from '../cli-context.js';
import { paint } from './colors.js';
import { count } from './format.js';

/** A project in a line, each agent in another, and what the person may do now. */
export function renderStatus(
  project: ProjectView,
  agents: readonly AgentView[],
  out: Pick<Output, 'colors'>,
): { lines: string[]; next: string[] } {
  const colors = paint(out);
  const width = Math.max(...agents.map(({ id }) => id.length));
  const lines = agents.map((agent) => {
    const line = `  ${agent.id.padEnd(width)}  ${agentState(agent, project)}`;
    return agent.state === 'failed' ? colors.red(line) : line;
  });
  return { lines: [statusLine(project, agents), ...lines], next: nextCommands(project, agents) };
}

/** Several projects, a line each. */
export function renderProjects(projects: readonly { project: ProjectView; agents: readonly AgentView[] }[]): string[] {
  const name = Math.max(...projects.map(({ project }) => project.id.length));
  const state = Math.max(...projects.map(({ project, agents }) => projectState(project, agents).length));
  return projects.map(
    ({ project, agents }) =>
      `${project.id.padEnd(name)}   ${projectState(project, agents).padEnd(state)}   ${figures(project)}`,
  );
}

function statusLine(project: ProjectView, agents: readonly AgentView[]): string {
  return `${project.id}   ${projectState(project, agents)}     ${figures(project)}`;
}

function figures({ turns, messages, artifacts }: ProjectView): string {
  return [
    count(turns.total, 'turn'),
    ...(turns.failed > 0 ? [`${turns.failed} failed`] : []),
    count(messages, 'message'),
    count(artifacts, 'artifact'),
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

function agentState(agent: AgentView, project: ProjectView): string {
  const unread = agent.unread === 0 ? '' : `, ${agent.unread} unread`;
  switch (agent.state) {
    case 'quiet':
      return `quiet${unread}${agent.unread > 0 && project.status !== 'running' ? ` (project is ${project.status})` : ''}`;
    case 'running': {
      const turn = agent.activeTurn;
      if (turn === null) return `running${unread}`;
      if (turn.status === 'queued') return `queued   turn ${turn.number} waits for a worker${unread}`;
      return `running  turn ${turn.number}${turn.attempt > 1 ? `, attempt ${turn.attempt}` : ''}${unread}`;
    }
    case 'failed': {
      const { failure } = agent;
      const why =
        failure === null ? '' : `   ${failure.code} in turn ${failure.turnNumber}, attempt ${failure.attempt}`;
      return `failed${why}${unread}`;
    }
    case 'stopped':
      return `stopped${unread}`;
  }
}

function nextCommands(project: ProjectView, agents: readonly AgentView[]): string[] {
  const { id } = project;
  const first = agents[0]?.id ?? 'AGENT';
  const retries = agents.filter(({ state }) => state === 'failed').map((agent) => `agents retry ${id} ${agent.id}`);
  switch (project.status) {
    case 'initialized':
    case 'stopped':
      return [`start ${id}`];
    case 'running':
      if (retries.length > 0) return retries;
      return project.turns.active > 0 ? [`watch ${id}`] : [`send ${id} ${first} P1 "…"`];
    case 'submitted':
      return [`report ${id}`, `approve ${id}`, `request-changes ${id} ${first} "…"`];
    case 'completed':
      return [`report ${id}`];
  }
}
