import type { Client } from '@suzumio/contract/client/client';
import { type MemoryUse, noteSearchMeaning, type NoteView } from '@suzumio/contract/model/note';
import { visibleLines } from '@suzumio/core/prompt/body';
import type { Command } from 'commander';
import { findKept, findReads, requireApi } from '../reach/reach.js';
import { noteLines, usedLine } from '../render/note-lines.js';
import { say, sayHint, sayJson, type Session, shellWord } from '../session.js';
import { UsageError } from '../usage-error.js';
import type { Register } from './action.js';
import { collected } from './arguments.js';
import { confirm } from './confirm.js';
import { edited, withBase } from './edit.js';
import { examples } from './help.js';
import { newestOf, withLimit } from './list.js';
import { redactNote, type RedactOptions, withRedact } from './redact.js';
import { tell } from './tell.js';

/** What agents, and profiles across projects, keep in mind. */
export const registerMemory: Register = (program, action) => {
  const memory = examples(
    program
      .command('memory <project> <agent>')
      .description('show what an agent remembers, and keep notes of agents and profiles'),
    ['memory newsroom editor', "its model's summaries"],
    ['memory list newsroom editor', 'its notes'],
  ).action(action(summaries));
  examples(
    withLimit(ofWhom(memory, 'list', 'list notes', '')),
    ['memory list newsroom editor'],
    ['memory list --profile Akari', 'what all agents of the profile find, in any project'],
  ).action(action(list));
  examples(
    withLimit(ofWhom(memory, 'search', 'find notes by words, the best first', '[words...]')),
    ['memory search newsroom editor north gauge'],
    ['memory search newsroom editor \'"north gauge" pars*\'', 'a phrase, and the beginning of a word'],
    ['memory search --profile Akari gauge'],
  ).action(action(search));
  examples(
    withTags(ofWhom(memory, 'add', 'add a note: the agent finds it when it looks, and is not woken', '[text...]')),
    ['memory add newsroom editor --tag style "Give levels in centimetres."'],
    ['memory add --profile Akari "The north gauge was moved in May."'],
  ).action(action(add));
  examples(
    withBase(
      withTags(ofWhom(memory, 'edit', 'change the text of a note, its tags, or both', '[note] [text...]')).option(
        '--no-tag',
        'no tags',
      ),
    ),
    ['memory edit newsroom editor note_01KB3Z8T5V0000000000000001 "Give levels in metres."'],
    ['memory edit --profile Akari note_01KB3Z8T5V0000000000000001 --tag gauges --tag moved'],
  ).action(action(edit));
  examples(
    withBase(ofWhom(memory, 'forget', 'erase a note', '[note]').option('--yes', 'do not ask', false)),
    ['memory forget newsroom editor note_01KB3Z8T5V0000000000000001'],
    ['memory forget --profile Akari note_01KB3Z8T5V0000000000000001 --yes'],
  ).action(action(forget));
  examples(
    withRedact(
      ofWhom(
        memory,
        'redact',
        'remove a note, erased or not, and its copies in what was recorded of turns that wrote or read it',
        '[note]',
      ),
    ),
    ['memory redact newsroom editor note_01KB3Z8T5V0000000000000001', 'shows what will be lost, and asks'],
    ['memory redact --profile Akari note_01KB3Z8T5V0000000000000001 --because "It held a password."'],
  ).action(action(redact));
};

/** A command on the notes of an agent or, with an option in place of its first two arguments, of a profile. */
function ofWhom(memory: Command, name: string, description: string, rest: string): Command {
  return memory
    .command(`${name} [project] [agent]${rest === '' ? '' : ` ${rest}`}`)
    .description(description)
    .option('--profile <nickname>', 'of a profile, in place of PROJECT AGENT');
}

function withTags(command: Command): Command {
  return command.option('--tag <tag>', 'a word that it is found by, too; may be given again', collected);
}

interface OfProfile {
  profile?: string;
}

/** Whose notes a command is about, and its arguments after that. */
type Subject = { name: string; command: string; rest: string[] } & (
  | { profile: string }
  | { project: string; agent: string }
);

