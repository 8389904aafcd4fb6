import type { Pause } from '@suzumio/contract/model/pause';
import type { ProjectStatus } from '@suzumio/contract/model/project-status';
import type { WhyAnswer, WhyCode, WhyReason } from '@suzumio/contract/model/why';
import type { StorageReached } from '@suzumio/contract/model/storage';
import { type DayBudget, daySpentMessage, isDaySpent } from '../budgets/day-budget.js';
import { stepAfterFailure, wordsAfterFailure } from './what-helps.js';
import { capacityReasons } from './capacity.js';
import type { CellFacts, ProjectFacts, ServiceFacts, TurnFacts } from './facts.js';
import { byHand, type NextStep, nextSteps } from './next-steps.js';
import { attemptOf, moment, plural, span } from './words.js';

/** {@link whyReasons} as the API's answer. */
export function whyAnswerOf(facts: ProjectFacts, cell: CellFacts, nowMs: number): WhyAnswer {
  const { id: agent, state, unread } = facts.agent;
  return { project: facts.project.id, agent, state, unread, reasons: whyReasons(facts, cell, nowMs) };
}

/**
 * Why an agent is idle, or what it is doing: all present reasons, in the order in which they have to change. Facts
 * only; what is not known is left out.
 */
export function whyReasons(facts: ProjectFacts, cell: CellFacts, nowMs: number): [WhyReason, ...WhyReason[]] {
  const { turn, project, agent } = facts;
  if (project.status === 'completed') return withFirst(ofProject(facts));
  if (turn?.running) return running(facts, turn, cell, nowMs);
  const gates = [...heldUp(facts, cell), ...heldBack(facts, cell, nowMs)];
  const wanted = turn !== null || agent.unread > 0;
  // They stop no turn, but what it produces is refused or not stored.
  const files = storageReached(facts, ['files']);
  if (!wanted) return withFirst([...gates, noMail(facts), ...files]);
  const machinery = [...servicesMissing(cell, nowMs), ...(facts.runsIn ? [] : handlerReasons(facts, nowMs))];
  const capacity = facts.runsIn ? capacityReasons({ ...facts, runsIn: facts.runsIn }, cell) : [];
  // Positions in lines only matter where nothing else is in the way.
  const waits = ['queued-behind', 'waiting-for-slot', 'waiting-for-handler'];
  const blocked = [...gates, ...machinery, ...capacity].some(({ code }) => !waits.includes(code));
  const all = [...gates, ...machinery, ...capacity].filter(({ code }) => !blocked || !waits.includes(code));
  return withFirst([...(all.length === 0 ? [aboutToStart(facts)] : all), ...files]);
}

function withFirst(reasons: readonly WhyReason[]): [WhyReason, ...WhyReason[]] {
  const [first, ...others] = reasons;
  if (!first) throw new Error('there is always a reason');
  return [first, ...others];
}

function running(facts: ProjectFacts, turn: TurnFacts, cell: CellFacts, nowMs: number): [WhyReason, ...WhyReason[]] {
  const { project, agent } = facts;
  const since = turn.attemptStartedAtMs ?? nowMs;
  const attempt = turn.attempt > 1 ? `, attempt ${turn.attempt}` : '';
  const mail = agent.unread === 0 ? '' : ` ${nextMail(facts)} will be in the next turn.`;
  const missing = servicesMissing(cell, nowMs);
  const place = `on ${turn.worker ?? 'a worker'} since ${moment(since, nowMs)}`;
  const working: WhyReason = {
    code: 'working',
    sentence:
      missing.length === 0
        ? `It works: turn ${turn.number}${attempt} runs ${place}.${mail}`
        : `Turn ${turn.number}${attempt} was running ${place}; whether it still runs is not known.${mail}`,
    ...nextSteps.follow(project.id, agent.id, turn.number),
  };
  const others: WhyReason[] = [];
  if (turn.leaseUntilMs !== null && turn.leaseUntilMs < nowMs) {
    others.push({
      code: 'worker-silent',
      sentence: `Its worker ${turn.worker ?? ''} has not been heard of since its lease ran out at ${moment(turn.leaseUntilMs, nowMs)}; the turn is about to be taken from it.`,
      ...waiting,
    });
  }
  if (agent.stopping) {
    others.push({ code: 'stopping', sentence: 'It stops when this turn has ended.', ...waiting });
  } else {
    others.push(...heldUp(facts, cell));
  }
  return withFirst([...missing, working, ...others]);
}

/** Only time helps. */
const waiting = { next: null, request: null };

function nextMail({ agent: { unread }, maxPromptMessages: most }: ProjectFacts): string {
  const all = plural(unread, 'unread message');
  return unread <= most ? `Its ${all}` : `At most ${most} of its ${all}`;
}

/** Obstacles set by a person or a limit. */
function heldUp(facts: ProjectFacts, cell: CellFacts): WhyReason[] {
  const { project, agent } = facts;
  return [
    ...ofProject(facts),
    ...(cell.paused ? [pausedReason('cell-paused', 'Every project', cell.paused, nextSteps.resumeAll())] : []),
    ...(project.paused
      ? [pausedReason('project-paused', 'The project', project.paused, nextSteps.resumeProject(project.id))]
      : []),
    ...(agent.paused ? [agentPaused(project.id, agent.id, agent.paused)] : []),
    ...ofAgent(facts),
  ];
}

