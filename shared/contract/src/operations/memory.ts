import * as z from 'zod';
import { memoryUse, noteFields, noteQuery, noteSearchMeaning, noteView } from '../model/note.js';
import { redaction } from '../model/redaction.js';
import { summaryView } from '../model/views.js';
import { redactedAnswer, redactRequest } from './messages.js';
import { json, resource } from './operation.js';
import { baseVersion, listOf, noQuery, page, request } from './request.js';

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

const ofAgent = '/api/projects/:project/agents/:agent';
const ofProfile = '/api/profiles/:profile';

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
  listAgentNotes: {
    method: 'get',
    path: `${ofAgent}/notes`,
    summary: 'The notes of an agent, or those in which words are found.',
    query: notesQuery,
    answers: { 200: { description: 'A part of the list.', content: json(noteListAnswer) } },
    refusals: ['agent-unknown'],
  },
  addAgentNote: {
    method: 'post',
    path: `${ofAgent}/notes`,
    summary: 'Adds a note to the memory of an agent.',
    description: 'It wakes nobody: the agent finds it when it looks. What is to be done at once is sent as mail.',
    body: addNoteRequest,
    answers: {
      201: {
        description: 'It is noted.',
        content: json(noteAnswer),
        headers: { Location: 'Where the note is.' },
      },
    },
    refusals: ['agent-unknown', 'memory-full', 'idempotency-mismatch'],
  },
  getAgentNote: {
    method: 'get',
    path: `${ofAgent}/notes/:note`,
    summary: 'A note of an agent.',
    query: noQuery,
    answers: { 200: { description: 'The note.', content: json(noteAnswer) } },
    refusals: ['agent-unknown', 'note-unknown'],
  },
  editAgentNote: {
    method: 'post',
    path: `${ofAgent}/notes/:note`,
    summary: 'Changes a note of an agent.',
    description: 'Fields that are not named stay. Who changed it last, and when, stands beside it.',
    body: editNoteRequest,
    answers: { 200: { description: 'It is changed.', content: json(noteAnswer) } },
    refusals: ['agent-unknown', 'note-unknown', 'edit-conflict', 'memory-full', 'idempotency-mismatch'],
  },
  forgetAgentNote: {
    method: 'delete',
    path: `${ofAgent}/notes/:note`,
    summary: 'Erases a note from the memory of an agent.',
    description: 'The record of the turn that wrote it, or has read it, stays as it is: see `…/redact`.',
    query: noQuery,
    answers: { 200: { description: 'It is no more.', content: json(forgottenNote) } },
    refusals: ['agent-unknown', 'note-unknown'],
  },
  getAgentNoteRecord: {
    method: 'get',
    path: `${ofAgent}/notes/:note/record`,
    summary: 'What is recorded of a note of an agent, also of one that was changed or erased.',
    query: noQuery,
    answers: { 200: { description: 'Its texts.', content: json(noteRecordAnswer) } },
    refusals: ['agent-unknown', 'note-unknown'],
  },
  redactAgentNote: {
    method: 'post',
    path: `${ofAgent}/notes/:note/redact`,
    scope: 'admin',
    summary: 'Removes a note of an agent, erased or not, and its copies in what the project has recorded.',
    description: 'It cannot be had back. Agents that know it begin their turns anew.',
    body: redactRequest,
    answers: {
      200: { description: 'It is redacted, by this request or an earlier one.', content: json(redactedAnswer) },
    },
    refusals: ['agent-unknown', 'note-unknown', 'idempotency-mismatch'],
  },
  listProfileNotes: {
    method: 'get',
    path: `${ofProfile}/notes`,
    wholeCell: true,
    summary: 'The notes of a profile, or those in which words are found.',
    description: 'Agents of the profile wrote them in any project, and read them in any.',
    query: notesQuery,
    answers: { 200: { description: 'A part of the list.', content: json(noteListAnswer) } },
    refusals: ['profile-unknown'],
  },
  addProfileNote: {
    method: 'post',
    path: `${ofProfile}/notes`,
    wholeCell: true,
    summary: 'Adds a note to the memory of a profile: all its agents find it, in any project.',
    body: addNoteRequest,
    answers: {
      201: {
        description: 'It is noted.',
        content: json(noteAnswer),
        headers: { Location: 'Where the note is.' },
      },
    },
    refusals: ['profile-unknown', 'memory-full', 'idempotency-mismatch'],
  },
  getProfileNote: {
    method: 'get',
    path: `${ofProfile}/notes/:note`,
    wholeCell: true,
    summary: 'A note of a profile.',
    query: noQuery,
    answers: { 200: { description: 'The note.', content: json(noteAnswer) } },
    refusals: ['profile-unknown', 'note-unknown'],
  },
  editProfileNote: {
    method: 'post',
    path: `${ofProfile}/notes/:note`,
    wholeCell: true,
    summary: 'Changes a note of a profile.',
    description: 'Fields that are not named stay. Who changed it last, and when, stands beside it.',
    body: editNoteRequest,
    answers: { 200: { description: 'It is changed.', content: json(noteAnswer) } },
    refusals: ['profile-unknown', 'note-unknown', 'edit-conflict', 'memory-full', 'idempotency-mismatch'],
  },
  forgetProfileNote: {
    method: 'delete',
    path: `${ofProfile}/notes/:note`,
    wholeCell: true,
    summary: 'Erases a note from the memory of a profile.',
    description: 'The records of turns that wrote it, or have read it, stay as they are: see `…/redact`.',
    query: noQuery,
    answers: { 200: { description: 'It is no more.', content: json(forgottenNote) } },
    refusals: ['profile-unknown', 'note-unknown'],
  },
  getProfileNoteRecord: {
    method: 'get',
    path: `${ofProfile}/notes/:note/record`,
    wholeCell: true,
    summary: 'What all projects have recorded of a note of a profile, also of one that was changed or erased.',
    query: noQuery,
    answers: { 200: { description: 'Its texts.', content: json(noteRecordAnswer) } },
    refusals: ['profile-unknown', 'note-unknown'],
  },
  redactProfileNote: {
    method: 'post',
    path: `${ofProfile}/notes/:note/redact`,
    wholeCell: true,
    scope: 'admin',
    summary: 'Removes a note of a profile, erased or not, and its copies in projects that wrote it or were shown it.',
    description:
      'It cannot be had back. Agents that know it begin their turns anew. The databases of all projects are searched.',
    body: redactRequest,
    answers: {
      200: { description: 'It is redacted, by this request or an earlier one.', content: json(redactedAnswer) },
    },
    refusals: ['profile-unknown', 'note-unknown', 'idempotency-mismatch'],
  },
});