/** @throws UsageError where it is not said whose they are */
function subjectOf(command: string, words: readonly (string | undefined)[], { profile }: OfProfile): Subject {
  const given = words.filter((word) => word !== undefined);
  if (profile !== undefined) {
    return { profile, name: profile, command: `--profile ${shellWord(profile)}`, rest: given };
  }
  const [project, agent, ...rest] = given;
  if (project !== undefined && agent !== undefined) {
    return { project, agent, name: agent, command: `${project} ${agent}`, rest };
  }
  throw new UsageError('Say whose notes: PROJECT AGENT, or --profile NICKNAME.', `memory ${command} --help`);
}

/** The operations on the notes of an agent or of a profile. */
function notesOf(api: Client, subject: Subject) {
  if ('profile' in subject) {
    const { profile } = subject;
    return {
      list: (query: NotesQuery) => api.listProfileNotes({ profile, query }),
      get: (note: string) => api.getProfileNote({ profile, note }),
      add: (body: AddedNote) => api.addProfileNote({ profile, body }),
      edit: (note: string, body: EditedNote) => api.editProfileNote({ profile, note, body }),
      forget: (note: string, base?: number) => api.forgetProfileNote({ profile, note, query: baseOf(base) }),
      record: (note: string) => api.getProfileNoteRecord({ profile, note }),
      redact: (note: string, body: Reason) => api.redactProfileNote({ profile, note, body }),
    };
  }
  const { project, agent } = subject;
  return {
    list: (query: NotesQuery) => api.listAgentNotes({ project, agent, query }),
    get: (note: string) => api.getAgentNote({ project, agent, note }),
    add: (body: AddedNote) => api.addAgentNote({ project, agent, body }),
    edit: (note: string, body: EditedNote) => api.editAgentNote({ project, agent, note, body }),
    forget: (note: string, base?: number) => api.forgetAgentNote({ project, agent, note, query: baseOf(base) }),
    record: (note: string) => api.getAgentNoteRecord({ project, agent, note }),
    redact: (note: string, body: Reason) => api.redactAgentNote({ project, agent, note, body }),
  };
}

const baseOf = (base: number | undefined) => (base === undefined ? {} : { baseVersion: base });

interface AddedNote {
  text: string;
  tags: string[];
}

type EditedNote = Partial<AddedNote> & { baseVersion?: number | undefined };

interface Reason {
  because?: string | undefined;
}

interface NotesQuery {
  q?: string;
  limit: number;
  before?: number;
}

const readsOf = (session: Session, subject: Subject) => ('profile' in subject ? findKept(session) : findReads(session));
const writesOf = (session: Session, subject: Subject) =>
  'profile' in subject ? findKept(session) : requireApi(session);

async function summaries(session: Session, project: string, agent: string): Promise<undefined> {
  const { items } = await (await findReads(session)).getMemory({ project, agent });
  sayJson(session, items);
  if (items.length === 0) say(session, `${agent} has no summary: its turns are remembered as they were.`);
  items.forEach(({ throughTurn, text, turn }, index) =>
    say(
      session,
      ...(index === 0 ? [] : ['']),
      `turns up to ${throughTurn}   (written in ${turn})`,
      ...visibleLines(text.trimEnd()).map((line) => `  ${line}`),
    ),
  );
  sayHint(session, `memory list ${project} ${agent}`);
}

async function list(
  session: Session,
  project: string | undefined,
  agent: string | undefined,
  { limit, ...of }: OfProfile & { limit: number },
): Promise<undefined> {
  const subject = subjectOf('list', [project, agent], of);
  const notes = notesOf(await readsOf(session, subject), subject);
  let use: MemoryUse | undefined;
  const found = await newestOf(session, limit, async (page) => {
    const part = await notes.list(page);
    use = part.use;
    return part;
  });
  sayNotes(session, found, `${subject.name} has no notes yet.`);
  if (use !== undefined && use.notes > 0) say(session, '', usedLine(use));
  const { command } = subject;
  sayHint(session, found.length === 0 ? `memory add ${command} TEXT` : `memory search ${command} WORDS`);
}