/** The states of a project and of an agent in which the agent gets no turns until a person does something. */
export interface StateFacts {
  project: Pick<ProjectFacts['project'], 'id' | 'status'>;
  agent: Pick<ProjectFacts['agent'], 'id' | 'state' | 'failure'>;
}

export type StateReason = WhyReason & {
  code: `project-${Exclude<ProjectStatus, 'running'>}` | 'agent-failed' | 'agent-stopped' | 'agent-retired';
};

/** Why the states of a project and of an agent keep the agent from turns; empty where they do not. */
export function stateReasons(facts: StateFacts): StateReason[] {
  return [...ofProject(facts), ...ofAgent(facts)];
}

function ofAgent(facts: StateFacts): StateReason[] {
  const { project, agent } = facts;
  if (agent.state === 'failed') return [agentFailed(facts)];
  if (agent.state === 'retired') {
    const sentence = "It was retired: the project's file has it no more. A version that has it again brings it back.";
    return [{ code: 'agent-retired', sentence, ...nextSteps.configVersions(project.id) }];
  }
  if (agent.state !== 'stopped') return [];
  const sentence = 'It was stopped, and starts no turns until it is started.';
  return [{ code: 'agent-stopped', sentence, ...nextSteps.startAgent(project.id, agent.id) }];
}

function ofProject({ project, agent }: StateFacts): StateReason[] {
  const { id, status } = project;
  const reason = (sentence: string, step: NextStep): StateReason[] =>
    status === 'running' ? [] : [{ code: `project-${status}`, sentence, ...step }];
  switch (status) {
    case 'running':
      return [];
    case 'initialized':
      return reason('The project has not been started yet.', nextSteps.startProject(id));
    case 'stopped':
      return reason('The project is stopped: mail waits.', nextSteps.startProject(id));
    case 'submitted':
      return reason(
        'The project has handed in its report and waits for a person; mail waits until the report is sent back.',
        nextSteps.readReport(id),
      );
    case 'completed':
      return reason('The project is completed: its report is approved.', nextSteps.requestChanges(id, agent.id));
  }
}

function pausedReason(code: WhyCode, what: string, pause: Pause, step: NextStep): WhyReason {
  const why = pause.reason === null ? '.' : `: ${pause.reason}`;
  return {
    code,
    sentence: `${what} is paused by ${pause.by} since ${pause.at.slice(0, 19).replace('T', ' ')} UTC${why}`,
    ...step,
  };
}

function agentPaused(project: string, agent: string, pause: Pause): WhyReason {
  const code =
    pause.limit === undefined ? 'agent-paused' : pause.limit === 'maxTurnsPerHour' ? 'turns-per-hour' : 'protection';
  return pausedReason(code, 'It', pause, nextSteps.resumeAgent(project, agent));
}

function agentFailed({ project, agent }: StateFacts): StateReason {
  const { failure } = agent;
  const words = wordsAfterFailure(failure?.code);
  const how =
    failure === null ? '' : ` in turn ${failure.turnNumber}${attemptOf(failure)}: ${failure.code}: ${failure.message}`;
  const sentence = `It failed${how}${words === '' ? '' : ` ${words}`}`;
  return { code: 'agent-failed', sentence, ...stepAfterFailure(project.id, agent.id, failure?.code) };
}

/** Obstacles that pass on their own, or with a larger limit. */
function heldBack(facts: ProjectFacts, cell: CellFacts, nowMs: number): WhyReason[] {
  const { project, agent, turn, budgetReached, activeTurns, maxConcurrentTurns: most } = facts;
  const reasons: WhyReason[] = [];
  if (!turn && budgetReached !== null) {
    const { agent: whose, limit, message } = budgetReached;
    reasons.push({
      code: 'budget-reached',
      sentence: `No turn begins: ${message}`,
      ...nextSteps.raiseBudget(project.id, whose, limit),
    });
  }
  if (!turn && isDaySpent(cell.day, facts.leastHeldNanoUsd)) {
    reasons.push(dayReached('No turn begins', cell.day));
  }
  reasons.push(...storageReached(facts, ['rows', 'disk']));
  const bounded = !turn && agent.unread > 0 && agent.state === 'quiet' && facts.runsIn !== null;
  if (bounded && most !== undefined && activeTurns >= most) {
    reasons.push({
      code: 'concurrency-limit',
      sentence: `The project runs ${plural(most, 'turn')} at a time (scheduler.maxConcurrentTurns), and ${activeTurns} ${activeTurns === 1 ? 'is' : 'are'} queued or running: its turn comes when one has ended.`,
      ...nextSteps.turns(project.id),
    });
  }
  if (turn) reasons.push(...turnHeldBack(facts, turn, cell, nowMs));
  return reasons;
}

