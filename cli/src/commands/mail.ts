import type { Client } from '@suzumio/contract/client/client';
import { type Command, Option } from 'commander';
import { atWork } from '@suzumio/contract/model/busy-agent';
import { SYSTEM_ID, USER_ID } from '@suzumio/contract/model/project-config';
import type { MessageView } from '@suzumio/contract/model/message';
import { priority, type Priority } from '@suzumio/protocol/ids';
import type { ExitCode } from '../exit-codes.js';
import { findReads, requireApi } from '../reach/reach.js';
import { timeOfDay } from '../render/format.js';
import { renderMessage, renderThread } from '../render/message.js';
import { inboxTable, messageTable, threadTable, type WaitingMail } from '../render/tables.js';
import { sayHint, sayJson, say, sayNext, type Session } from '../session.js';
import { UsageError } from '../usage-error.js';
import type { Register } from './action.js';
import { collected, messageOfWords, timeSpan, withMessage } from './arguments.js';
import { awaitReply } from './await-reply.js';
import { registerDispatch } from './dispatch.js';
import { examples } from './help.js';
import {
  type LimitOptions,
  newestOf,
  type OrderOptions,
  sayList,
  type TimeOptions,
  timesOf,
  withLimit,
  withOrder,
  withSearch,
  withTimes,
} from './list.js';
import { registerRedactMessage } from './redact.js';
import { registerRedeliver } from './redeliver.js';
import { mailWaits } from './mail-waits.js';
import { ownDecided, ownInbox } from './own-inbox.js';
import { tell } from './tell.js';

const messageStates = ['unread', 'read', 'undelivered'] as const;

/** Mail: send it, list it, see what waits. */
export const registerMail: Register = (program, action) => {
  examples(
    withMessage(
      program
        .command('send')
        .description('send mail to an agent, by id or name, or to a #channel')
        .argument('<project>')
        .argument('<recipient>', 'an agent, or a channel such as "#newsroom"'),
    )
      .option('--attach <artifact>', 'an artifact for the reader, by its id or name; may be given again', collected)
      .option('--wait', 'wait for the first reply and print only that')
      .option('--timeout <duration>', 'how long to wait for it, 10m unless told', timeSpan),
    ['send newsroom editor P1 "Tonight\'s bulletin, please."'],
    ['send newsroom "#newsroom" P2 Please keep it short', 'to all of a channel'],
    ['send newsroom checker P1 "These, please." --attach draft.md', 'with what has been published'],
    ['send newsroom checker P1 "Is it true?" --wait --timeout 5m', 'prints the reply; exit code 3: none is expected'],
  ).action(action(send));
  const mail: Command = examples(
    withOrder(
      withTimes(
        withSearch(
          program
            .command('messages <project>')
            .description('list mail, find some, or show one message')
            .option('--from <who>', 'only what an agent, user or system has sent')
            .option('--to <who>', 'only what went to an agent, to user, or to a "#channel" or "@team"')
            .addOption(new Option('--priority <priority>', 'only what is so urgent').choices(priority.options))
            .addOption(new Option('--state <state>', 'only what stands like this').choices(messageStates)),
        ),
      ),
    ),
    ['messages newsroom --limit 10'],
    ['messages newsroom --from checker --to user --since 1d --newest', 'what it has told you lately'],
    ['messages newsroom --search "gauge reading*"', 'with the place where it says so'],
    ["messages newsroom --json | jq -r '.[].body'", 'the whole text of each'],
    ['messages show newsroom 12', 'who has read it, and what became of that'],
  ).action(action(messages));
  examples(
    mail
      .command('show <project> <message>')
      .description('show one message, by its number or id, and what became of it with each that it went to'),
    ['messages show newsroom 12'],
  ).action(action(show));
  registerRedactMessage(mail, action);
  examples(withOrder(program.command('threads <project>').description('list threads, by their last messages')), [
    'threads newsroom',
    'what is talked about, and where somebody has still to read',
  ]).action(action(threads));
  examples(
    withLimit(
      program
        .command('thread <project> <message-or-thread>')
        .description('show a thread, named by its id or by any message in it'),
    ),
    ['thread newsroom 12', 'the whole conversation that message 12 is part of'],
  ).action(action(thread));
  examples(
    withLimit(
      program
        .command('inbox [project] [agent]')
        .description('list mail that waits for agents, or what waits for you')
        .option('--undelivered', 'mail that was read by a turn which failed or was cancelled', false)
        .option(
          '--mine',
          'what waits for you in this or every project: reports, failures, pauses, budgets, mail',
          false,
        )
        .option('--all', 'with --mine: what you have marked as read, too', false)
        .option('--read', 'with --mine: mark what is shown as read', false)
        .option('--decided', 'with --mine: what people have decided, the newest first', false),
    ),
    ['inbox --mine', 'what waits for you, in every project'],
    ['inbox --mine --decided --limit 10', 'who approved, retried or raised what lately'],
    ['inbox newsroom', 'the unread mail of all agents'],
    ['inbox newsroom checker --undelivered', 'what a failed turn has left behind'],
  ).action(action(inbox));
  registerDispatch(program, action);
  registerRedeliver(program, action);
};

