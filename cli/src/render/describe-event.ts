import type { ProjectEvent } from '@suzumio/contract/model/event';
import { ownTokens } from '@suzumio/contract/model/access-token';
import { USER_ID } from '@suzumio/contract/model/project-config';
import { fileCounts } from '@suzumio/contract/model/workspace';
import { oneLine } from '@suzumio/core/prompt/body';
import { stepAfterEvent } from '@suzumio/core/why/what-helps';
import { changedFiles, count, cut, duration, shortHash, size } from './format.js';
import { movedRefs } from './shared-tables.js';

/** The tone of a timeline entry, which decides its colour. */
export type Tone = 'plain' | 'quiet' | 'good' | 'bad';

/** An event as the timeline shows it. */
export interface EventDescription {
  readonly who: string;
  readonly what: string;
  readonly tone: Tone;
  /** Commands that the person may give now, without `suzumio`. */
  readonly next?: readonly string[];
}

/** Tools of whose calls other events tell. */
const toldByEffect = new Set([
  ...['messages.send', 'messages.reply', 'messages.broadcast', 'tasks.assign'],
  ...['artifacts.publish', 'completion.submit', 'coordination.wait_for_signal'],
]);

const labelWidth = 'turn 1 cancelled'.length;
const longestSentence = 200;

/**
 * Describes an event; `undefined` for one that another describes better: a queued turn will start, a successful tool
 * call shows in its effect.
 *
 * An event's content may come from an agent, so it is made one visible line.
 */
