import type { Act } from '@suzumio/sdk/client';
import { bytes, limitsIn, some } from './numbers.js';
import { visible } from './visible.js';

/** What each act is, as a sentence goes on after who did it. */
const verbs: Readonly<Record<string, string>> = {
  'project.initialized': 'made the project',
  'project.started': 'started the project',
  'project.changes-requested': 'asked for changes of the report',
  'project.completed': 'approved the report',
  'project.stopped': 'stopped the project',
  'project.labelled': 'changed the labels',
  'config.changed': 'changed the project file',
  'project.paused': 'paused the project',
  'project.resumed': 'resumed the project',
  'project.deleted': 'deleted the project',
  'message.redelivered': 'delivered mail again to',
  'message.redacted': 'redacted a message',
  'artifact.redacted': 'redacted an artifact',
  'turn.queued': 'retried the turn of',
  'turn.cancelled': 'cancelled a turn of',
  'workspace.restored': 'restored the files of',
  'git.pushed': 'pushed to the shared repository',
  'agent.stopped': 'stopped',
  'agent.started': 'started',
  'agent.reset': 'reset',
  'memory.noted': 'added a note for',
  'memory.edited': 'changed a note of',
  'memory.forgotten': 'erased a note of',
  'memory.redacted': 'redacted a note of',
  'profile.noted': 'added a note for',
  'profile.note-edited': 'changed a note of',
  'profile.note-forgotten': 'erased a note of',
  'profile.note-redacted': 'redacted a note of',
  'agent.paused': 'paused',
  'agent.resumed': 'resumed',
  'budget.changed': 'changed a budget of',
  'token.created': 'made the token',
  'token.revoked': 'revoked the token',
  'token.link-made': 'made a sign-in link for',
  'cell.paused': 'paused every project',
  'cell.resumed': 'resumed every project',
};

/** What somebody did, in a sentence. */
export function verbOf({ type, subject }: Pick<Act, 'type' | 'subject'>): string {
  const verb = verbs[type] ?? type;
  return subject === null ? verb.replace(/ of$/, '') : verb;
}

/** Whether a type of event is an act that has words. */
export function isAct(type: string): boolean {
  return Object.hasOwn(verbs, type);
}

type Data = Readonly<Record<string, unknown>>;

/** So many of a list are named, each in so many characters. */
const mostNamed = 5;
const mostChars = 200;

/** What an act says beside who did what to whom, in words: where it says nothing, nothing. */
const phrases: Readonly<Record<string, (data: Data) => (string | undefined)[]>> = {
  'project.initialized': ({ agents, channels }) => [named('agents', agents), named('channels', channels)],
  'project.submitted': ({ version }) => [told('version', version)],
  'project.changes-requested': ({ version, recipient }) => [told('version', version), told('mail to', recipient)],
  'project.completed': ({ version }) => [told('version', version)],
  'project.stopped': ({ now }) => [now === true ? 'at once' : undefined],
  'project.labelled': ({ set, removed }) => [
    counted(Object.entries(isData(set) ? set : {}).map(([key, value]) => `set ${quoted(key)} to ${quoted(value)}`)),
    removed === undefined ? undefined : counted(list(removed).map((key) => `removed ${quoted(key)}`)),
  ],
  'config.changed': ({ changed }) => [counted(list(changed))],
  'project.paused': ({ reason }) => [text(reason)],
  'message.redelivered': ({ seq, turnNumber }) => [told('message', seq), told('read in turn', turnNumber)],
  'message.redacted': ({ seq, because }) => [told('message', seq), told('because:', because)],
  'artifact.redacted': ({ name, because }) => [text(name), told('because:', because)],
  'memory.noted': ({ sizeBytes, profile }) => [size(sizeBytes), told('in the profile', profile)],
  'memory.edited': ({ sizeBytes }) => [told('now', size(sizeBytes))],
  'memory.forgotten': ({ profile }) => [told('in the profile', profile)],
  'memory.redacted': ({ profile, because }) => [told('in the profile', profile), told('because:', because)],
  'turn.queued': ({ number, priority }) => [told('turn', number), text(priority)],
  'turn.cancelled': ({ number, reason }) => [told('turn', number), text(reason)],
  'workspace.restored': ({ turnNumber, files }) => [
    turnNumber === 0 ? 'as before the first turn' : told('as after turn', turnNumber),
    ...(isData(files) ? Object.entries(files).map(([how, many]) => filesOf(how, many)) : []),
  ],
  'git.pushed': ({ updates }) => [counted((Array.isArray(updates) ? updates : []).filter(isData).map(moved))],
  'agent.stopped': ({ now, afterTurn }) => [now === true ? 'at once' : undefined, told('after turn', afterTurn)],
  'agent.reset': ({ redelivered }) => [
    Array.isArray(redelivered) && redelivered.length > 0
      ? `${some(redelivered.length, 'message')} unread again`
      : undefined,
  ],
  'agent.paused': ({ reason, limit }) => [text(reason), told('limit', limit)],
  'budget.changed': (data) => [limitsIn(data)],
};

/** What an act says beside who did what to whom, in words; of an event that is none, its fields. */
export function wordsOf(type: string, data: Data): string {
  const known = phrases[type];
  const said =
    known === undefined ? fieldsOf(data) : known(data).filter((phrase) => phrase !== undefined && phrase !== '');
  return said.map((phrase) => short(phrase ?? '')).join(', ');
}

/** Each field by its name: of an event that nobody has worded. */
function fieldsOf(data: Data): string[] {
  return Object.entries(data).flatMap(([name, value]) => {
    const words = plain(value);
    return words === '' ? [] : [`${name} ${words}`];
  });
}

function plain(value: unknown): string {
  if (value === null || value === undefined || value === false) return '';
  if (Array.isArray(value)) return counted(value.map(plain).filter((words) => words !== '')) ?? '';
  if (isData(value)) return counted(fieldsOf(value)) ?? '';
  return text(value) ?? '';
}

const isData = (value: unknown): value is Data => typeof value === 'object' && value !== null;

const text = (value: unknown): string | undefined =>
  ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : undefined;

const list = (value: unknown): string[] => (Array.isArray(value) ? value.map((one) => text(one) ?? '') : []);

const quoted = (value: unknown) => `"${short(text(value) ?? '')}"`;

const short = (words: string) => visible(words.length > mostChars ? `${words.slice(0, mostChars)}…` : words);

function told(before: string, value: unknown): string | undefined {
  const words = text(value);
  return words === undefined ? undefined : `${before} ${words}`;
}

const size = (value: unknown) => (typeof value === 'number' ? bytes(value) : undefined);

/** The first of what there is, and how many more. */
function counted(all: readonly string[]): string | undefined {
  const more = all.length - mostNamed;
  return all.length === 0
    ? undefined
    : all.slice(0, mostNamed).map(short).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

const named = (what: string, value: unknown) => told(what, counted(list(value)));

const filesOf = (how: string, many: unknown) =>
  typeof many === 'number' && many > 0 ? `${some(many, 'file')} ${how}` : undefined;

/** Where a branch or a tag went. */
function moved({ ref, to }: Data): string {
  const name = (text(ref) ?? '').replace(/^refs\/(heads|tags)\//, '');
  return to === null ? `${name} removed` : `${name} to ${(text(to) ?? '').slice(0, 8)}`;
}
