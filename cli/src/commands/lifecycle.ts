import { type Command, Option } from 'commander';
import type { Priority } from '@suzumio/shared/protocol/ids';
import { requireApi } from '../reach/reach.js';
import { count } from '../render/format.js';
import { sayJson, say, sayNext, type Session } from '../session.js';
import type { Register } from './action.js';
import { parsePriority } from './arguments.js';

export const registerLifecycle: Register = (program, action) => {
  program.command('start <project>').description('let a project run: its agents wake on mail').action(action(start));
  program
    .command('send')
    .description('send mail to an agent, by id or name, or to a #channel')
    .argument('<project>')
    .argument('<recipient>', 'an agent, or a channel such as "#newsroom"')
    .argument('<priority>', 'P0 (first) to P3', parsePriority)
    .argument('<message...>')
    .action(action(send));
  program
    .command('stop <project>')
    .description('start no more turns; those that run go to their end')
    .addOption(new Option('--now', 'cancel turns that run'))
    .action(action(stop));
  program.command('approve <project>').description('accept the submitted report').action(action(approve));
  program
    .command('request-changes <project> <recipient> <text...>')
    .description('send the report back, with a message that says what to change')
    .action(action(requestChanges));
  agents(program, action);
};

const agents: Register = (program, action) => {
  const group: Command = program.command('agents').description('act on single agents');
  group
    .command('retry <project> <agent>')
    .description('try the failed turn of an agent again, from where it stopped')
    .action(action(retry));
};

async function start(session: Session, project: string): Promise<undefined> {
  const api = await requireApi(session);
  const answer = await api.start(project);
  const { agents } = await api.detail(project);
  const next = answer.project.messages > 0 ? `watch ${project}` : `send ${project} ${agents[0]?.id ?? 'AGENT'} P1 "…"`;
  tell(session, answer, [`${project} is running.`], next);
}

async function send(
  session: Session,
  project: string,
  to: string,
  priority: Priority,
  words: string[],
): Promise<undefined> {
  const api = await requireApi(session);
  const address = to.startsWith('#') ? { channel: to } : { recipient: to };
  const message = await api.send(project, { ...address, priority, body: words.join(' ') });
  const { status } = (await api.detail(project)).project;
  const unread = message.recipients.length === 0 ? '' : `, unread by ${message.recipients.join(', ')}`;
  const sent = `Sent to ${to} as ${message.id}${unread}.`;
  if (status === 'running') tell(session, message, [sent], `watch ${project}`);
  else {
    const next = status === 'initialized' || status === 'stopped' ? `start ${project}` : `status ${project}`;
    tell(session, message, [sent, `${project} is ${status}: mail waits until it runs.`], next);
  }
}

async function stop(session: Session, project: string, options: { now?: boolean }): Promise<undefined> {
  const answer = await (await requireApi(session)).stop(project, options.now ?? false);
  const { active } = answer.project.turns;
  const rest = active === 0 ? '' : `; ${count(active, 'turn')} will go to the end`;
  tell(session, answer, [`${project} is stopped${rest}. Mail is kept.`], `start ${project}`);
}

async function approve(session: Session, project: string): Promise<undefined> {
  const answer = await (await requireApi(session)).approve(project);
  const version = answer.project.reportVersion ?? 1;
  tell(
    session,
    answer,
    [`${project} is completed: version ${version} of the report is approved.`],
    `report ${project}`,
  );
}

async function requestChanges(
  session: Session,
  project: string,
  recipient: string,
  words: string[],
): Promise<undefined> {
  const answer = await (await requireApi(session)).requestChanges(project, recipient, words.join(' '));
  const sent = `Sent to ${recipient} as ${answer.message.id}; ${project} is running again.`;
  tell(session, answer, [sent], `watch ${project}`);
}

async function retry(session: Session, project: string, agent: string): Promise<undefined> {
  const answer = await (await requireApi(session)).retryAgent(project, agent);
  tell(session, answer, [`Turn ${answer.number} of ${agent} is queued again.`], `watch ${project}`);
}

/** Says what was done: the server's answer to a program; to a person a sentence, and what comes next. */
function tell(session: Session, answer: unknown, lines: string[], next: string): void {
  sayJson(session, answer);
  say(session, ...lines);
  sayNext(session, next);
}
