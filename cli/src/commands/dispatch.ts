import { type TaskState, taskStates } from '@suzumio/contract/model/task-states';
import type { Priority } from '@suzumio/protocol/ids';
import { type Command, Option } from 'commander';
import type { ApiClient } from '../reach/api-client.js';
import { findReads, requireApi } from '../reach/reach.js';
import { count } from '../render/format.js';
import { taskTable } from '../render/tables.js';
import { sayHint, type Session } from '../session.js';
import type { Register } from './action.js';
import { collected, parsePriority } from './arguments.js';
import { examples } from './help.js';
import { type OrderOptions, sayList, withOrder, withSearch } from './list.js';
import { mailWaits } from './mail-waits.js';
import { tell } from './tell.js';

/** Mail that finds its own way: answers, announcements, work for a role. */
export const registerDispatch: Register = (program, action) => {
  const asMail = (command: Command) =>
    command
      .option('--priority <priority>', 'P0 (first) to P3', parsePriority, 'P1')
      .option('--attach <artifact>', 'an artifact for the reader, by its id or name; may be given again', collected);
  examples(
    asMail(
      program
        .command('reply')
        .description('answer a message, named by its number or id, in its thread')
        .argument('<project>')
        .argument('<message>')
        .argument('<text...>')
        .option('--to <recipient>', 'an agent or a #channel, where not to who wrote it'),
    ),
    ['reply newsroom 12 "Yes, both gauges, please."'],
    ['reply newsroom 12 --to "#newsroom" For all: both gauges', 'to others than who wrote it'],
  ).action(action(reply));
  examples(
    asMail(
      program
        .command('broadcast')
        .description('send one message to all agents, or to those of a team')
        .argument('<project>')
        .argument('<text...>')
        .option('--team <team>', 'only to those of one team'),
    ),
    ['broadcast newsroom "The south gauge is broken."'],
    ['broadcast newsroom --team reporters Please keep it short'],
  ).action(action(broadcast));
  examples(
    asMail(
      program
        .command('assign')
        .description('give work to an agent that has a role: to the one with least to do')
        .argument('<project>')
        .argument('<role>')
        .argument('<text...>')
        .option('--team <team>', 'only to one of a team'),
    ),
    ['assign newsroom reporter "The north gauge, please."'],
    ['assign newsroom "fact checker" --team desk Compare every figure'],
  ).action(action(assign));
  examples(
    withOrder(
      withSearch(
        program
          .command('tasks <project>')
          .description('list work that was assigned, and how it stands')
          .addOption(new Option('--state <state>', 'only what stands like this').choices(taskStates))
          .option('--agent <agent>', 'only what one agent was assigned')
          .option('--role <role>', 'only what was assigned to a role')
          .option('--team <team>', 'only what was assigned to a team')
          .option('--by <who>', 'only what an agent or user has assigned'),
      ),
    ),
    ['tasks newsroom'],
    ['tasks newsroom --state open --agent checker', 'what one agent has yet to begin'],
    ['tasks newsroom --search "south gauge" --newest'],
  ).action(action(tasks));
};

interface MailOptions {
  priority: Priority;
  attach?: string[];
}

const mailOf = (words: readonly string[], { priority, attach }: MailOptions) => ({
  priority,
  body: words.join(' '),
  ...(attach ? { attachments: attach } : {}),
});

async function reply(
  session: Session,
  project: string,
  message: string,
  words: string[],
  options: MailOptions & { to?: string },
): Promise<undefined> {
  const { to } = options;
  const api = await requireApi(session);
  const address = to === undefined ? {} : to.startsWith('#') ? { channel: to } : { recipient: to };
  const answer = await api.replyToMessage({ project, body: { message, ...address, ...mailOf(words, options) } });
  const said = `Answered to ${answer.to} as message ${answer.seq}${unreadBy(answer)}.`;
  await tellOfMail(session, api, project, answer, said, `thread ${project} ${answer.seq}`);
}

async function broadcast(
  session: Session,
  project: string,
  words: string[],
  options: MailOptions & { team?: string },
): Promise<undefined> {
  const { team } = options;
  const api = await requireApi(session);
  const answer = await api.broadcast({ project, body: { team, ...mailOf(words, options) } });
  const said = `Sent to ${count(answer.recipients.length, 'agent')} as message ${answer.seq}${unreadBy(answer)}.`;
  await tellOfMail(session, api, project, answer, said, `messages show ${project} ${answer.seq}`);
}

async function assign(
  session: Session,
  project: string,
  role: string,
  words: string[],
  options: MailOptions & { team?: string },
): Promise<undefined> {
  const { team } = options;
  const api = await requireApi(session);
  const answer = await api.assignTask({ project, body: { role, team, ...mailOf(words, options) } });
  const said = `Assigned to ${answer.assignee} as message ${answer.seq}.`;
  await tellOfMail(session, api, project, answer, said, `tasks ${project}`, `thread ${project} ${answer.seq}`);
}

function unreadBy({ recipients }: { recipients: readonly string[] }): string {
  return recipients.length === 0 ? '' : `, unread by ${recipients.join(', ')}`;
}

/** What was sent, and what comes of it: nothing yet where the project does not run. */
async function tellOfMail(
  session: Session,
  api: ApiClient,
  project: string,
  answer: unknown,
  said: string,
  ...next: readonly string[]
): Promise<void> {
  const view = (await api.getProject({ project })).project;
  if (view.status === 'running') tell(session, answer, [said], ...next);
  else {
    const waits = mailWaits(view);
    tell(session, answer, [said, waits.said], waits.next);
  }
}

interface TaskOptions extends OrderOptions {
  state?: TaskState;
  agent?: string;
  role?: string;
  team?: string;
  by?: string;
  search?: string;
}

async function tasks(session: Session, project: string, options: TaskOptions): Promise<undefined> {
  const { agent: assignee, by: assigner, state, role, team, search } = options;
  const filters = { assignee, assigner, state, role, team, search };
  const api = await findReads(session);
  const listing = { project, of: 'tasks', filters, toTable: taskTable };
  const last = await sayList(session, options, listing, (page) =>
    api.listTasks({ project, query: { ...page, ...filters } }),
  );
  sayHint(session, last ? `thread ${project} ${last.seq}` : `assign ${project} ROLE "…"`);
}
