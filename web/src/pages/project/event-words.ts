import type { Agent, Event } from '@suzumio/sdk/client';
import { isAct, verbOf, wordsOf } from '../../parts/act-words.js';
import { bytes, cachedPart, dollars, some, span } from '../../parts/numbers.js';
import { addressed, called, filePath, mailPath, repositoryPath, turnPath } from '../../parts/places.js';
import { oneLine, visible } from '../../parts/visible.js';

type Data = Readonly<Record<string, unknown>>;
/** What leads to what it names, or is said as a program says it. */
export type Linked = { readonly text: string; readonly to: string };
export type Words = readonly (string | Linked)[];

/** An event, of this version or of another one: fields may be missing, or be something else. */
class Told {
  readonly #data: Data;

  constructor(
    readonly event: Event,
    readonly project: string,
    readonly agents: readonly Agent[],
  ) {
    this.#data = event.data;
  }

  text(field: string): string {
    const value = this.#data[field];
    return typeof value === 'string' ? oneLine(value, mostValueChars) : '';
  }

  number(field: string): number {
    const value = this.#data[field];
    return typeof value === 'number' ? value : 0;
  }

  list(field: string): readonly unknown[] {
    const value = this.#data[field];
    return Array.isArray(value) ? value : [];
  }

  record(field: string): Data | undefined {
    const value = this.#data[field];
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Data) : undefined;
  }

  has(field: string): boolean {
    return this.#data[field] !== undefined && this.#data[field] !== null;
  }

  /** Who is meant by a field: an agent by its name. */
  who(field: string): string {
    return visible(called(this.text(field), this.agents));
  }

  turn(): string | Linked {
    const number = this.number('number');
    const { agent } = this.event;
    const text = `turn ${number}`;
    return agent === null ? text : { text, to: turnPath(this.project, agent, number) };
  }

  message(text: string, field = 'message'): Linked {
    return { text: text || 'a message', to: mailPath(this.project, this.text(field)) };
  }

  report(): Linked {
    const version = this.number('version');
    return { text: `version ${version} of the report`, to: `/p/${this.project}/report?v=${version}` };
  }

  file(): Linked {
    return { text: this.text('name') || 'a file', to: filePath(this.project, this.text('artifact')) };
  }
}

const mostValueChars = 200;
/** Of a hash so much tells two apart. */
const shortHash = 7;