interface SendOptions {
  attach?: string[];
  wait?: boolean;
  timeout?: number;
}

const usualWaitMs = 600_000;

async function send(
  session: Session,
  project: string,
  to: string,
  priority: Priority,
  words: string[],
  { attach, wait = false, timeout }: SendOptions,
): Promise<ExitCode | undefined> {
  if (timeout !== undefined && !wait) throw new UsageError('--timeout is for --wait.', 'send --help');
  const body = messageOfWords(words, 'send');
  const api = await requireApi(session);
  const address = to.startsWith('#') ? { channel: to } : { recipient: to };
  const message = await api.sendMessage({
    project,
    body: { ...address, priority, body, attachments: attach },
  });
  if (wait) return awaitReply(session, api, { project, message: message.id, timeoutMs: timeout ?? usualWaitMs });
  const view = (await api.getProject({ project })).project;
  const unread = message.recipients.length === 0 ? '' : `, unread by ${message.recipients.join(', ')}`;
  const sent = `Sent to ${to} as ${message.id}${unread}.`;
  if (view.status === 'running') {
    const [first] = message.busy;
    const busy = atWork(message.busy, (iso) => timeOfDay(iso, session.context));
    const cancel = first && `cancel ${project} ${first.agent}:${first.turn}`;
    const ends =
      cancel === undefined
        ? []
        : ['Cancelling that turn ends it now; its own mail is then undelivered, and this mail stays unread.'];
    tell(session, message, [sent, ...busy, ...ends], `watch ${project}`, ...(cancel === undefined ? [] : [cancel]));
  } else {
    const { said, next } = mailWaits(view);
    tell(session, message, [sent, said], next);
  }
  return undefined;
}

async function show(session: Session, project: string, name: string): Promise<undefined> {
  const api = await findReads(session);
  const message = await api.getMessage({ project, message: name });
  sayJson(session, message);
  if (session.json) return;
  const parent = message.replyTo === null ? undefined : await api.getMessage({ project, message: message.replyTo });
  say(session, ...renderMessage(message, parent, session.context));
  if (session.context.out.isTerminal) say(session, '');
  const left = message.recipients.some(({ undelivered }) => undelivered);
  sayHint(
    session,
    ...replyTo(project, message),
    `thread ${project} ${message.seq}`,
    ...(left ? [`redeliver ${project} ${message.seq}`] : []),
  );
}

/** The suggested reply command; undefined where a reply would not be read. */
function replyTo(project: string, { seq, sender }: MessageView): string[] {
  return sender === USER_ID || sender === SYSTEM_ID ? [] : [`reply ${project} ${seq} "…"`];
}

async function threads(session: Session, project: string, options: OrderOptions): Promise<undefined> {
  const api = await findReads(session);
  const listing = { project, of: 'threads', filters: {}, toTable: threadTable };
  const last = await sayList(session, options, listing, (query) => api.listThreads({ project, query }));
  sayHint(session, last ? `thread ${project} ${last.seq}` : `inbox ${project}`);
}

async function thread(session: Session, project: string, name: string, { limit }: LimitOptions): Promise<undefined> {
  const api = await findReads(session);
  const messages = await newestOf(session, limit, (query) => api.listThread({ project, thread: name, query }));
  sayJson(session, messages);
  say(session, ...renderThread(messages, session.context));
  if (session.context.out.isTerminal) say(session, '');
  const last = messages.at(-1);
  if (last) sayHint(session, `messages show ${project} ${last.seq}`, ...replyTo(project, last));
}

interface MessagesOptions extends OrderOptions, TimeOptions {
  from?: string;
  to?: string;
  priority?: Priority;
  state?: (typeof messageStates)[number];
  search?: string;
}

