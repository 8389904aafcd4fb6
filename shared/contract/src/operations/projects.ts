import { projectId } from '@suzumio/protocol/ids';
import { z } from 'zod';
import { budgetReached } from '../model/budget.js';
import { labels, labelWord, maxLabels } from '../model/labels.js';
import { pause } from '../model/pause.js';
import { projectConfig } from '../model/project-config.js';
import { projectStatuses } from '../model/project-status.js';
import { storageReached } from '../model/storage.js';
import { agentView, projectView } from '../model/views.js';
import { attachments, mailRefusals, messageBody, postedMessage, sendMessageRequest } from './messages.js';
import { json, resource } from './operation.js';
import { emptyRequest, names, noQuery, numeral, request } from './request.js';

/** Projects that have all of the labels and one of the statuses, oldest first. `after` is the `next` of the part before. */
export const projectsQuery = request({
  label: names(labelWord)
    .refine((all) => all.length <= maxLabels, { error: `at most ${maxLabels} labels` })
    .optional(),
  /** Only projects of these statuses, as the cell's index knows them. */
  status: names(z.enum(projectStatuses)).optional(),
  /** With `detail`, each with what a project by itself is read with: a part of the list may then be short. */
  include: z.enum(['detail']).optional(),
  limit: numeral(1, 1000).default(1000),
  after: z
    .string()
    .regex(/^\d{1,15}\.[a-z0-9][a-z0-9-]{0,62}$/, { error: 'expected the next of an earlier part' })
    .transform((text) => ({ createdAtMs: Number.parseInt(text), id: text.slice(text.indexOf('.') + 1) }))
    .optional(),
});

export const createProjectRequest = request({
  /** The project file's text. It is taken literally. */
  file: z.string().regex(/\S/, { error: 'expected the text of a project file' }),
  /** Whether the project runs at once. */
  start: z.boolean().default(false),
  /** The first mail. */
  message: sendMessageRequest.optional(),
  /** What the project is filed under. */
  labels: labels.optional(),
});

export const stopRequest = request({
  /** Cancels what runs, instead of letting it go to its end. */
  now: z.boolean().default(false),
});

export const requestChangesRequest = request({ recipient: z.string().max(200), body: messageBody, attachments });

/** What the cell's index says of a project: it may say `running` for a moment longer than is true. */
export const projectSummary = z.object({ id: projectId, status: z.enum(projectStatuses) });

/** The name of the project that is no more. */
export const deleteProjectAnswer = z.object({ id: projectId });
export type DeleteProjectAnswer = z.infer<typeof deleteProjectAnswer>;

export const projectAnswer = z.object({ project: projectView });
export type ProjectAnswer = z.infer<typeof projectAnswer>;

export const projectDetailAnswer = projectAnswer.extend({
  agents: z.array(agentView),
  /** Set where the whole cell starts no turns for a while. */
  cellPaused: pause.nullable(),
  /** The budgets that keep agents from new turns. */
  budgetsReached: z.array(budgetReached),
  /** The bounds of what may be stored that are reached. */
  storageReached: z.array(storageReached),
});
export type ProjectDetailAnswer = z.infer<typeof projectDetailAnswer>;

export const projectListAnswer = z.object({
  items: z.array(
    projectSummary.extend({
      labels,
      /** With `include=detail`: the project as it is read by itself. */
      detail: z.exactOptional(projectDetailAnswer),
      /** In its place, where the project's own file cannot be used: why not, and what to do. Its status may be an old one. */
      problem: z.exactOptional(z.object({ code: z.string(), detail: z.string() })),
    }),
  ),
  /** The `after` with which the list goes on; the last part has none. */
  next: z.exactOptional(z.string()),
});
export type ProjectListAnswer = z.infer<typeof projectListAnswer>;

export const createProjectAnswer = projectAnswer.extend({
  message: postedMessage.nullable(),
  /** What is allowed in the file and probably not meant. */
  warnings: z.array(z.string()),
});
export type CreateProjectAnswer = z.infer<typeof createProjectAnswer>;