/** What an event says, as it goes on after who it is about; those of acts that say no more are in `verbOf`. */
const sayings: Readonly<Record<string, (told: Told) => Words>> = {
  'project.initialized': (told) => [`made the project, with ${some(told.list('agents').length, 'agent')}`],
  'project.submitted': (told) => ['handed in ', told.report()],
  'project.changes-requested': (told) => ['sent ', told.report(), ' back to ', told.who('recipient')],
  'project.completed': (told) => ['approved ', told.report()],
  'project.restored': () => ['restored the project from a copy'],
  'message.created': (told) => [
    `to ${visible(addressed({ recipient: told.text('recipient'), channel: told.text('channel') || null }, told.agents))}, `,
    told.text('priority'),
    ': ',
    told.message(told.text('excerpt')),
    several(told.list('attachments').length, 'attachment'),
  ],
  'message.redelivered': (told) => [
    'is to read ',
    told.message(`message ${told.number('seq')}`),
    ` of turn ${told.number('turnNumber')} again`,
  ],
  'message.redacted': (told) => ['redacted ', told.message(`message ${told.number('seq')}`), because(told)],
  'artifact.redacted': (told) => ['redacted ', told.file(), because(told)],
  'artifact.published': (told) => ['published ', told.file(), `, ${bytes(told.number('sizeBytes'))}`],
  'task.assigned': (told) => [
    `got a task from ${told.who('assigner')}, `,
    told.text('priority'),
    ': ',
    told.message(told.text('excerpt'), 'task'),
  ],
  'task.accepted': (told) => ['accepted ', told.message('the task', 'task'), ` of ${told.who('assigner')}`],
  'task.done': (told) => ['did ', told.message('the task', 'task'), ` of ${told.who('assigner')}`],
  'task.declined': (told) => ['declined ', told.message('the task', 'task'), ` of ${told.who('assigner')}`],
  'turn.queued': (told) => [told.turn(), told.has('retry') ? ' is tried again' : ' is next'],
  'turn.started': (told) => [
    told.turn(),
    ` began on ${told.text('worker')}`,
    told.number('attempt') > 1 ? `, attempt ${told.number('attempt')}` : '',
    told.has('sinceMessageMs') ? `, ${span(told.number('sinceMessageMs'))} after the message` : '',
  ],
  'turn.requeued': (told) => [
    told.turn(),
    ` failed and is tried again ${told.number('inMs') === 0 ? 'now' : `in ${span(told.number('inMs'))}`}: `,
    told.text('message'),
  ],
  'turn.completed': (told) => [
    told.turn(),
    ` done in ${span(told.number('durationMs'))}`,
    several(told.number('calls'), 'tool call'),
    several(told.number('messages'), 'message'),
    several(told.number('artifacts'), 'published file'),
    filesChanged(told.record('files')),
    told.has('unsaved') ? ', but its files could not be stored' : '',
  ],
  'turn.failed': (told) => [told.turn(), ' failed: ', told.text('message') || told.text('code')],
  'turn.cancelled': (told) => [told.turn(), ' was cancelled: ', told.text('reason')],
  'workspace.restored': (told) => ['has its files again', detailOf(told.event)],
  'tool.called': (told) => [
    `called ${told.text('tool')}`,
    told.text('outcome') === 'failed'
      ? ', which failed'
      : told.text('outcome') === 'refused'
        ? ', which was refused'
        : '',
    told.has('code') ? `: ${told.text('code')}` : '',
  ],
  'signal.recorded': (told) => [`signalled ${told.text('kind')} by ${told.text('toolpack')}`],
  'model.answered': (told) => [
    `was answered by ${told.text('model')} in ${span(told.number('durationMs'))}: `,
    `${some(told.number('inputTokens'), 'token')} in${cachedPart({ cachedTokens: told.number('cachedTokens') })}, ${some(told.number('outputTokens'), 'token')} out, `,
    dollars(told.number('nanoUsd') / 1e9),
  ],
  'budget.reached': (told) => ['reached a budget: ', told.text('message')],
  'workspace.cloned': (told) => [
    `cloned ${told.text('repository')}; ${told.text('branch')} begins at ${told.text('commit').slice(0, shortHash)}`,
  ],
  'upstream.moved': (told) => [
    `found ${told.text('repository')} at ${told.text('to').slice(0, shortHash)}`,
    several(told.number('ahead'), 'commit'),
    told.event.data['rewritten'] === true ? '; its history was rewritten' : '',
  ],
  'upstream.missed': (told) => [`has no news of ${told.text('repository')}: `, told.text('message')],
  'git.pushed': (told) => [
    'pushed ',
    { text: wordsOf(told.event.type, told.event.data), to: repositoryPath(told.project) },
  ],
  'agent.waiting': (told) => ['waits for mail', told.has('reason') ? `: ${told.text('reason')}` : ''],
  'config.changed': (told) => [
    'changed the project file to ',
    {
      text: `version ${told.number('version')}`,
      to: `/p/${told.project}/setup?v=${told.number('version')}&with=${told.number('version') - 1}`,
    },
    detailOf(told.event),
  ],
  'memory.noted': (told) => [`noted ${told.text('note')}`],
  'memory.edited': (told) => [`changed its note ${told.text('note')}`],
  'memory.forgotten': (told) => [`erased its note ${told.text('note')}`],
  'agent.paused': (told) => ['was paused', detailOf(told.event)],
};

/** Who it is about, and what goes on after that. What a person did to an agent begins with the person. */
export function saidOf(event: Event, project: string, agents: readonly Agent[]): { subject: string; words: Words } {
  const told = new Told(event, project, agents);
  const { type, actor, agent } = event;
  const name = agent === null ? null : visible(called(agent, agents));
  if (name !== null && actor !== 'system' && actor !== agent && isAct(type)) {
    return { subject: visible(actor), words: [`${verbOf({ type, subject: name })} ${name}`, detailOf(event)] };
  }
  const subject = told.has('sender') ? told.who('sender') : (name ?? visible(actor));
  const saying = sayings[type];
  if (saying) return { subject, words: saying(told) };
  return { subject, words: [isAct(type) ? verbOf({ type, subject: name }) : type, detailOf(event)] };
}

/** What an event says beside that. */
function detailOf({ type, data }: Event): string {
  const detail = wordsOf(type, data);
  return detail === '' ? '' : `: ${detail}`;
}

function because(told: Told): string {
  return told.has('because') ? `: ${told.text('because')}` : '';
}

/** So many of something, where there are any. */
function several(number: number, one: string): string {
  return number === 0 ? '' : `, ${some(number, one)}`;
}

function filesChanged(files: Data | undefined): string {
  if (files === undefined) return '';
  const [added = 0, changed = 0, removed = 0] = ['added', 'changed', 'removed'].map((field) => Number(files[field]));
  return added + changed + removed === 0 ? '' : `, files +${added} ~${changed} −${removed}`;
}
