import * as z from 'zod';
import type { ErrorCode } from '../errors/codes.js';
import { memoryUse, noteFields, noteQuery, noteSearchMeaning, noteView } from '../model/note.js';
import { redaction } from '../model/redaction.js';
import { summaryView } from '../model/turn-summary.js';
import { redactedAnswer, redactRequest } from './messages.js';
import { json, type OperationShape, resource } from './operation.js';
import { baseQuery, baseVersion, listOf, noQuery, page, request } from './request.js';

export const notesQuery = request({
  q: noteQuery.optional().describe(noteSearchMeaning + ' The other parameters but `limit` have no effect then.'),
  ...page,
});

export const addNoteRequest = request({ text: noteFields.text, tags: noteFields.tags.default([]) });

/** What is not named stays. At least one. */
export const editNoteRequest = request({
  text: noteFields.text.optional(),
  tags: noteFields.tags.optional().describe('All of them: those that are not named are gone.'),
  baseVersion,
}).refine(({ text, tags }) => text !== undefined || tags !== undefined, {
  error: 'name what is to change: text or tags',
});

export const noteAnswer = z.object({ note: noteView });
export type NoteAnswer = z.infer<typeof noteAnswer>;

/** A part of a list of notes, or those that were found, the best first; and how full the memory is. */
export const noteListAnswer = listOf(noteView).extend({ use: memoryUse });
export type NoteListAnswer = z.infer<typeof noteListAnswer>;

/** What is recorded of a note, also of one that is there no more. */
export const noteRecordAnswer = z.object({
  id: z.string(),
  versions: z
    .array(z.object({ text: z.string(), tags: z.array(z.string()) }))
    .describe('What it has said, as far as that is recorded: a redaction removes these texts.'),
  redacted: redaction.nullable().describe('Set where it was redacted.'),
});
export type NoteRecordAnswer = z.infer<typeof noteRecordAnswer>;

/** What was erased. */
export const forgottenNote = z.object({ id: z.string() });

/** An agent's summaries of turns that it no longer sees in full, newest first. */
export const summaryListAnswer = z.object({ items: z.array(summaryView) });
export type SummaryListAnswer = z.infer<typeof summaryListAnswer>;

/** The operations on the notes of an agent, or of a profile: they differ in where they are and in what is said of them. */
function notesAt<const At extends string>(
  at: At,
  of: {
    whose: string;
    /** What is refused where there is no such agent or profile. */
    unknown: ErrorCode;
    wholeCell?: true;
    list?: string;
    add: Pick<OperationShape, 'summary' | 'description'>;
    /** What stays when a note is erased. */
    stays: string;
    recorded: string;
    redact: Pick<OperationShape, 'summary' | 'description'>;
  },
) {
  const { whose, unknown } = of;
  const cell = of.wholeCell ? { wholeCell: true } : {};
  const notes = `${at}/notes` as const;
  const note = `${notes}/:note` as const;
  return {
    list: {
      ...cell,
      method: 'get',
      path: notes,
      summary: `The notes of ${whose}, or those in which words are found.`,
      ...(of.list === undefined ? {} : { description: of.list }),
      query: notesQuery,
      answers: { 200: { description: 'A part of the list.', content: json(noteListAnswer) } },
      refusals: [unknown],
    },
    add: {
      ...cell,
      method: 'post',
      path: notes,
      ...of.add,
      body: addNoteRequest,
      answers: {
        201: { description: 'It is noted.', content: json(noteAnswer), headers: { Location: 'Where the note is.' } },
      },
      refusals: [unknown, 'memory-full', 'idempotency-mismatch'],
    },
    get: {
      ...cell,
      method: 'get',
      path: note,
      summary: `A note of ${whose}.`,
      query: noQuery,
      answers: { 200: { description: 'The note.', content: json(noteAnswer) } },
      refusals: [unknown, 'note-unknown'],
    },
    edit: {
      ...cell,
      method: 'post',
      path: note,
      summary: `Changes a note of ${whose}.`,
      description: 'Fields that are not named stay. Who changed it last, and when, stands beside it.',
      body: editNoteRequest,
      answers: { 200: { description: 'It is changed.', content: json(noteAnswer) } },
      refusals: [unknown, 'note-unknown', 'edit-conflict', 'memory-full', 'idempotency-mismatch'],
    },
    forget: {
      ...cell,
      method: 'delete',
      path: note,
      summary: `Erases a note from the memory of ${whose}.`,
      description: `${of.stays}: see \`…/redact\`.`,
      query: baseQuery,
      answers: { 200: { description: 'It is no more.', content: json(forgottenNote) } },
      refusals: [unknown, 'note-unknown', 'edit-conflict'],
    },
    record: {
      ...cell,
      method: 'get',
      path: `${note}/record`,
      summary: of.recorded,
      query: noQuery,
      answers: { 200: { description: 'Its texts.', content: json(noteRecordAnswer) } },
      refusals: [unknown, 'note-unknown'],
    },
    redact: {
      ...cell,
      method: 'post',
      path: `${note}/redact`,
      scope: 'admin',
      ...of.redact,
      body: redactRequest,
      answers: {
        200: { description: 'It is redacted, by this request or an earlier one.', content: json(redactedAnswer) },
      },
      refusals: [unknown, 'note-unknown', 'idempotency-mismatch'],
    },
  } as const;
}

