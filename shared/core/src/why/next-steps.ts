import type { InputOf } from '@suzumio/contract/client/client';
import type { NextRequest } from '@suzumio/contract/model/next-request';
import type { Operations } from '@suzumio/contract/operations/operations';

/** What comes next: a command of `suzumio`, without its name, and the same as a request. */
export interface NextStep {
  next: string;
  /** Null where no operation of the API does it. */
  request: NextRequest | null;
}

/** An operation's input; of its body what is known. */
type Known<Input> = Omit<Input, 'body'> &
  ('body' extends keyof Input ? { body?: Partial<NonNullable<Input['body']>> } : unknown);

function step<Id extends keyof Operations>(
  next: string,
  operation: Id,
  params: Known<InputOf<Operations[Id]>>,
  asks: readonly string[] = [],
): NextStep {
  return { next, request: { operation, params, asks: [...asks] } };
}

/** A step that nothing but a command takes. */
export function byHand(next: string): NextStep {
  return { next, request: null };
}

export const nextSteps = {
  retry: (project: string, agent: string) => step(`agents retry ${project} ${agent}`, 'retryAgent', { project, agent }),
  redeliver: (project: string, agent: string) =>
    step(`agents reset ${project} ${agent} --redeliver`, 'resetAgent', { project, agent, body: { redeliver: true } }),
  redeliverMessage: (project: string, message: number, agent: string) =>
    step(`redeliver ${project} ${message} --agent ${agent}`, 'redeliverMessage', {
      project,
      message: String(message),
      body: { agent },
    }),
  startAgent: (project: string, agent: string) =>
    step(`agents start ${project} ${agent}`, 'startAgent', { project, agent }),
  why: (project: string, agent: string) => step(`why ${project} ${agent}`, 'whyAgent', { project, agent }),
  configVersions: (project: string) => step(`config versions ${project}`, 'listConfigVersions', { project }),
  startProject: (project: string) => step(`start ${project}`, 'startProject', { project }),
  readReport: (project: string) => step(`report ${project}`, 'getReport', { project }),
  requestChanges: (project: string, agent: string) =>
    step(`request-changes ${project} ${agent} "…"`, 'requestChanges', { project, body: { recipient: agent } }, [
      'body',
    ]),
  resumeAll: () => step('resume --all', 'resumeCell', {}),
  resumeProject: (project: string) => step(`resume ${project}`, 'resumeProject', { project }),
  resumeAgent: (project: string, agent: string) =>
    step(`resume ${project} ${agent}`, 'resumeAgent', { project, agent }),
  readBudget: (project: string, agent: string | null = null) =>
    step(`budget ${project}${agent === null ? '' : ` --agent ${agent}`}`, 'getBudget', { project }),
  raiseBudget: (project: string, agent: string | null, limit: 'usd' | 'tokens' | 'turns') =>
    step(
      `budget ${project}${agent === null ? '' : ` --agent ${agent}`} --${limit} N`,
      'changeBudget',
      { project, body: agent === null ? {} : { agent } },
      [limit],
    ),
  usage: (project: string) => step(`usage ${project}`, 'getUsage', { query: { project } }),
  usageByDay: () => step('usage --by day', 'getUsage', { query: { by: 'day' } }),
  follow: (project: string, agent: string, turn: number) =>
    step(`logs ${project} ${agent} --follow`, 'followTurn', { project, turn: `${agent}:${turn}` }),
  turns: (project: string) => step(`turns ${project}`, 'listTurns', { project }),
  showTurn: (project: string, agent: string, turn: number) =>
    step(`turns show ${project} ${agent}:${turn}`, 'getTurn', { project, turn: `${agent}:${turn}` }),
  watch: (project: string) => step(`watch ${project}`, 'streamEvents', { project }),
  undelivered: (project: string, agent: string) =>
    step(`inbox ${project} ${agent} --undelivered`, 'listInbox', { project, query: { agent, undelivered: 'true' } }),
  readMessage: (project: string, message: number) =>
    step(`messages show ${project} ${message}`, 'getMessage', { project, message: String(message) }),
  send: (project: string, agent: string) =>
    step(`send ${project} ${agent} P1 "…"`, 'sendMessage', { project, body: { recipient: agent, priority: 'P1' } }, [
      'body',
    ]),
  workers: () => step('workers', 'listWorkers', {}),
  tokenForHandler: (project: string, agent: string) =>
    step(
      `tokens create NAME --scope handler --project ${project} --agents ${agent}`,
      'createToken',
      { body: { scope: 'handler', project, agents: [agent] } },
      ['name'],
    ),
};
