import * as z from 'zod';
import { agentView } from '../model/agent.js';
import { whyAnswer } from '../model/why.js';
import { json, resource } from './operation.js';
import { emptyRequest, noQuery, numeral, request } from './request.js';

export const stopAgentRequest = request({
  now: z.boolean().default(false).describe('Cancels the turn that it is at, instead of letting it go to its end.'),
});

export const resetAgentRequest = request({
  redeliver: z
    .boolean()
    .default(false)
    .describe('Makes its undelivered mail unread again: a new turn reads it, and may repeat what an earlier one did.'),
});

export const retryAnswer = z.object({ turn: z.string(), number: z.int() });

export const agentAnswer = z.object({ agent: agentView });
export type AgentAnswer = z.infer<typeof agentAnswer>;

export const resetAgentAnswer = agentAnswer.extend({
  redelivered: z.array(z.string()).describe('The ids of the messages that are unread again.'),
});
export type ResetAgentAnswer = z.infer<typeof resetAgentAnswer>;

export const whyQuery = request({
  after: z.string().max(200).optional().describe('The `next` of another part: the part has the agents after that one.'),
  limit: numeral(1, 40).default(40).describe('How many agents the part has at the most.'),
});

export const whyListAnswer = z.object({
  items: z.array(whyAnswer),
  next: z.exactOptional(z.string()).describe('The `after` with which the list goes on; the last part has none.'),
});

export const agentListAnswer = z.object({ items: z.array(agentView) });

/** The agents of a project: how they stand, why, and what an operator does to one. */
export const agents = resource('Projects', {
  listAgents: {
    method: 'get',
    path: '/api/projects/:project/agents',
    summary: 'The agents of a project.',
    query: noQuery,
    answers: { 200: { description: 'The agents.', content: json(agentListAnswer) } },
  },
  whyAgent: {
    method: 'get',
    path: '/api/projects/:project/agents/:agent/why',
    summary: 'Why an agent is quiet, or what it is at, with the command that would change it.',
    description:
      'The reasons are computed from what is stored and from the workers that the queue knows now; nothing is changed.',
    query: noQuery,
    answers: {
      200: { description: 'Everything that holds, the first to be dealt with first.', content: json(whyAnswer) },
    },
    refusals: ['agent-unknown'],
  },
  whyProject: {
    method: 'get',
    path: '/api/projects/:project/why',
    summary: 'The same of the agents of a project, in the order of its file.',
    description: 'Computed as for one agent, of one moment.',
    query: whyQuery,
    answers: { 200: { description: 'A part of the agents.', content: json(whyListAnswer) } },
    refusals: ['agent-unknown'],
  },
  retryAgent: {
    method: 'post',
    path: '/api/projects/:project/agents/:agent/retry',
    scope: 'operate',
    summary: 'Queues the failed or cancelled turn of an agent again: it goes on from where it stood.',
    description:
      'The turn keeps its mail, and its journal: what it did already has no second effect. Its allowances are fresh. Refused where some of its mail was delivered again.',
    body: emptyRequest,
    answers: { 200: { description: 'The turn is queued.', content: json(retryAnswer) } },
    refusals: ['agent-unknown', 'agent-state-refused'],
  },
  resetAgent: {
    method: 'post',
    path: '/api/projects/:project/agents/:agent/reset',
    scope: 'operate',
    summary: 'Gives up the failed turn of an agent; its mail is unread again, where that is asked for.',
    description: 'The failed turn stays as it is, in history. Its mail is undelivered, unless `redeliver` is true.',
    body: resetAgentRequest,
    answers: { 200: { description: 'The agent is free.', content: json(resetAgentAnswer) } },
    refusals: ['agent-unknown', 'agent-state-refused', 'idempotency-mismatch'],
  },
  stopAgent: {
    method: 'post',
    path: '/api/projects/:project/agents/:agent/stop',
    scope: 'operate',
    summary: 'Keeps an agent from starting turns; its mail waits.',
    description: 'A turn that runs goes to its end, unless `now` is true. The project goes on.',
    body: stopAgentRequest,
    answers: { 200: { description: 'It is stopped, or will be after its turn.', content: json(agentAnswer) } },
    refusals: ['agent-unknown', 'agent-state-refused', 'idempotency-mismatch'],
  },
  startAgent: {
    method: 'post',
    path: '/api/projects/:project/agents/:agent/start',
    scope: 'operate',
    summary: 'Lets a stopped agent start turns again.',
    description: 'Mail that waited starts a turn at once, where the project runs.',
    body: emptyRequest,
    answers: { 200: { description: 'It wakes on mail.', content: json(agentAnswer) } },
    refusals: ['agent-unknown', 'agent-state-refused'],
  },
});