async function search(
  session: Session,
  project: string | undefined,
  agent: string | undefined,
  words: string[],
  { limit, ...of }: OfProfile & { limit: number },
): Promise<undefined> {
  const subject = subjectOf('search', [project, agent, ...words], of);
  if (subject.rest.length === 0) throw new UsageError(`Say what to look for. ${noteSearchMeaning}`);
  const notes = notesOf(await readsOf(session, subject), subject);
  const { items } = await notes.list({ q: subject.rest.join(' '), limit });
  sayNotes(session, items, `No note of ${subject.name} has any of this.`);
}

interface TagOptions {
  tag?: string[] | false;
}

async function add(
  session: Session,
  project: string | undefined,
  agent: string | undefined,
  words: string[],
  { tag, ...of }: OfProfile & TagOptions,
): Promise<undefined> {
  const subject = subjectOf('add', [project, agent, ...words], of);
  if (subject.rest.length === 0) throw new UsageError('Say what is to be noted.', 'memory add --help');
  const notes = notesOf(await writesOf(session, subject), subject);
  const { note } = await notes.add({ text: subject.rest.join(' '), tags: tag || [] });
  tell(session, note, [`Noted as ${note.id}.`], `memory list ${subject.command}`);
}

async function edit(
  session: Session,
  project: string | undefined,
  agent: string | undefined,
  named: string | undefined,
  words: string[],
  { tag, base, ...of }: OfProfile & TagOptions & { base?: number },
): Promise<undefined> {
  const subject = subjectOf('edit', [project, agent, named, ...words], of);
  const [id, ...text] = subject.rest;
  if (id === undefined) throw new UsageError('Say which note, by its id.', `memory list ${subject.command}`);
  const tags = tag === false ? [] : tag;
  if (text.length === 0 && tags === undefined) {
    throw new UsageError('Say what is to change: the text, --tag or --no-tag.', 'memory edit --help');
  }
  const notes = notesOf(await writesOf(session, subject), subject);
  const change = { ...(text.length === 0 ? {} : { text: text.join(' ') }), ...(tags === undefined ? {} : { tags }) };
  const { note } = await edited(session, notes.edit(id, { ...change, baseVersion: base }), async () =>
    noteLines((await notes.get(id)).note, session),
  );
  tell(session, note, [`${note.id} is changed.`], `memory list ${subject.command}`);
}

async function forget(
  session: Session,
  project: string | undefined,
  agent: string | undefined,
  named: string | undefined,
  { yes, base, ...of }: OfProfile & { yes: boolean; base?: number },
): Promise<undefined> {
  const subject = subjectOf('forget', [project, agent, named], of);
  const [id] = subject.rest;
  if (id === undefined) throw new UsageError('Say which note, by its id.', `memory list ${subject.command}`);
  const notes = notesOf(await writesOf(session, subject), subject);
  const { note } = await notes.get(id);
  const warning = [`${subject.name} will not find this again:`, ...noteLines(note, session)].join('\n');
  await confirm(session, warning, { yes, command: `memory forget ${subject.command} ${id}` });
  // Who was asked has read this version.
  const answer = await edited(session, notes.forget(id, base ?? (yes ? undefined : note.version)), async () =>
    noteLines((await notes.get(id)).note, session),
  );
  tell(session, answer, [`${answer.id} is erased.`], `memory list ${subject.command}`);
}

async function redact(
  session: Session,
  project: string | undefined,
  agent: string | undefined,
  named: string | undefined,
  options: OfProfile & RedactOptions,
): Promise<undefined> {
  const subject = subjectOf('redact', [project, agent, named], options);
  const [id] = subject.rest;
  if (id === undefined) throw new UsageError('Say which note, by its id.', `memory list ${subject.command}`);
  // It changes what projects have recorded, so it takes a server, also for profiles.
  const notes = notesOf(await requireApi(session), subject);
  const { name: of, command } = subject;
  const about = { record: () => notes.record(id), redact: (body: Reason) => notes.redact(id, body) };
  return redactNote(session, { of, id, command }, about, options);
}

function sayNotes(session: Session, notes: readonly NoteView[], none: string): void {
  sayJson(session, notes);
  if (notes.length === 0) say(session, none);
  notes.forEach((note, index) => say(session, ...(index === 0 ? [] : ['']), ...noteLines(note, session)));
}
