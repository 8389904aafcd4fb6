import { projectId } from '@suzumio/protocol/ids';
import * as z from 'zod';
import { budgetReached } from '../model/budget.js';
import { labelKey, labels, labelWord, maxLabels } from '../model/labels.js';
import { pause } from '../model/pause.js';
import { projectConfig } from '../model/project-config.js';
import { projectStatuses } from '../model/project-status.js';
import { storageReached } from '../model/storage.js';
import { agentView } from '../model/agent.js';
import { modelFault } from '../model/model-fault.js';
import { projectView } from '../model/project.js';
import { attachments, mailRefusals, messageBody, postedMessage, sendMessageRequest } from './messages.js';
import { json, resource } from './operation.js';
import { emptyRequest, namedPage, names, noQuery, numeral, request } from './request.js';

/** Projects that have all of the labels and one of the statuses, by the moment of their making. */
export const projectsQuery = request({
  label: names(labelWord)
    .refine((all) => all.length <= maxLabels, { error: `at most ${maxLabels} labels` })
    .optional()
    .describe('Labels that a project has to have, all of them: `key=value`.'),
  status: names(z.enum(projectStatuses))
    .optional()
    .describe("Only projects of these statuses, as the cell's index knows them."),
  include: z
    .enum(['counts', 'detail'])
    .optional()
    .describe(
      'With `counts`, each with how it stands; with `detail`, also with its agents. A part of the list may then be short.',
    ),
  limit: numeral(1, 1000).default(1000).describe('How many the part has at the most.'),
  order: namedPage.order,
  after: place('next').describe('The `next` of another part: the part has what follows that place.'),
  before: place('previous').describe(
    'The `previous` of another part: the part has what is before that place, up to it.',
  ),
});

/** The moment at which a project was made, and its id: filled up, it sorts as it stands. */
function place(name: string) {
  return z
    .string()
    .regex(/^\d{1,15}\.[a-z0-9][a-z0-9-]{0,62}$/, { error: `expected the ${name} of another part` })
    .transform((text) => text.padStart(text.length + 15 - text.indexOf('.'), '0'))
    .optional();
}

export const createProjectRequest = request({
  file: z
    .string()
    .regex(/\S/, { error: 'expected the text of a project file' })
    .describe("The project file's text. It is taken literally."),
  start: z.boolean().default(false).describe('Whether the project runs at once.'),
  message: sendMessageRequest.optional().describe('The first mail.'),
  labels: labels.optional().describe('What the project is filed under.'),
});

export const labelRequest = request({
  set: labels.optional().describe('Labels that are added, or have another text from now on.'),
  remove: z.array(labelKey).max(maxLabels).optional().describe('The names of labels that go. One may be missing.'),
})
  .refine(({ set = {}, remove = [] }) => Object.keys(set).length + remove.length > 0, {
    error: 'name what is to change: set or remove',
  })
  .refine(({ set = {}, remove = [] }) => !remove.some((key) => key in set), {
    error: 'a label is either set or removed, not both',
  });

export const stopRequest = request({
  now: z.boolean().default(false).describe('Cancels what runs, instead of letting it go to its end.'),
});

const decidedVersion = z
  .int()
  .min(1)
  .optional()
  .describe('The version of the report that was read: the decision is refused where another one is the newest.');

export const approveRequest = request({ version: decidedVersion });

export const requestChangesRequest = request({
  recipient: z.string().max(200),
  body: messageBody,
  attachments,
  version: decidedVersion,
  status: z
    .enum(['submitted', 'completed'])
    .optional()
    .describe(
      'The status in which the report was read, `submitted` by default: the request is refused where the project has another one. An approved report is sent back with `completed`.',
    ),
});

/** What the cell's index says of a project: it may say `running` for a moment longer than is true. */
export const projectSummary = z.object({ id: projectId, status: z.enum(projectStatuses) });

/** The name of the project that is no more. */
export const deleteProjectAnswer = z.object({ id: projectId });

export const projectAnswer = z.object({ project: projectView });
export type ProjectAnswer = z.infer<typeof projectAnswer>;

export const projectDetailAnswer = projectAnswer.extend({
  agents: z.array(agentView),
  cellPaused: pause.nullable().describe('Set where the whole cell starts no turns for a while.'),
  budgetsReached: z.array(budgetReached).describe('The budgets that keep agents from new turns.'),
  storageReached: z.array(storageReached).describe('The bounds of what may be stored that are reached.'),
  modelFaults: z.array(modelFault).describe('The presets that refused when they were asked last.'),
});
export type ProjectDetailAnswer = z.infer<typeof projectDetailAnswer>;

export const projectListAnswer = z.object({
  items: z.array(
    projectSummary.extend({
      labels,
      counts: z
        .exactOptional(projectView)
        .describe('With `include=counts`: its turns, messages, tokens and cost, without its agents.'),
      detail: z
        .exactOptional(projectDetailAnswer)
        .describe('With `include=detail`: the project as it is read by itself.'),
      problem: z
        .exactOptional(z.object({ code: z.string(), detail: z.string() }))
        .describe(
          "In its place, where the project's own file cannot be used: why not, and what to do. Its status may be an old one.",
        ),
    }),
  ),
  next: z.exactOptional(z.string()).describe('The `after` with which the list goes on; the last part has none.'),
  previous: z.exactOptional(z.string()).describe('The `before` with which it goes back; the first part has none.'),
});
export type ProjectListAnswer = z.infer<typeof projectListAnswer>;

export const createProjectAnswer = projectAnswer.extend({
  message: postedMessage.nullable(),
  warnings: z.array(z.string()).describe('What is allowed in the file and probably not meant.'),
  notes: z.array(z.string()).describe('What the file has of the published format that has no effect here, and why.'),
});
export type CreateProjectAnswer = z.infer<typeof createProjectAnswer>;

