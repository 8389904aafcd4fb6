import * as z from 'zod';
import { atWork } from '@suzumio/contract/model/busy-agent';
import { assignTask } from '@suzumio/store/mail/assign-task';
import { messageFields, name } from './message-fields.js';
import { defineTool } from './tool.js';

export const tasksAssign = defineTool({
  name: 'tasks.assign',
  description:
    'Give a piece of work to an agent with a role, whoever of them has the least to do; you learn who it is. It wakes that ' +
    'agent, which answers in the thread of the task. Say all that is needed to do it: the other agent does not know what ' +
    'you know. Call it once for each piece of work, so that several agents share them.',
  input: z.strictObject({
    role: name.describe('A role as it stands after agents in your prompt.'),
    team: name.optional().describe('The team that the agent has to be in. Leave out if any will do.'),
    ...messageFields,
  }),
  prepare: (input) => (tx, site) => {
    const { id, assignee, busy } = assignTask(tx, { ...input, sender: site.agent, actor: site.agent, turn: site.turn });
    const output = [`Assigned to ${assignee} as ${id}.`, ...atWork(busy, String)].join(' ');
    return { output, metadata: { task: id, assignee } };
  },
});
