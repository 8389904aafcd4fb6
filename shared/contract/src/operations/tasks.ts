import { assignedTask, assignTaskRequest, taskListAnswer, tasksQuery } from '../model/mail-api.js';
import { json, resource } from './operation.js';

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