export const requestChangesAnswer = projectAnswer.extend({ message: postedMessage });
export type RequestChangesAnswer = z.infer<typeof requestChangesAnswer>;

/** What a project's own database says; a scheduler is told to look at it. */
export const tickAnswer = z.object({ id: projectId, status: z.enum(projectStatuses) });
export type TickAnswer = z.infer<typeof tickAnswer>;

/** Projects, and what is done to them as a whole. */
export const projects = resource('Projects', {
  listProjects: {
    method: 'get',
    path: '/api/projects',
    summary: 'The projects that the token may read, or those of them that have all of the labels; oldest first.',
    query: projectsQuery,
    answers: { 200: { description: 'A part of the list.', content: json(projectListAnswer) } },
  },
  createProject: {
    method: 'post',
    path: '/api/projects',
    wholeCell: true,
    mail: 'message',
    summary:
      'Makes a project from the text of a project file; with its first mail and its start, where they are given.',
    body: createProjectRequest,
    answers: {
      201: {
        description: 'The project was made.',
        content: json(createProjectAnswer),
        headers: { Location: 'Where the project is.' },
      },
    },
    refusals: [
      'policy-denied',
      'project-exists',
      'invalid-config',
      'not-supported-yet',
      'profile-unknown',
      'profile-retired',
      ...mailRefusals,
    ],
  },
  getProject: {
    method: 'get',
    path: '/api/projects/:project',
    summary: 'A project and its agents.',
    query: noQuery,
    answers: { 200: { description: 'The project.', content: json(projectDetailAnswer) } },
  },
  deleteProject: {
    method: 'delete',
    path: '/api/projects/:project',
    scope: 'admin',
    summary: 'Deletes a project: cancels its turns, and removes everything that is stored of it.',
    query: noQuery,
    repeatable: true,
    answers: { 200: { description: 'It is no more, and its name is free.', content: json(deleteProjectAnswer) } },
  },
  getResolvedConfig: {
    method: 'get',
    path: '/api/projects/:project/config/resolved',
    summary: 'The project file with everything resolved. Durations are milliseconds, sizes bytes.',
    query: noQuery,
    answers: { 200: { description: 'The resolved project file.', content: json(projectConfig) } },
  },
  startProject: {
    method: 'post',
    path: '/api/projects/:project/start',
    scope: 'operate',
    summary: 'Starts a project, or starts it again after it was stopped.',
    body: emptyRequest,
    answers: { 200: { description: 'It runs.', content: json(projectAnswer) } },
    refusals: ['transition-refused'],
  },
  stopProject: {
    method: 'post',
    path: '/api/projects/:project/stop',
    scope: 'operate',
    summary: 'Stops a project: no turn begins any more.',
    body: stopRequest,
    answers: { 200: { description: 'It is stopped.', content: json(projectAnswer) } },
    refusals: ['transition-refused', 'idempotency-mismatch'],
  },
  approveProject: {
    method: 'post',
    path: '/api/projects/:project/approve',
    scope: 'operate',
    summary: 'Accepts the submitted report and completes the project.',
    body: emptyRequest,
    answers: { 200: { description: 'It is completed.', content: json(projectAnswer) } },
    refusals: ['transition-refused'],
  },
  requestChanges: {
    method: 'post',
    path: '/api/projects/:project/request-changes',
    scope: 'operate',
    summary: 'Sends the report back with a message, and lets the project run again.',
    body: requestChangesRequest,
    answers: { 200: { description: 'It runs, and the message is sent.', content: json(requestChangesAnswer) } },
    refusals: [
      'transition-refused',
      'recipient-unknown',
      'recipient-ambiguous',
      'attachment-unknown',
      'idempotency-mismatch',
    ],
  },
  tickProject: {
    method: 'post',
    path: '/api/projects/:project/tick',
    scope: 'operate',
    summary: 'Has a scheduler look at a project now.',
    body: emptyRequest,
    answers: { 200: { description: 'It was told to.', content: json(tickAnswer) } },
  },
});