export function describeEvent(project: string, event: ProjectEvent): EventDescription | undefined {
  const data = readerOf(event.data);
  const who = event.agent ?? event.actor;
  const person = personOf(event);
  const turn = (label: string, detail: string) =>
    `${`turn ${data.number('number')} ${label}`.padEnd(labelWidth)} ${detail}`.trimEnd();
  switch (event.type) {
    case 'project.initialized':
      return {
        who: project,
        what: `initialized with ${count(data.length('agents'), 'agent')}`,
        tone: 'quiet',
        next: [`start ${project}`],
      };
    case 'project.started':
      return { who: project, what: 'started', tone: 'quiet' };
    case 'project.stopped':
      return { who: project, what: 'stopped; unread mail is kept', tone: 'plain', next: [`start ${project}`] };
    case 'project.restored':
      return { who: project, what: 'restored from a copy; what ran then is queued again', tone: 'plain' };
    case 'project.submitted': {
      const agent = event.agent ?? 'AGENT';
      const next = [`report ${project}`, `approve ${project}`, `request-changes ${project} ${agent} "…"`];
      return { who, what: `submitted the report (version ${data.number('version')})`, tone: 'good', next };
    }
    case 'project.changes-requested':
      return {
        who: person,
        what: `sent version ${data.number('version')} back to ${data.text('recipient')}`,
        tone: 'plain',
      };
    case 'project.completed':
      return {
        who: person,
        what: `approved the report (version ${data.number('version')})`,
        tone: 'good',
        next: [`report ${project}`],
      };
    case 'message.created': {
      // Its task's own event says the same.
      if (data.text('kind') === 'task') return undefined;
      const to = data.text('recipient') || data.text('channel');
      return {
        who: `${data.text('sender')} -> ${to}`,
        what: `${data.text('priority')}  ${kindOf(data.text('kind'))}"${data.text('excerpt')}"${attached(data.length('attachments'))}`,
        tone: 'plain',
      };
    }
    case 'message.redelivered':
      return {
        who,
        what: `message ${data.number('seq')} of turn ${data.number('turnNumber')} is unread again`,
        tone: 'plain',
      };
    case 'message.redacted':
      return { who: person, what: `redacted message ${data.number('seq')}${reason(data)}`, tone: 'plain' };
    case 'artifact.redacted':
      return { who: person, what: `redacted ${data.text('name')}${reason(data)}`, tone: 'plain' };
    case 'memory.noted':
      return { who: noter(event), what: `noted ${data.text('note')}${inMemory(event)}`, tone: 'quiet' };
    case 'memory.edited':
      return { who: noter(event), what: `changed ${data.text('note')}${inMemory(event)}`, tone: 'quiet' };
    case 'memory.forgotten':
      return { who: noter(event), what: `erased ${data.text('note')}${inMemory(event)}`, tone: 'quiet' };
    case 'memory.redacted':
      return { who: person, what: `redacted ${data.text('note')}${inMemory(event)}${reason(data)}`, tone: 'plain' };
    case 'project.labelled':
      return { who: person, what: labelled(event.data), tone: 'plain' };
    case 'config.changed':
      return { who: person, what: configChanged(event.data), tone: 'plain', next: [`config diff ${project}`] };
    case 'task.assigned':
      return {
        who: `${data.text('assigner')} -> ${who}`,
        what: `${data.text('priority')}  task for ${data.text('role')}${inTeam(data.text('team'))}: "${data.text('excerpt')}"`,
        tone: 'plain',
      };
    case 'task.accepted':
      return { who, what: `accepted the task of ${data.text('assigner')}`, tone: 'quiet' };
    case 'task.done':
      return { who, what: `did the task of ${data.text('assigner')}`, tone: 'good' };
    case 'task.declined':
      return { who, what: `declined the task of ${data.text('assigner')}`, tone: 'bad' };
    case 'turn.queued':
      return event.data.retry === true ? { who, what: turn('queued again', `by ${person}`), tone: 'plain' } : undefined;
    case 'turn.started':
      return { who, what: turn('started', startedDetail(data)), tone: 'quiet' };
    case 'turn.completed':
      return { who, what: turn('done', completedDetail(data)), tone: 'quiet' };
    case 'turn.requeued':
      return { who, what: turn('requeued', `${sentence(data.text('message'))}. ${tryAgain(data)}`), tone: 'bad' };
    case 'turn.failed':
      return {
        who,
        what: turn('failed', `${sentence(data.text('message') || data.text('code'))}; mail kept`),
        tone: 'bad',
        next: [stepAfterEvent(project, who, data.text('code')).next],
      };
    case 'turn.cancelled':
      return { who, what: turn('cancelled', data.text('reason')), tone: 'quiet' };
    case 'agent.stopped':
      return {
        who,
        what: data.has('afterTurn') ? `stops after turn ${data.number('afterTurn')}` : 'stopped; its mail is kept',
        tone: 'plain',
        next: [`agents start ${project} ${who}`],
      };
    case 'agent.started':
      return { who, what: 'started', tone: 'quiet' };
    case 'agent.reset':
      return {
        who,
        what: `reset; ${count(data.length('redelivered'), 'message')} delivered again`,
        tone: 'plain',
      };
    case 'agent.paused':
      return { who, what: pausedFor(data), tone: 'bad', next: [`resume ${project} ${who}`] };
    case 'project.paused':
      return { who: project, what: pausedFor(data), tone: 'bad', next: [`resume ${project}`] };
    case 'agent.resumed':
      return { who, what: 'resumed', tone: 'quiet' };
    case 'project.resumed':
      return { who: project, what: 'resumed', tone: 'quiet' };
    case 'budget.changed':
      return { who: event.agent ?? project, what: `budget changed: ${newLimits(event.data)}`, tone: 'plain' };
    case 'tool.called':
      if (data.text('outcome') === 'succeeded') {
        const tool = data.text('tool');
        return toldByEffect.has(tool) ? undefined : { who, what: tool, tone: 'quiet' };
      }
      return { who, what: `${data.text('tool')} ${data.text('outcome')}: ${data.text('code')}`, tone: 'bad' };
    case 'signal.recorded':
      return { who, what: `${data.text('toolpack')}: ${data.text('kind')}`, tone: 'quiet' };
    case 'workspace.restored': {
      const files = data.files();
      const since =
        data.number('turnNumber') === 0 ? 'before its first turn' : `after turn ${data.number('turnNumber')}`;
      const counts = files === undefined ? '' : ` (files changed: ${changedFiles(files)})`;
      return { who: event.actor, what: `restored the files of ${who} as they were ${since}${counts}`, tone: 'plain' };
    }
    case 'model.answered':
      return undefined;
    case 'budget.reached':
      return { who: event.agent ?? project, what: data.text('message'), tone: 'bad', next: [`status ${project}`] };
    case 'artifact.published':
      return {
        who,
        what: `published ${data.text('name')}   ${size(data.number('sizeBytes'))}  sha256 ${shortHash(data.text('sha256'))}`,
        tone: 'plain',
      };
    case 'workspace.cloned':
      return {
        who,
        what: `cloned ${data.text('repository')}: ${data.text('branch')} begins at ${shortHash(data.text('commit'))}`,
        tone: 'quiet',
      };
    case 'upstream.moved':
      return {
        who,
        what: `${data.text('repository')} is at ${shortHash(data.text('to'))} now${aheadOf(event.data['ahead'])}${event.data['rewritten'] ? '; its history was rewritten' : ''}`,
        tone: 'quiet',
      };
    case 'upstream.missed':
      return {
        who,
        what: `no news of ${data.text('repository')}: ${data.text('code')}`,
        tone: 'quiet',
        next: event.agent === null ? [] : [`workspace show ${project} ${event.agent}`],
      };
    case 'git.pushed':
      return { who: event.agent ?? person, what: `pushed ${movedRefs(event.data['updates'])}`, tone: 'plain' };
    case 'agent.waiting':
      return {
        who,
        what: `waits for a signal${data.text('reason') === '' ? '' : `: ${data.text('reason')}`}`,
        tone: 'quiet',
      };
  }
}