function storageReached(
  { project, storageReached: reached }: ProjectFacts,
  limits: readonly StorageReached['limit'][],
): WhyReason[] {
  return reached
    .filter(({ limit }) => limits.includes(limit))
    .map(({ message }) => ({ code: 'storage-reached', sentence: message, ...nextSteps.usage(project.id) }));
}

function dayReached(what: string, day: DayBudget): WhyReason {
  return { code: 'day-budget-reached', sentence: `${what}: ${daySpentMessage(day)}`, ...nextSteps.usageByDay() };
}

function turnHeldBack({ project, agent }: ProjectFacts, turn: TurnFacts, cell: CellFacts, nowMs: number): WhyReason[] {
  const failure = turn.failure === null ? '' : ` after ${turn.failure.code} (${turn.failure.message})`;
  const untilMs = turn.waitsFor === null ? undefined : cell.providersAway.get(turn.waitsFor);
  if (turn.waitsFor !== null && untilMs !== undefined) {
    const until = untilMs > nowMs ? ` until ${moment(untilMs, nowMs)}` : ', and is about to be tried';
    return [
      {
        code: 'provider-away',
        sentence: `Turn ${turn.number} waits for ${modelIn(turn.waitsFor)}, which is away${until}${failure}.`,
        ...nextSteps.watch(project.id),
      },
    ];
  }
  if (turn.waitsFor !== null && turn.waitsFor === cell.day?.gate) {
    return [dayReached(`Turn ${turn.number} waits for another day`, cell.day)];
  }
  if (turn.notBeforeMs <= nowMs) return [];
  return [
    {
      code: 'backoff',
      sentence: `Turn ${turn.number} is tried again at ${moment(turn.notBeforeMs, nowMs)}${failure}.`,
      ...nextSteps.showTurn(project.id, agent.id, turn.number),
    },
  ];
}

/** A circuit consists of its provider's host, a hash of key and settings, and the model. */
function modelIn(circuit: string): string {
  const [, host = circuit, model] = /^([^#]*)#[^/]*(?:\/(.*))?$/s.exec(circuit) ?? [];
  return model === undefined ? `the model provider ${host}` : `model ${model} of the provider ${host}`;
}

function noMail({ project, agent }: ProjectFacts): WhyReason {
  if (agent.undelivered > 0) {
    return {
      code: 'no-mail',
      sentence: `It has no unread mail, and only mail starts a turn. ${plural(agent.undelivered, 'message')} that it read in turns which failed or were cancelled ${agent.undelivered === 1 ? 'is' : 'are'} undelivered.`,
      ...nextSteps.undelivered(project.id, agent.id),
    };
  }
  return {
    code: 'no-mail',
    sentence: 'It has no unread mail, and only mail starts a turn.',
    ...nextSteps.send(project.id, agent.id),
  };
}

function servicesMissing({ scheduler, toolhost, fleet }: CellFacts, nowMs: number): WhyReason[] {
  const missing = (code: WhyCode, what: string, does: string, { seenAtMs }: ServiceFacts): WhyReason => ({
    code,
    sentence: `No ${what} runs${seenAtMs === null ? '' : `; the last was heard of at ${moment(seenAtMs, nowMs)}`}: ${does}.`,
    ...byHand('serve'),
  });
  return [
    ...(scheduler.alive ? [] : [missing('scheduler-missing', 'scheduler', 'nobody starts turns for mail', scheduler)]),
    ...(toolhost.alive ? [] : [missing('toolhost-missing', 'ToolHost', 'nobody gives turns to workers', toolhost)]),
    ...(fleet === 'away'
      ? [
          {
            code: 'queue-away' as const,
            sentence: 'The queue (Redis) cannot be reached: turns wait until it is back.',
            ...byHand('doctor'),
          },
        ]
      : []),
  ];
}

function handlerReasons({ project, agent, handler, turn }: ProjectFacts, nowMs: number): WhyReason[] {
  if (!handler?.connected) {
    const last =
      handler === null
        ? 'none has asked yet'
        : `the last, ${handler.handler}, asked at ${moment(handler.seenAtMs, nowMs)}`;
    return [
      {
        code: 'handler-missing',
        sentence: `Its turns are run by a handler of your own (backend: external), and none is connected: ${last}. Handlers connect to the ToolHost's listener for workers, which \`serve\` prints.`,
        ...nextSteps.tokenForHandler(project.id, agent.id),
      },
    ];
  }
  if (turn === null) return [];
  return [
    {
      code: 'waiting-for-handler',
      sentence: `Turn ${turn.number} waits for its handler ${handler.handler}, which asked for work ${span(nowMs - handler.seenAtMs)} ago.`,
      ...nextSteps.watch(project.id),
    },
  ];
}

function aboutToStart({ project, agent, turn }: ProjectFacts): WhyReason {
  const what = turn === null ? `It has ${plural(agent.unread, 'unread message')}` : `Its turn ${turn.number} is queued`;
  return {
    code: 'about-to-start',
    sentence: `${what}, and nothing is in the way: it is about to start.`,
    ...nextSteps.watch(project.id),
  };
}