async function messages(session: Session, project: string, options: MessagesOptions): Promise<undefined> {
  const { from, to, priority, state, search } = options;
  const address = to !== undefined && /^[#@]/.test(to) ? { channel: to } : { recipient: to };
  const filters = { ...timesOf(session, options), ...address, sender: from, priority, state, search };
  const api = await findReads(session);
  const listing = { project, of: 'messages', filters, toTable: messageTable };
  const last = await sayList(session, options, listing, (page) =>
    api.listMessages({ project, query: { ...page, ...filters } }),
  );
  sayHint(session, ...(last ? [`messages show ${project} ${last.seq}`] : []), `inbox ${project}`);
}

interface InboxOptions extends LimitOptions {
  undelivered: boolean;
  mine: boolean;
  all: boolean;
  read: boolean;
  decided: boolean;
}

async function inbox(
  session: Session,
  project: string | undefined,
  agent: string | undefined,
  { limit, undelivered, mine, all, read, decided }: InboxOptions,
): Promise<undefined> {
  if (mine) {
    if (agent !== undefined || undelivered) {
      throw new UsageError('--mine is about you: it goes with no agent and no --undelivered.', 'inbox --help');
    }
    if (decided && (all || read)) {
      throw new UsageError('--decided is about what is settled: it goes with no --all and no --read.', 'inbox --help');
    }
    return decided ? ownDecided(session, project, limit) : ownInbox(session, project, { limit, all, read });
  }
  if (all || read || decided) throw new UsageError('--all, --read and --decided are for --mine.', 'inbox --help');
  if (project === undefined) {
    throw new UsageError('Name a project, or ask with --mine for what waits for you in every one.', 'inbox --mine');
  }
  const api = await findReads(session);
  const which = { agent, undelivered: undelivered ? 'true' : 'false' } as const;
  const messages = await newestOf(session, limit, (page) => api.listInbox({ project, query: { ...page, ...which } }));
  sayJson(session, messages);
  const mail: WaitingMail[] = messages.flatMap((message) =>
    message.recipients
      .filter((one) => (undelivered ? one.undelivered : one.turn === null) && (agent ?? one.agent) === one.agent)
      .map((one) => ({ agent: one.agent, message, leftBy: one.turn ?? undefined })),
  );
  const whose = agent === undefined ? `${project} has` : `${agent} has`;
  if (mail.length === 0) {
    say(session, `${whose} no ${undelivered ? 'undelivered' : 'unread'} mail.`);
    sayHint(session, `status ${project}`);
    return;
  }
  const named = session.json ? mail : await nameTurns(api, project, mail);
  say(session, ...inboxTable(named.sort(inReadingOrder), session));
  if (!undelivered) {
    sayHint(session, `status ${project}`);
    return;
  }
  if (!session.context.out.isTerminal) return;
  say(session, '', 'A turn that is retried goes on where it stood; after a reset, a new turn may repeat what it did.');
  const [first] = named;
  if (!first) return;
  const { failure } = (await api.getProject({ project })).agents.find(({ id }) => id === first.agent) ?? {};
  sayNext(
    session,
    ...new Set([
      ...(failure ? [failure.next] : []),
      `agents reset ${project} ${first.agent} --redeliver`,
      `redeliver ${project} ${first.message.seq}`,
    ]),
  );
}

/** The turns that read the mail, as a person names them, with what became of them. */
async function nameTurns(api: Client, project: string, mail: readonly WaitingMail[]): Promise<WaitingMail[]> {
  const names = new Map<string, string>();
  for (const { leftBy } of mail) {
    if (leftBy === undefined || names.has(leftBy)) continue;
    const { agent, number, status } = await api.getTurn({ project, turn: leftBy });
    names.set(leftBy, `${agent}:${number}, ${status}`);
  }
  return mail.map((one) => ({ ...one, leftBy: one.leftBy === undefined ? undefined : names.get(one.leftBy) }));
}

/** Agent by agent, each in the order in which its next turn reads. `P0` sorts before `P3` as text. */
function inReadingOrder(a: WaitingMail, b: WaitingMail): number {
  if (a.agent !== b.agent) return a.agent < b.agent ? -1 : 1;
  if (a.message.priority !== b.message.priority) return a.message.priority < b.message.priority ? -1 : 1;
  return a.message.seq - b.message.seq;
}
