import { z } from 'zod';
import { listOf, mailFields, named, page, postedMessage, request } from './http-api.js';
import { taskStates } from './task-states.js';
import { taskView } from './views.js';

// What the HTTP API takes and answers of mail that finds its own way, and of mail that is delivered again.

/** Only tasks of which all of this holds. */
export const tasksQuery = request({
  ...page,
  state: z.enum(taskStates).optional(),
  assignee: z.string().optional(),
  /** An agent's id, or `user`. */
  assigner: z.string().optional(),
  role: z.string().optional(),
  team: z.string().optional(),
});

/** An answer, in the thread of what it answers. Without `recipient` and `channel` it goes to who wrote that. */
export const replyRequest = request({
  /** The id or number of the message that it answers. */
  message: named,
  recipient: named.optional(),
  channel: named.optional(),
  ...mailFields,
});
/** An announcement to a team, or without one to all agents. */
export const broadcastRequest = request({ team: named.optional(), ...mailFields });
/** Work for the least loaded agent of a role. */
export const assignTaskRequest = request({
  role: z.string().trim().min(1).max(200),
  /** The team that the agent has to be of. */
  team: named.optional(),
  ...mailFields,
});

export const redeliverRequest = request({
  /** Only for this one of the agents that have the message undelivered. */
  agent: z.string().max(200).optional(),
});

export const postedReply = postedMessage.extend({
  threadId: z.string(),
  /** Who or what it is addressed to. */
  to: z.string(),
});
/** `id` is that of the task, of its message and of the thread that begins with it. */
export const assignedTask = postedMessage.extend({
  /** Who has it. */
  assignee: z.string(),
});
export const taskListAnswer = listOf(taskView);

/** The agents that have the message unread again. */
export const redeliveredMessage = z.object({ id: z.string(), agents: z.array(z.string()) });
