import type { Pause } from '@suzumio/contract/model/pause';
import type { AgentView } from '@suzumio/contract/model/agent';
import type { ProjectView } from '@suzumio/contract/model/project';
import type { ProjectDetailAnswer } from '@suzumio/contract/operations/projects';
import { oneLine } from '@suzumio/core/prompt/body';
import type { CliContext } from '../cli-context.js';
import { attemptOf } from '@suzumio/core/why/words';
import { paint } from './colors.js';
import { count, cut, dayAndTime, dollars, duration, timeOfDay } from './format.js';

type Style = Pick<CliContext, 'now' | 'timeZone'> & { readonly out: Pick<CliContext['out'], 'colors' | 'columns'> };

/** A project in a line, each agent in another, and what the person may do now. */
export function renderStatus(detail: ProjectDetailAnswer, style: Style): { lines: string[]; next: string[] } {
  const { project, agents } = detail;
  const colors = paint(style.out);
  const width = Math.max(...agents.map(({ id }) => id.length));
  const lines = agents.map((agent) => {
    const line = cut(`  ${agent.id.padEnd(width)}  ${agentState(agent, detail, style)}`, style.out.columns);
    return agent.state === 'failed' ? colors.red(line) : agent.state === 'running' ? line : colors.dim(line);
  });
  const line = cut(`${project.id}   ${projectState(detail)}     ${figures(project, style)}`, style.out.columns);
  const held = whatHoldsItUp(detail, style).map((text) => colors.red(cut(`  ${text}`, style.out.columns)));
  return { lines: [line.replace(project.id, colors.bold), ...held, ...lines], next: nextCommands(detail) };
}

/** Several projects, a line each. */
export function renderProjects(projects: readonly ProjectDetailAnswer[], style: Style): string[] {
  const name = Math.max(...projects.map(({ project }) => project.id.length));
  const state = Math.max(...projects.map((detail) => projectState(detail).length));
  return projects.map((detail) => {
    const { project } = detail;
    const line = `${project.id.padEnd(name)}   ${projectState(detail).padEnd(state)}   ${figures(project, style)}`;
    return cut(line, style.out.columns);
  });
}

function figures(project: ProjectView, { now }: Pick<Style, 'now'>): string {
  const { turns, startedAt, statusAt, status, tokens, costUsd } = project;
  const untilMs = status === 'running' ? now() : Date.parse(statusAt);
  return [
    count(turns.total, 'turn'),
    ...(turns.failed > 0 ? [`${turns.failed} failed`] : []),
    count(tokens, 'token'),
    ...(costUsd > 0 ? [dollars(costUsd)] : []),
    ...(startedAt === null ? [] : [duration(Math.max(0, untilMs - Date.parse(startedAt)))]),
  ].join(', ');
}

