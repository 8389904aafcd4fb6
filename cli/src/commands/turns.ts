import { allItems } from '@suzumio/contract/client/all-items';
import { type TurnStatus, turnStatuses } from '@suzumio/contract/model/states';
import { type Command, Option } from 'commander';
import { type ToolCallView, toolCallView } from '@suzumio/contract/model/tool-call';
import { findReads, requireApi } from '../reach/reach.js';
import { toolCallTable, turnTable } from '../render/tables.js';
import { renderConversation } from '../render/conversation.js';
import { renderTurn } from '../render/turn.js';
import { sayHint, sayJson, say, type Session } from '../session.js';
import type { Register } from './action.js';
import { day, wholeNumber } from './arguments.js';
import { examples } from './help.js';
import { type OrderOptions, sayList, type TimeOptions, timesOf, withOrder, withTimes } from './list.js';
import { tell } from './tell.js';

const toolCallStatuses = toolCallView.shape.status.options;

/** Turns: what they did, what they printed, and how to end one. */
export const registerTurns: Register = (program, action) => {
  const turns: Command = examples(
    withOrder(
      withTimes(
        program
          .command('turns <project>')
          .description('list turns, or show one')
          .option('--agent <agent>', 'only those of one agent')
          .addOption(new Option('--status <status>', 'only those that are so').choices(turnStatuses))
          .option('--asked-on <day>', 'only those whose calls of models ended on this day of UTC', day)
          .option('--model <model>', 'only those that called this model'),
      ),
    ),
    ['turns newsroom', 'the newest, and how they ended'],
    ['turns newsroom --agent checker --status failed --since 12h', 'what went wrong lately'],
    ['turns show newsroom editor:1', 'all of one'],
  ).action(action(list));
  examples(
    turns
      .command('show <project> <turn>')
      .description('show everything about one turn, by its id or as AGENT:NUMBER')
      .option('--conversation', 'what its model was told and answered, question by question', false),
    ['turns show newsroom editor:1', 'its prompt, attempts, tool calls and text'],
    ['turns show newsroom editor:1 --conversation', 'as its model saw it'],
  ).action(action(show));
  examples(
    withOrder(
      withTimes(
        program
          .command('tool-calls <project>')
          .description('list what turns did with their tools')
          .option('--turn <turn>', 'only those of one turn, named by its id or as AGENT:NUMBER')
          .option('--agent <agent>', 'only those of one agent')
          .option('--tool <tool>', 'only those of one tool')
          .addOption(new Option('--status <status>', 'only those of which this became').choices(toolCallStatuses)),
      ),
    ),
    ['tool-calls newsroom --limit 20'],
    ['tool-calls newsroom --turn editor:1', 'of one turn'],
    ['tool-calls newsroom --status refused --since 1d', 'what agents were refused'],
  ).action(action(toolCalls));
  examples(
    program
      .command('logs <project> <agent-or-turn>')
      .description('print what a container printed: that of the newest turn of an agent, or of a turn')
      .option('--attempt <n>', 'an earlier attempt of the turn', wholeNumber(1, 1_000_000))
      .option('-f, --follow', 'go on with what comes, until Ctrl-C or the end of the turn', false),
    ['logs newsroom checker', 'its newest turn'],
    ['logs newsroom checker:1 --attempt 1'],
    ['logs newsroom checker --follow', 'every turn, while it runs'],
  ).action(
    action(async (session: Session, ...args: [string, string, { attempt?: number; follow: boolean }]) =>
      (await import('../logs.js')).logs(session, ...args),
    ),
  );
  examples(
    program
      .command('cancel <project> <turn>')
      .description('cancel a turn that is queued or running, named by its id or as AGENT:NUMBER'),
    ['cancel newsroom editor:3'],
  ).action(action(cancel));
};

interface TurnsOptions extends OrderOptions, TimeOptions {
  agent?: string;
  status?: TurnStatus;
  askedOn?: string;
  model?: string;
}

async function list(session: Session, project: string, options: TurnsOptions): Promise<undefined> {
  const { agent, status, askedOn, model } = options;
  const filters = { ...timesOf(session, options), agent, status, askedOn, model };
  const api = await findReads(session);
  const listing = { project, of: 'turns', filters, toTable: turnTable };
  const last = await sayList(session, options, listing, (page) =>
    api.listTurns({ project, query: { ...page, ...filters } }),
  );
  if (last) sayHint(session, `turns show ${project} ${last.agent}:${last.number}`);
}

async function show(
  session: Session,
  project: string,
  name: string,
  { conversation }: { conversation: boolean },
): Promise<undefined> {
  const api = await findReads(session);
  const turn = await api.getTurn({ project, turn: name });
  if (conversation) {
    const entries = await allItems(
      (after) => api.getTurnConversation({ project, turn: turn.id, query: { limit: 1000, after } }),
      0,
    );
    sayJson(session, entries);
    const none = [`Turn ${turn.number} of ${turn.agent} has not begun: nothing was asked yet.`];
    say(session, ...(entries.length === 0 ? none : renderConversation(turn, entries)));
    sayHint(session, `turns show ${project} ${turn.agent}:${turn.number}`);
    return;
  }
  sayJson(session, turn);
  say(session, ...renderTurn(turn, session.context));
  if (session.context.out.isTerminal) say(session, '');
  sayHint(
    session,
    `logs ${project} ${turn.agent}:${turn.number}`,
    `tool-calls ${project} --turn ${turn.agent}:${turn.number}`,
    ...(turn.files === null ? [] : [`workspace diff ${project} ${turn.agent} ${turn.number}`]),
    ...(turn.modelCalls.length === 0 ? [] : [`turns show ${project} ${turn.agent}:${turn.number} --conversation`]),
    `open ${project} --at turns/${turn.agent}:${turn.number}`,
  );
}

interface ToolCallsOptions extends OrderOptions, TimeOptions {
  turn?: string;
  agent?: string;
  tool?: string;
  status?: ToolCallView['status'];
}

async function toolCalls(session: Session, project: string, options: ToolCallsOptions): Promise<undefined> {
  const { turn, agent, tool, status } = options;
  const filters = { ...timesOf(session, options), turn, agent, tool, status };
  const api = await findReads(session);
  const listing = { project, of: 'tool calls', filters, toTable: toolCallTable };
  const last = await sayList(session, options, listing, (page) =>
    api.listToolCalls({ project, query: { ...page, ...filters } }),
  );
  if (last) sayHint(session, `turns show ${project} ${last.agent}:${last.turnNumber}`);
}

async function cancel(session: Session, project: string, name: string): Promise<undefined> {
  const api = await requireApi(session);
  const answer = await api.cancelTurn({ project, turn: name });
  const { attempt, reads } = await api.getTurn({ project, turn: answer.turn });
  const { agent, number } = answer;
  const done = `Turn ${number} of ${agent} is cancelled.`;
  if (attempt === 0) {
    const left = `${done} Nobody had begun it, so its mail is unread and starts the next one.`;
    tell(session, answer, [left], `agents stop ${project} ${agent}`, `status ${project}`);
    return;
  }
  const mail = reads.length === 0 ? '' : ' Its mail is kept as undelivered.';
  tell(
    session,
    answer,
    [`${done}${mail}`],
    `agents retry ${project} ${agent}`,
    `inbox ${project} ${agent} --undelivered`,
  );
}
