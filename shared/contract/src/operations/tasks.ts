import * as z from 'zod';
import { taskStates } from '../model/task-states.js';
import { taskView } from '../model/task.js';
import { searchMeaning, searchText } from '../model/search.js';
import { mailFields, named, postedMessage } from './messages.js';
import { json, resource } from './operation.js';
import { listOf, page, request } from './request.js';

/** Only tasks of which all of this holds. */
export const tasksQuery = request({
  ...page,
  state: z.enum(taskStates).optional().describe('Only those in this state.'),
  assignee: z.string().optional().describe('Only those that this agent has.'),
  assigner: z.string().optional().describe("An agent's id, or `user`."),
  role: z.string().optional().describe('The role that was asked for.'),
  team: z.string().optional().describe('The team that was asked for.'),
  search: searchText.optional().describe(searchMeaning),
});

/** Work for the least loaded agent of a role. */
export const assignTaskRequest = request({
  role: z.string().trim().min(1).max(200).describe('What its assignee has to be.'),
  team: named.optional().describe('The team that the agent has to be of.'),
  ...mailFields,
});

/** `id` is that of the task, of its message and of the thread that begins with it. */
export const assignedTask = postedMessage.extend({
  assignee: z.string().describe('Who has it.'),
});

export const taskListAnswer = listOf(taskView);

/** Work that is assigned to a role, and how it stands. */
export const tasks = resource('Mail', {
  listTasks: {
    method: 'get',
    path: '/api/projects/:project/tasks',
    summary: 'Work that was assigned, and how it stands.',
    query: tasksQuery,
    answers: { 200: { description: 'A part of the list.', content: json(taskListAnswer) } },
    refusals: ['agent-unknown', 'team-unknown'],
  },
  assignTask: {
    method: 'post',
    path: '/api/projects/:project/tasks',
    mail: 'body',
    scope: 'mail',
    summary: 'Assigns work to an agent that has a role: whoever of those that can begin has least to do.',
    description: 'The choice and the mail are one transaction.',
    body: assignTaskRequest,
    answers: { 201: { description: 'The task is in the inbox of its assignee.', content: json(assignedTask) } },
    refusals: [
      'nobody-fits',
      'team-unknown',
      'attachment-unknown',
      'priority-unknown',
      'sender-forged',
      'idempotency-mismatch',
    ],
  },
});
