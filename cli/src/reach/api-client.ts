import type { z } from 'zod';
import {
  agentAnswer,
  artifactListAnswer,
  budgetListAnswer,
  cancelAnswer,
  conversationAnswer,
  createProjectAnswer,
  cellPauseAnswer,
  deleteProjectAnswer,
  eventListAnswer,
  healthAnswer,
  messageListAnswer,
  postedMessage,
  projectAnswer,
  projectDetailAnswer,
  projectListAnswer,
  requestChangesAnswer,
  resetAgentAnswer,
  retryAnswer,
  summaryListAnswer,
  tickAnswer,
  toolCallListAnswer,
  turnListAnswer,
} from '@suzumio/contract/model/http-api';
import { assignedTask, postedReply, redeliveredMessage, taskListAnswer } from '@suzumio/contract/model/mail-api';
import type { Labels } from '@suzumio/contract/model/labels';
import type { BudgetChange } from '@suzumio/contract/model/budget';
import { projectConfig } from '@suzumio/contract/model/project-config';
import { usageAnswer } from '@suzumio/contract/model/usage';
import { type ConversationEntry, messageDetail, turnDetail } from '@suzumio/contract/model/views';
import { whyAnswer } from '@suzumio/contract/model/why';
import type { Priority } from '@suzumio/protocol/ids';
import { type ApiAddress, createApiRequests } from './api-requests.js';
import { createArtifactTransfers } from './artifact-transfers.js';
import type { ProjectReads } from './project-reads.js';

/** Everything that the command asks of a running server. */
export type ApiClient = ReturnType<typeof createApiClient>;