const ofAgent = '/api/projects/:project/agents/:agent';

const agentNotes = notesAt(ofAgent, {
  whose: 'an agent',
  unknown: 'agent-unknown',
  add: {
    summary: 'Adds a note to the memory of an agent.',
    description: 'It wakes nobody: the agent finds it when it looks. What is to be done at once is sent as mail.',
  },
  stays: 'The record of the turn that wrote it, or has read it, stays as it is',
  recorded: 'What is recorded of a note of an agent, also of one that was changed or erased.',
  redact: {
    summary: 'Removes a note of an agent, erased or not, and its copies in what the project has recorded.',
    description: 'It cannot be had back. Agents that know it begin their turns anew.',
  },
});

const profileNotes = notesAt('/api/profiles/:profile', {
  whose: 'a profile',
  unknown: 'profile-unknown',
  wholeCell: true,
  list: 'Agents of the profile wrote them in any project, and read them in any.',
  add: { summary: 'Adds a note to the memory of a profile: all its agents find it, in any project.' },
  stays: 'The records of turns that wrote it, or have read it, stay as they are',
  recorded: 'What all projects have recorded of a note of a profile, also of one that was changed or erased.',
  redact: {
    summary: 'Removes a note of a profile, erased or not, and its copies in projects that wrote it or were shown it.',
    description:
      'It cannot be had back. Agents that know it begin their turns anew. The databases of all projects are searched.',
  },
});

/** What agents and profiles keep in mind. */
export const memory = resource('Memory', {
  getMemory: {
    method: 'get',
    path: `${ofAgent}/memory`,
    summary: 'What an agent remembers of turns that it is no longer told of in full, the newest first.',
    query: noQuery,
    answers: { 200: { description: 'The summaries.', content: json(summaryListAnswer) } },
    refusals: ['agent-unknown'],
  },
  listAgentNotes: agentNotes.list,
  addAgentNote: agentNotes.add,
  getAgentNote: agentNotes.get,
  editAgentNote: agentNotes.edit,
  forgetAgentNote: agentNotes.forget,
  getAgentNoteRecord: agentNotes.record,
  redactAgentNote: agentNotes.redact,
  listProfileNotes: profileNotes.list,
  addProfileNote: profileNotes.add,
  getProfileNote: profileNotes.get,
  editProfileNote: profileNotes.edit,
  forgetProfileNote: profileNotes.forget,
  getProfileNoteRecord: profileNotes.record,
  redactProfileNote: profileNotes.redact,
});
