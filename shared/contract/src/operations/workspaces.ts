import * as z from 'zod';
import {
  fileChange,
  fileCounts,
  workspaceChangeView,
  workspaceEntryView,
  workspaceRepositoryView,
} from '../model/workspace.js';
import { json, resource } from './operation.js';
import { listOf, namedListOf, namedPage, noQuery, numeral, page, request } from './request.js';

const path = z.string().max(1024);

const atTurn = numeral(0, Number.MAX_SAFE_INTEGER)
  .optional()
  .describe(
    'As it was after the turn of this number; 0: before the first that is on record. Without it, as it is now, or as the running turn has found it.',
  );

export const workspaceChangesQuery = request({
  ...page,
  path: path
    .min(1)
    .optional()
    .describe(
      'Only turns that have changed what is at this path, or below it, with how many files of that; a part looks at 50 turns.',
    ),
});

const { limit } = namedPage;

const below = path
  .min(1)
  .optional()
  .describe(
    'Only what is at this path: a file, or a directory and all that is in it. What is named `.git` is left out unless the path names it or leads into it.',
  );

const fromTurn = numeral(0, Number.MAX_SAFE_INTEGER)
  .optional()
  .describe(
    'All that differs from how the workspace was after the turn of this number of the same agent; 0: before the first that is on record. Without it, what the turn itself has changed.',
  );

export const turnChangesQuery = request({
  limit,
  after: path.optional().describe('The `next` of another part: what follows that path.'),
  path: below,
  from: fromTurn,
});

export const turnDiffQuery = request({ path: below, from: fromTurn });

export const workspaceEntriesQuery = request({
  limit,
  after: path.optional().describe('The `next` of another part: what follows that name.'),
  path: path.optional().describe('A directory, or one entry; without it, the whole workspace.'),
  turn: atTurn,
});

export const workspaceFileQuery = request({ path: path.min(1).describe('A file.'), turn: atTurn });

export const restoreWorkspaceRequest = request({
  turn: z.int().nonnegative().describe('The number of the turn; 0: before the first that is on record.'),
});

export const restoreWorkspaceAnswer = z.object({
  agent: z.string(),
  turn: z.int(),
  files: fileCounts.describe('How many files that has changed.'),
});

export const workspaceChangeListAnswer = listOf(workspaceChangeView);

export const turnChangesAnswer = z.object({
  turn: z.string(),
  turnNumber: z.int(),
  agent: z.string(),
  files: fileCounts,
  ...namedListOf(fileChange).omit({ previous: true }).shape,
});

export const workspaceEntryListAnswer = namedListOf(workspaceEntryView)
  .omit({ previous: true })
  .extend({
    directory: z
      .boolean()
      .describe('Whether the items are what is in a directory. Else the item is what is at the path.'),
  });

const bytes = { 'application/octet-stream': z.unknown() };

const fileHeaders = {
  ETag: "The content's SHA-256.",
  'Content-Disposition': "The file's name.",
  'Accept-Ranges': 'Whether a part can be asked for.',
};

/** What agents' files were after each turn. */
export const workspaces = resource('Workspaces', {
  listWorkspaceChanges: {
    method: 'get',
    path: '/api/projects/:project/agents/:agent/workspace',
    summary: "The turns that have changed an agent's files, or one of them.",
    query: workspaceChangesQuery,
    answers: { 200: { description: 'A part of the list.', content: json(workspaceChangeListAnswer) } },
    refusals: ['agent-unknown'],
  },
  listWorkspaceEntries: {
    method: 'get',
    path: '/api/projects/:project/agents/:agent/workspace/entries',
    summary: "What is in a directory of an agent's workspace, ordered by name.",
    query: workspaceEntriesQuery,
    answers: { 200: { description: 'A part of the list.', content: json(workspaceEntryListAnswer) } },
    refusals: ['agent-unknown', 'turn-unknown', 'workspace-path-unknown', 'workspace-too-large'],
  },
  getWorkspaceFile: {
    method: 'get',
    path: '/api/projects/:project/agents/:agent/workspace/content',
    summary: "The bytes of a file of an agent's workspace.",
    description: 'Streamed. Supports ranges, and `If-None-Match` with the `ETag`, which is the SHA-256.',
    query: workspaceFileQuery,
    headers: {
      'If-None-Match': { description: 'An `ETag` that the client has.', schema: z.string().optional() },
      Range: { description: 'The part that is wanted, such as `bytes=1000-`.', schema: z.string().optional() },
      'If-Range': { description: 'The `ETag` of which it is a part.', schema: z.string().optional() },
    },
    answers: {
      200: { description: 'The bytes.', content: bytes, headers: fileHeaders },
      206: {
        description: 'The part.',
        content: bytes,
        headers: { ...fileHeaders, 'Content-Range': 'Which part of how many bytes it is.' },
      },
      304: { description: 'The client has them.' },
    },
    refusals: [
      'agent-unknown',
      'turn-unknown',
      'workspace-path-unknown',
      'workspace-too-large',
      'content-collected',
      'range-not-satisfiable',
    ],
  },
  getWorkspaceRepository: {
    method: 'get',
    path: '/api/projects/:project/agents/:agent/workspace/repository',
    summary: "What an agent's workspace is a clone of, where it began, and how far that repository has gone on.",
    description: 'As its turns are told: the repository itself is not looked at for it.',
    query: noQuery,
    answers: { 200: { description: 'What is on record.', content: json(workspaceRepositoryView) } },
    refusals: ['agent-unknown'],
  },
  restoreWorkspace: {
    method: 'post',
    path: '/api/projects/:project/agents/:agent/workspace/restore',
    scope: 'operate',
    summary: "Makes an agent's files what they were after one of its turns.",
    description:
      'Its next turn begins with them. What they were is kept as that of every turn, and can be restored, too. Refused while a turn works on them.',
    body: restoreWorkspaceRequest,
    answers: { 200: { description: 'They are restored.', content: json(restoreWorkspaceAnswer) } },
    refusals: [
      'agent-unknown',
      'turn-unknown',
      'agent-state-refused',
      'project-closed',
      'workspace-changed',
      'workspace-too-large',
      'content-collected',
      'idempotency-mismatch',
    ],
  },
  getTurnChanges: {
    method: 'get',
    path: '/api/projects/:project/turns/:turn/changes',
    summary: 'The files of its workspace that a turn, or several, have added, changed and removed.',
    description: 'Ordered by path, directory by directory. A turn that has not ended has changed nothing yet.',
    query: turnChangesQuery,
    answers: { 200: { description: 'A part of the list.', content: json(turnChangesAnswer) } },
    refusals: ['turn-unknown', 'workspace-too-large'],
  },
  getTurnDiff: {
    method: 'get',
    path: '/api/projects/:project/turns/:turn/diff',
    summary: 'What a turn, or several, have changed in its files, as a unified diff that `git apply` takes.',
    description:
      'Files that are no text, very long, or collected are named, with a sentence. A diff ends after 2 MB, and says how much is missing.',
    query: turnDiffQuery,
    answers: { 200: { description: 'The diff.', content: { 'text/x-diff': z.string() } } },
    refusals: ['turn-unknown', 'workspace-too-large'],
  },
});