/** Speaks to the HTTP API. Every method throws a SuzumioError: the server's own, or `server-unreachable`. */
export function createApiClient({ url, token }: ApiAddress) {
  const requests = createApiRequests({ url, token });
  const request = (method: string, path: string, body?: unknown) =>
    requests.request(method, `/api/projects${path}`, body);
  const json = <Schema extends z.ZodType>(schema: Schema, method: string, path: string, body?: unknown) =>
    requests.json(schema, method, `/api/projects${path}`, body);

  const list = async <Schema extends z.ZodType<{ items: unknown[] }>>(
    schema: Schema,
    project: string,
    name: string,
    limit: number,
    which: Readonly<Record<string, string | undefined>> = {},
  ) => {
    const query = new URLSearchParams({ limit: String(limit) });
    for (const [field, value] of Object.entries(which)) if (value !== undefined) query.set(field, value);
    return (await json(schema, 'GET', `/${segment(project)}/${name}?${query.toString()}`))
      .items as z.infer<Schema>['items'];
  };
  /** A list to its end: each part is as long as the server makes it. */
  const allProjects = async (query: URLSearchParams) => {
    const items: z.infer<typeof projectListAnswer>['items'] = [];
    for (;;) {
      const part = await json(projectListAnswer, 'GET', `?${query.toString()}`);
      items.push(...part.items);
      if (part.next === undefined) return items;
      query.set('after', part.next);
    }
  };
  const act = (project: string, action: string, body: unknown = {}) =>
    json(projectAnswer, 'POST', `/${segment(project)}/${action}`, body);

  const transfers = createArtifactTransfers({ url, token }, requests);
  const reads = {
    ...transfers,
    projects: async () => (await allProjects(new URLSearchParams())).map(({ id }) => id),
    async details({ labels = {}, statuses }) {
      const query = new URLSearchParams({ include: 'detail' });
      const words = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
      if (words.length > 0) query.set('label', words.join(','));
      if (statuses !== undefined) query.set('status', statuses.join(','));
      const items = await allProjects(query);
      return {
        details: items.flatMap(({ detail }) => detail ?? []),
        broken: items.flatMap(({ id, problem }) => (problem ? [{ id, ...problem }] : [])),
      };
    },
    detail: (project) => json(projectDetailAnswer, 'GET', `/${segment(project)}`),
    why: (project, agent) => json(whyAnswer, 'GET', toAgent(project, agent, 'why')),
    messages: (project, limit) => list(messageListAnswer, project, 'messages', limit),
    message: (project, name) => json(messageDetail, 'GET', toMessage(project, name)),
    thread: (project, name, limit) => list(messageListAnswer, project, `threads/${segment(name)}`, limit),
    inbox: (project, limit, { agent, undelivered }) =>
      list(messageListAnswer, project, 'inbox', limit, { agent, undelivered: String(undelivered) }),
    tasks: (project, limit, which) => list(taskListAnswer, project, 'tasks', limit, { ...which }),
    turns: (project, limit, agent?: string) => list(turnListAnswer, project, 'turns', limit, { agent }),
    turn: (project, name) => json(turnDetail, 'GET', `/${segment(project)}/turns/${segment(name)}`),
    async conversation(project, name) {
      const entries: ConversationEntry[] = [];
      for (let after: number | undefined = 0; after !== undefined;) {
        const path = `/${segment(project)}/turns/${segment(name)}/conversation?limit=1000&after=${after}`;
        const part: z.infer<typeof conversationAnswer> = await json(conversationAnswer, 'GET', path);
        entries.push(...part.items);
        after = part.next;
      }
      return entries;
    },
    log: async (project, turn, attempt) =>
      (await request('GET', `/${segment(project)}/turns/${segment(turn)}/log?attempt=${attempt}`)).text(),
    toolCalls: (project, limit, turn?: string) => list(toolCallListAnswer, project, 'tool-calls', limit, { turn }),
    artifacts: (project, limit) => list(artifactListAnswer, project, 'artifacts', limit),
    events: (project, limit) => list(eventListAnswer, project, 'events', limit),
    usage: ({ by, project, from, to }) => {
      const query = new URLSearchParams({ by });
      if (project !== undefined) query.set('project', project);
      if (from !== undefined) query.set('from', new Date(from).toISOString());
      if (to !== undefined) query.set('to', new Date(to).toISOString());
      return requests.json(usageAnswer, 'GET', `/api/usage?${query.toString()}`);
    },
    budgets: async (project) => (await json(budgetListAnswer, 'GET', `/${segment(project)}/budget`)).items,
    memory: async (project, agent) => (await json(summaryListAnswer, 'GET', toAgent(project, agent, 'memory'))).items,
    async report(project, version) {
      const query = version === undefined ? '' : `?version=${version}`;
      return (await request('GET', `/${segment(project)}/report${query}`)).text();
    },
  } satisfies ProjectReads;

  return {
    url,
    token,
    health: () => requests.json(healthAnswer, 'GET', '/health'),
    ...reads,
    create: (project: { file: string; labels?: Labels }) => json(createProjectAnswer, 'POST', '', project),
    /** The project's file as it was made, everything resolved. */
    config: (project: string) => json(projectConfig, 'GET', `/${segment(project)}/config/resolved`),
    delete: (project: string) => json(deleteProjectAnswer, 'DELETE', `/${segment(project)}`),
    start: (project: string) => act(project, 'start'),
    stop: (project: string, now: boolean) => act(project, 'stop', { now }),
    approve: (project: string) => act(project, 'approve'),
    requestChanges: (project: string, recipient: string, body: string) =>
      json(requestChangesAnswer, 'POST', `/${segment(project)}/request-changes`, { recipient, body }),
    send: (project: string, message: MailText & MailAddress) =>
      json(postedMessage, 'POST', `/${segment(project)}/messages`, message),
    reply: (project: string, reply: MailText & MailAddress & { message: string }) =>
      json(postedReply, 'POST', `/${segment(project)}/replies`, reply),
    broadcast: (project: string, announcement: MailText & { team?: string }) =>
      json(postedMessage, 'POST', `/${segment(project)}/broadcasts`, announcement),
    assign: (project: string, task: MailText & { role: string; team?: string }) =>
      json(assignedTask, 'POST', `/${segment(project)}/tasks`, task),
    redeliver: (project: string, message: string, agent?: string) =>
      json(redeliveredMessage, 'POST', `${toMessage(project, message)}/redeliver`, { agent }),
    retryAgent: (project: string, agent: string) => json(retryAnswer, 'POST', toAgent(project, agent, 'retry'), {}),
    resetAgent: (project: string, agent: string, redeliver: boolean) =>
      json(resetAgentAnswer, 'POST', toAgent(project, agent, 'reset'), { redeliver }),
    stopAgent: (project: string, agent: string, now: boolean) =>
      json(agentAnswer, 'POST', toAgent(project, agent, 'stop'), { now }),
    startAgent: (project: string, agent: string) => json(agentAnswer, 'POST', toAgent(project, agent, 'start'), {}),
    pauseAgent: (project: string, agent: string, reason?: string) =>
      json(agentAnswer, 'POST', toAgent(project, agent, 'pause'), { reason }),
    resumeAgent: (project: string, agent: string) => json(agentAnswer, 'POST', toAgent(project, agent, 'resume'), {}),
    pauseProject: (project: string, reason?: string) => act(project, 'pause', { reason }),
    resumeProject: (project: string) => act(project, 'resume'),
    pauseAll: (reason?: string) => requests.json(cellPauseAnswer, 'POST', '/api/pause', { reason }),
    resumeAll: () => requests.json(cellPauseAnswer, 'POST', '/api/resume', {}),
    changeBudget: async (project: string, change: BudgetChange & { agent?: string }) =>
      (await json(budgetListAnswer, 'POST', `/${segment(project)}/budget`, change)).items,
    cancelTurn: (project: string, turn: string) =>
      json(cancelAnswer, 'POST', `/${segment(project)}/turns/${segment(turn)}/cancel`, {}),
    tick: (project: string) => json(tickAnswer, 'POST', `/${segment(project)}/tick`, {}),
  };
}

interface MailAddress {
  recipient?: string;
  channel?: string;
}

/** What mail says. */
interface MailText {
  priority: Priority;
  body: string;
  attachments?: string[];
}

function toAgent(project: string, agent: string, action: string): string {
  return `/${segment(project)}/agents/${segment(agent)}/${action}`;
}

function toMessage(project: string, message: string): string {
  return `/${segment(project)}/messages/${segment(message)}`;
}

/** A name that a person typed, as one segment of a path. */
function segment(name: string): string {
  return encodeURIComponent(name);
}