/** The project's status, and why nothing moves where nothing does. */
function projectState({ project, agents, cellPaused, budgetsReached }: ProjectDetailAnswer): string {
  switch (project.status) {
    case 'initialized':
      return 'initialized, not started yet';
    case 'running': {
      const active = agents.filter(({ state }) => state === 'running');
      const working = active.filter(({ activeTurn }) => activeTurn?.status !== 'queued').length;
      const waiting = active.length - working;
      if (cellPaused !== null) return 'running, but everything is paused';
      if (project.paused !== null) return 'running, but paused';
      if (working > 0) {
        return `running, ${count(working, 'agent')} at work${waiting === 0 ? '' : `, ${waiting} waiting`}`;
      }
      if (waiting > 0) return `running, ${count(waiting, 'agent')} waiting for a turn to begin`;
      if (budgetsReached.some(({ agent }) => agent === null)) return 'running, but its budget is reached';
      if (agents.some(({ state }) => state === 'failed')) return 'running, waits for a failed agent';
      if (agents.some(({ unread, paused }) => unread > 0 && paused !== null))
        return 'running, waits for a paused agent';
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

/** What keeps the project as a whole from turns, and who or what made it so. */
function whatHoldsItUp(
  { project, cellPaused, budgetsReached, storageReached, modelFaults }: ProjectDetailAnswer,
  style: Style,
): string[] {
  return [
    ...(cellPaused === null ? [] : [`every project is ${pausedBy(cellPaused, style)}`]),
    ...(project.paused === null ? [] : [pausedBy(project.paused, style)]),
    ...[...budgetsReached, ...storageReached].map(({ message }) => oneLine(message)),
    ...modelFaults.map(({ preset, code, message }) => oneLine(`preset ${preset} refuses (${code}): ${message}`)),
  ];
}

function pausedBy({ by, at, reason }: Pause, style: Style): string {
  return `paused by ${oneLine(by)}, ${dayAndTime(at, style)}${reason === null ? '' : `: ${oneLine(reason)}`}`;
}

/** What an agent is at, and why it is not at more. */
function agentState(agent: AgentView, detail: ProjectDetailAnswer, style: Style): string {
  const state = stateOf(agent, detail, style);
  return agent.paused === null ? state : `${state}; ${pausedBy(agent.paused, style)}`;
}

function stateOf(agent: AgentView, detail: ProjectDetailAnswer, style: Style): string {
  const mail = [
    ...(agent.unread === 0 ? [] : [`${agent.unread} unread`]),
    ...(agent.undelivered === 0 || agent.state === 'failed' ? [] : [`${agent.undelivered} undelivered`]),
  ];
  const and = mail.map((part) => `, ${part}`).join('');
  switch (agent.state) {
    case 'quiet':
      return `quiet${and}${quietBecause(agent, detail)}`;
    case 'running':
      return `${working(agent, detail, style)}${and}${agent.stopping ? '; stops then' : ''}`;
    case 'failed': {
      const { failure } = agent;
      const why = failure === null ? '' : `   ${failure.code} in turn ${failure.turnNumber}${attemptOf(failure)}`;
      return `failed${why}${and}`;
    }
    case 'stopped':
      return `stopped${and}`;
    case 'retired':
      return `retired${and}`;
  }
}

/** Unread mail of a quiet agent starts a turn at once, unless the project keeps it from that. */
function quietBecause(
  { id, unread, paused }: AgentView,
  { project, cellPaused, budgetsReached }: ProjectDetailAnswer,
): string {
  const { status } = project;
  if (unread === 0 || paused !== null) return '';
  if (status === 'running' && (cellPaused ?? project.paused) !== null) return ' (paused)';
  if (status === 'running' && budgetsReached.some(({ agent }) => agent === null || agent === id)) {
    return ' (a budget is reached)';
  }
  return status === 'running' ? '; its turn is about to start' : ` (project is ${status})`;
}

function working(
  { activeTurn: turn, paused }: AgentView,
  { project, cellPaused }: ProjectDetailAnswer,
  style: Style,
): string {
  if (turn === null) return 'running';
  const attempt = turn.attempt > 1 ? `, attempt ${turn.attempt}` : '';
  if (turn.status !== 'queued') {
    const since = turn.startedAt === null ? '' : `, ${duration(Math.max(0, style.now() - Date.parse(turn.startedAt)))}`;
    return `running  turn ${turn.number}${attempt}${since}`;
  }
  const after = turn.failure === null ? '' : ` after ${turn.failure.code}`;
  if (project.status !== 'running') return `queued   turn ${turn.number} goes on when the project runs again${after}`;
  if ((cellPaused ?? project.paused ?? paused) !== null)
    return `queued   turn ${turn.number} waits until it is resumed${after}`;
  if (turn.failure?.code === 'day-budget-reached') return `queued   turn ${turn.number} waits for the day's budget`;
  if (turn.notBefore !== null && Date.parse(turn.notBefore) > style.now()) {
    return `queued   turn ${turn.number} is tried again at ${timeOfDay(turn.notBefore, style)}${after}`;
  }
  const waited = duration(Math.max(0, style.now() - Date.parse(turn.queuedAt)));
  const last = turn.failure === null ? '' : `; its last attempt: ${turn.failure.code}`;
  return `queued   turn ${turn.number} waits for a worker, ${waited}${last}`;
}

function nextCommands({ project, agents, cellPaused, budgetsReached }: ProjectDetailAnswer): string[] {
  const { id } = project;
  const first = agents.find(({ state }) => state !== 'retired')?.id ?? 'AGENT';
  const failed = agents.filter(({ state }) => state === 'failed');
  switch (project.status) {
    case 'initialized':
    case 'stopped':
      return [`start ${id}`];
    case 'running': {
      if (cellPaused !== null) return ['resume --all'];
      if (project.paused !== null) return [`resume ${id}`];
      const quiet = agents.find(({ unread, activeTurn }) => unread > 0 && activeTurn?.status !== 'running');
      const why = quiet ? [`why ${id} ${quiet.id}`] : [];
      const [reached] = budgetsReached;
      if (reached || failed.some(({ failure }) => failure?.code === 'budget-reached')) return [`budget ${id}`, ...why];
      const paused = agents.find((agent) => agent.paused !== null);
      if (paused) return [`resume ${id} ${paused.id}`, ...why];
      const [one, ...others] = failed;
      if (one)
        return [
          ...new Set([
            `why ${id} ${one.id}`,
            others.length > 0 && failed.every(({ failure }) => failure?.request?.operation === 'retryAgent')
              ? `retry ${id} --failed`
              : (one.failure?.next ?? `why ${id} ${one.id}`),
            ...why,
          ]),
        ];
      const tried = agents.find(({ activeTurn }) => activeTurn?.status === 'queued' && activeTurn.failure !== null);
      if (tried) return [`why ${id} ${tried.id}`, `watch ${id}`];
      if (project.turns.active > 0) return [`watch ${id}`, ...why];
      const stopped = agents.find(({ state, unread }) => state === 'stopped' && unread > 0);
      const left = agents.some(({ undelivered, state }) => undelivered > 0 && state !== 'retired')
        ? [`inbox ${id} --undelivered`]
        : [];
      return [stopped ? `agents start ${id} ${stopped.id}` : `send ${id} ${first} P1 "…"`, ...why, ...left];
    }
    case 'submitted':
      return [`report ${id}`, `approve ${id}`, `request-changes ${id} ${project.reportBy ?? first} "…"`];
    case 'completed':
      return [`report ${id}`];
  }
}
