import type { Command } from 'commander';
import { isSuzumioError, type SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { UsageError } from '../usage-error.js';
import type { AgentView } from '@suzumio/contract/model/agent';
import { findReads, requireApi } from '../reach/reach.js';
import { count } from '../render/format.js';
import { agentTable } from '../render/tables.js';
import { say, sayHint, sayJson, sayNext, type Session } from '../session.js';
import type { Register } from './action.js';
import { confirm } from './confirm.js';
import { examples } from './help.js';
import { sayRows } from './list.js';
import { repeatWarning } from './repeat-warning.js';
import { tell } from './tell.js';

/** Agents: who they are, and what an operator does to one. */
export const registerAgents: Register = (program, action) => {
  const group: Command = examples(
    program.command('agents <project>').description('list the agents of a project, or act on one'),
    ['agents newsroom', 'who there is, and what each is at'],
    ['agents retry newsroom checker', 'try its failed turn again'],
  ).action(action(list));
  const retries = (parent: Command) =>
    examples(
      parent
        .command('retry <project> [agent]')
        .description('try the failed or cancelled turn of an agent again, from where it stopped')
        .option('--failed', 'of every agent that has failed', false),
      [`${parent === group ? 'agents ' : ''}retry newsroom checker`],
      [`${parent === group ? 'agents ' : ''}retry newsroom --failed`, 'of all that have failed'],
    ).action(action(retry));
  retries(group);
  retries(program);
  examples(
    group
      .command('reset <project> <agent>')
      .description('give up the failed turn of an agent; it is quiet then')
      .option('--redeliver', 'make its undelivered mail unread again: a new turn may repeat what was done', false)
      .option('--yes', 'do not ask', false),
    ['agents reset newsroom checker', 'its mail stays undelivered'],
    ['agents reset newsroom checker --redeliver', 'a new turn reads it again'],
  ).action(action(reset));
  examples(
    group
      .command('stop <project> <agent>')
      .description('keep an agent from starting turns; its mail waits')
      .option('--now', 'cancel the turn that it is at', false),
    ['agents stop newsroom checker', 'a turn that runs goes to its end'],
    ['agents stop newsroom checker --now'],
  ).action(action(stop));
  examples(group.command('start <project> <agent>').description('let a stopped agent start turns again'), [
    'agents start newsroom checker',
  ]).action(action(start));
};

async function list(session: Session, project: string): Promise<undefined> {
  const { agents } = await (await findReads(session)).getProject({ project });
  sayRows(session, agents, `${project} has no agents.`, agentTable);
  sayHint(session, `status ${project}`);
}

async function retry(
  session: Session,
  project: string,
  agent: string | undefined,
  { failed }: { failed: boolean },
): Promise<undefined> {
  if ((agent === undefined) !== failed) {
    throw new UsageError('Name one agent, or say --failed for all that have failed.', `agents ${project}`);
  }
  const api = await requireApi(session);
  if (agent !== undefined) {
    const answer = await api.retryAgent({ project, agent });
    tell(session, answer, [`Turn ${answer.number} of ${agent} is queued again.`], `watch ${project}`);
    return;
  }
  const { agents } = await api.getProject({ project });
  const answers = [];
  let refusal: SuzumioError | undefined;
  for (const { id } of agents.filter(({ state }) => state === 'failed')) {
    try {
      const answer = await api.retryAgent({ project, agent: id });
      answers.push({ agent: id, ...answer });
      say(session, `Turn ${answer.number} of ${id} is queued again.`);
    } catch (error) {
      // One that cannot be retried keeps no other from it.
      if (!isSuzumioError(error, 'agent-state-refused')) throw error;
      refusal ??= error;
    }
  }
  sayJson(session, answers);
  if (refusal) throw refusal;
  if (answers.length === 0) say(session, `No agent of ${project} has failed.`);
  sayNext(session, answers.length === 0 ? `status ${project}` : `watch ${project}`);
}

async function reset(
  session: Session,
  project: string,
  agent: string,
  { redeliver, yes }: { redeliver: boolean; yes: boolean },
): Promise<undefined> {
  const api = await requireApi(session);
  if (redeliver) {
    const { items: mail } = await api.listInbox({ project, query: { limit: 1000, agent, undelivered: 'true' } });
    const what = await repeatWarning(api, project, mail, agent);
    if (what !== undefined)
      await confirm(session, what, { yes, command: `agents reset ${project} ${agent} --redeliver` });
  }
  const answer = await api.resetAgent({ project, agent, body: { redeliver } });
  const mail = count(answer.redelivered.length, 'message');
  const rest = answer.agent.undelivered;
  if (redeliver) tell(session, answer, [`${agent} is reset; ${mail} unread again.`], `watch ${project}`);
  else if (rest === 0) tell(session, answer, [`${agent} is reset.`], `status ${project}`);
  else {
    const left = `${agent} is reset; ${count(rest, 'message')} that it has read stay${rest === 1 ? 's' : ''} undelivered.`;
    tell(session, answer, [left], `inbox ${project} ${agent} --undelivered`);
  }
}

async function stop(session: Session, project: string, agent: string, { now }: { now: boolean }): Promise<undefined> {
  const answer = await (await requireApi(session)).stopAgent({ project, agent, body: { now } });
  tell(session, answer, [stopped(answer.agent)], `agents start ${project} ${agent}`, `inbox ${project} ${agent}`);
}

function stopped({ id, activeTurn, stopping }: AgentView): string {
  if (stopping && activeTurn)
    return `${id} stops when turn ${activeTurn.number} has ended. Its mail waits from then on.`;
  return `${id} is stopped. Its mail waits.`;
}

async function start(session: Session, project: string, agent: string): Promise<undefined> {
  const answer = await (await requireApi(session)).startAgent({ project, agent });
  const { unread } = answer.agent;
  const mail = unread === 0 ? '' : ` ${count(unread, 'message')} wait${unread === 1 ? 's' : ''} for it.`;
  tell(session, answer, [`${agent} wakes on mail again.${mail}`], `watch ${project}`);
}