/** How many fields of a project file are named that were changed. */
const mostFields = 3;

/** How far a repository is from where a clone began. */
function aheadOf(ahead: unknown): string {
  return typeof ahead === 'number' ? `, ${count(ahead, 'commit')} from the base` : '';
}

/** Who acts from outside: the owner is `user`, with the data directory's own token as without any; others are their tokens. */
function personOf({ actor }: ProjectEvent): string {
  return actor === ownTokens.admin ? USER_ID : oneLine(actor);
}

/** What a message is, where that does not show in whom it is from and to. */
function kindOf(kind: string): string {
  return kind === 'reply' ? 'reply: ' : kind === 'event' ? 'notice: ' : '';
}

function inTeam(team: string): string {
  return team === '' ? '' : ` of ${team}`;
}

function attached(artifacts: number): string {
  return artifacts === 0 ? '' : `  +${count(artifacts, 'artifact')}`;
}

type DataReader = ReturnType<typeof readerOf>;

/** Reads fields of an event's data, of later versions, too. */
function readerOf(data: ProjectEvent['data']) {
  return {
    text: (field: string) => {
      const value = data[field];
      return typeof value === 'string' ? oneLine(value) : '';
    },
    number: (field: string) => {
      const value = data[field];
      return typeof value === 'number' ? value : 0;
    },
    has: (field: string) => typeof data[field] === 'number',
    files: () => fileCounts.safeParse(data['files']).data,
    length: (field: string) => {
      const value = data[field];
      return Array.isArray(value) ? value.length : 0;
    },
  };
}

function startedDetail(data: DataReader): string {
  const attempt = data.number('attempt') > 1 ? `attempt ${data.number('attempt')}` : undefined;
  const after = data.has('sinceMessageMs') ? `${duration(data.number('sinceMessageMs'))} after the message` : undefined;
  return `(${[data.text('backend'), attempt, after].filter((part) => part !== undefined && part !== '').join(', ')})`;
}

function completedDetail(data: DataReader): string {
  const messages = data.number('messages');
  const artifacts = data.number('artifacts');
  const files = data.files();
  return [
    duration(data.number('durationMs')),
    ...(messages > 0 ? [count(messages, 'message')] : []),
    ...(artifacts > 0 ? [count(artifacts, 'artifact')] : []),
    ...(files === undefined ? [] : [`files changed: ${changedFiles(files)}`]),
    ...(data.has('calls') && data.number('calls') === 0 ? ['called no tools'] : []),
  ].join(', ');
}

function pausedFor(data: DataReader): string {
  const reason = data.text('reason');
  return `paused; its mail is kept${reason === '' ? '' : `: ${reason}`}`;
}

function noter(event: ProjectEvent): string {
  return event.actor === event.agent ? event.agent : personOf(event);
}

function inMemory({ actor, agent, data }: ProjectEvent): string {
  if (data['profile'] !== undefined) return ', for its profile';
  return actor === agent || agent === null ? '' : `, in the memory of ${agent}`;
}

function labelled({ set, removed }: ProjectEvent['data']): string {
  const texts = Object.entries(set ?? {}).map(([key, value]) => oneLine(`${key}=${String(value)}`));
  const gone = (Array.isArray(removed) ? removed : []).map((key) => oneLine(`${String(key)}-`));
  return `changed labels: ${[...texts, ...gone].join(' ')}`;
}

function configChanged({ version, reverts, changes, changed }: ProjectEvent['data']): string {
  const named = (Array.isArray(changed) ? changed : []).slice(0, mostFields).map((path) => oneLine(String(path)));
  const more = Number(changes) > named.length ? [`${String(Number(changes) - named.length)} more`] : [];
  const back = typeof reverts === 'number' ? `, back to ${String(reverts)}` : '';
  return `changed the project file to version ${String(version)}${back}: ${[...named, ...more].join(', ')}`;
}

function reason(data: DataReader): string {
  const because = data.text('because');
  return because === '' ? '' : `: ${because}`;
}

function newLimits(data: ProjectEvent['data']): string {
  return Object.entries(data)
    .map(([limit, value]) => `${limit} ${oneLine(String(value))}`)
    .join(', ');
}

function tryAgain(data: DataReader): string {
  const inMs = data.number('inMs');
  return inMs === 0 ? 'Tried again now.' : `Tried again in ${duration(inMs)}.`;
}

/** A message as the beginning of a sentence that goes on. */
function sentence(text: string): string {
  return cut(text.replace(/[.\s]+$/, ''), longestSentence);
}