export const requestChangesAnswer = projectAnswer.extend({ message: postedMessage });

export const projectSource = z.object({
  version: z.int().describe('Its number, counted from 1: the file that the project was made from.'),
  file: z.string().nullable().describe('Its text; null where it is not there any more.'),
});
export type ProjectSource = z.infer<typeof projectSource>;

/** What a project's own database says; a scheduler is told to look at it. */
export const tickAnswer = z.object({ id: projectId, status: z.enum(projectStatuses) });

/** Projects, and what is done to them as a whole. */
export const projects = resource('Projects', {
  listProjects: {
    method: 'get',
    path: '/api/projects',
    summary: 'The projects that the token may read, or those of them that have all of the labels; oldest first.',
    description:
      "The list is that of the cell's index: a status may be an old one for a moment. Each item has the labels; `include=detail` adds what `getProject` answers.",
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
    description:
      "All of it is one transaction: where the file, the mail or the start is refused, nothing is made. The file is taken literally: what it imports has to stand in it. What it may use is checked against the policy of the host. Its name is the project's id.",
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
    description: 'With what keeps its agents from new turns: pauses, budgets and bounds of storage that are reached.',
    query: noQuery,
    answers: { 200: { description: 'The project.', content: json(projectDetailAnswer) } },
  },
  deleteProject: {
    method: 'delete',
    path: '/api/projects/:project',
    scope: 'admin',
    summary: 'Deletes a project: cancels its turns, and removes everything that is stored of it.',
    description:
      'Running turns are ended at once. Its database, files, workspaces and logs are removed, and cannot be had back; its name is free for another project.',
    query: noQuery,
    repeatable: true,
    answers: { 200: { description: 'It is no more, and its name is free.', content: json(deleteProjectAnswer) } },
  },
  getResolvedConfig: {
    method: 'get',
    path: '/api/projects/:project/config/resolved',
    summary:
      'The newest version of the project file with everything resolved. Durations are milliseconds, sizes bytes.',
    description: 'Values of variables and of headers are `(hidden)`: keys may stand in them.',
    query: noQuery,
    answers: { 200: { description: 'The resolved project file.', content: json(projectConfig) } },
  },
  getProjectSource: {
    method: 'get',
    path: '/api/projects/:project/config/source',
    summary: 'The newest version of the project file as it was given, with its comments.',
    description:
      'What `applyConfig` has put in force, or what the project was made from. Values of variables and of headers are `(hidden)`, as in what was resolved; comments are as they were written. Files that it imported are not in it.',
    query: noQuery,
    answers: { 200: { description: 'The file.', content: json(projectSource) } },
  },
  startProject: {
    method: 'post',
    path: '/api/projects/:project/start',
    scope: 'operate',
    summary: 'Starts a project, or starts it again after it was stopped.',
    description: 'Allowed where it is `initialized` or `stopped`. Mail that waits starts turns at once.',
    body: emptyRequest,
    answers: { 200: { description: 'It runs.', content: json(projectAnswer) } },
    refusals: ['transition-refused'],
  },
  stopProject: {
    method: 'post',
    path: '/api/projects/:project/stop',
    scope: 'operate',
    summary: 'Stops a project: no turn begins any more.',
    description:
      'Allowed where it is `initialized`, `running` or `submitted`. Turns that run go to their end, unless `now` is true. Mail is still taken, and waits.',
    body: stopRequest,
    answers: { 200: { description: 'It is stopped.', content: json(projectAnswer) } },
    refusals: ['transition-refused', 'idempotency-mismatch'],
  },
  approveProject: {
    method: 'post',
    path: '/api/projects/:project/approve',
    scope: 'operate',
    summary: 'Accepts the submitted report and completes the project.',
    description: 'Allowed where it is `submitted`. No turn begins any more, unless changes are requested later.',
    body: approveRequest,
    answers: { 200: { description: 'It is completed.', content: json(projectAnswer) } },
    refusals: ['transition-refused', 'report-version-refused', 'idempotency-mismatch'],
  },
  requestChanges: {
    method: 'post',
    path: '/api/projects/:project/request-changes',
    scope: 'operate',
    summary: 'Sends the report back with a message, and lets the project run again.',
    description:
      'Allowed where it is `submitted`, or `completed` where the request says so. The status and the mail change in one transaction. What was decided meanwhile is refused with who decided what, and when.',
    body: requestChangesRequest,
    answers: { 200: { description: 'It runs, and the message is sent.', content: json(requestChangesAnswer) } },
    refusals: [
      'transition-refused',
      'report-version-refused',
      'recipient-unknown',
      'recipient-retired',
      'recipient-ambiguous',
      'attachment-unknown',
      'idempotency-mismatch',
    ],
  },
  labelProject: {
    method: 'post',
    path: '/api/projects/:project/labels',
    scope: 'operate',
    summary: 'Changes what a project is filed under: sets labels, and removes others.',
    description:
      'Labels that are not named stay, and all of it is done at once. Where nothing changes, there is no event. A project has the same number of labels at most as when it is made.',
    body: labelRequest,
    answers: { 200: { description: 'It is filed so.', content: json(projectAnswer) } },
    refusals: ['idempotency-mismatch'],
  },
  tickProject: {
    method: 'post',
    path: '/api/projects/:project/tick',
    scope: 'operate',
    summary: 'Has a scheduler look at a project now.',
    description:
      'Schedulers find work by themselves; this is for when one should not wait for that. It changes nothing of the project.',
    body: emptyRequest,
    answers: { 200: { description: 'It was told to.', content: json(tickAnswer) } },
  },
});
