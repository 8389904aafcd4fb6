import * as z from 'zod';
import { taskStates } from '@suzumio/contract/model/task-states';
import type { TaskView } from '@suzumio/contract/model/task';
import { listTasks } from '@suzumio/store/mail/tasks';
import { name } from './message-fields.js';
import { defineTool } from './tool.js';

const maxListed = 200;

export const tasksList = defineTool({
  name: 'tasks.list',
  description:
    'List tasks that were assigned in this project, oldest first: id, state, who assigned it to whom, and how its text ' +
    "begins. Without a filter it lists everybody's.",
  input: z.strictObject({
    state: z.enum(taskStates).optional().describe('Only tasks that stand like this.'),
    assignee: name.optional().describe('Only tasks of this agent: its id, yours for your own.'),
    assigner: name
      .optional()
      .describe('Only tasks that this agent assigned: its id, yours for those that you gave others.'),
  }),
  prepare: (filter) => (tx) => {
    const { items: tasks } = listTasks(tx, { ...filter, limit: maxListed });
    return {
      output: tasks.length === 0 ? 'There are no such tasks.' : tasks.map(line).join('\n'),
      metadata: { tasks },
    };
  },
});

function line({ id, state, assigner, assignee, role, excerpt }: TaskView): string {
  return `${id}  ${state}  ${assigner} -> ${assignee} (${role})  ${excerpt}`;
}
