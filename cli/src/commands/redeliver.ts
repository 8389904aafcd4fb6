import type { Command } from 'commander';
import { requireApi } from '../reach/reach.js';
import type { Session } from '../session.js';
import type { Action } from './action.js';
import { confirm } from './confirm.js';
import { examples } from './help.js';
import { repeatWarning } from './repeat-warning.js';
import { tell } from './tell.js';

/** Puts back mail that a turn has left behind. */
export function registerRedeliver(program: Command, action: Action): void {
  examples(
    program
      .command('redeliver <project> <message>')
      .description('make an undelivered message unread again: a new turn may repeat what was done')
      .option('--agent <agent>', 'only for one of those that have it undelivered')
      .option('--yes', 'do not ask', false),
    ['redeliver newsroom 12', 'for everybody who has it undelivered'],
    ['redeliver newsroom 12 --agent checker'],
  ).action(action(redeliver));
}

async function redeliver(
  session: Session,
  project: string,
  name: string,
  { agent, yes }: { agent?: string; yes: boolean },
): Promise<undefined> {
  const api = await requireApi(session);
  const message = await api.getMessage({ project, message: name });
  const warning = await repeatWarning(api, project, [message], agent);
  const only = agent === undefined ? '' : ` --agent ${agent}`;
  if (warning !== undefined)
    await confirm(session, warning, { yes, command: `redeliver ${project} ${message.seq}${only}` });
  const answer = await api.redeliverMessage({ project, message: message.id, body: { agent } });
  const failed = (await api.getProject({ project })).agents.filter(
    ({ id, state }) => state === 'failed' && answer.agents.includes(id),
  );
  const done = `Message ${message.seq} is unread again, by ${answer.agents.join(' and ')}.`;
  const [first] = failed;
  if (first === undefined) tell(session, answer, [done], `watch ${project}`);
  else {
    const waits = failed.map(({ id }) => `${id} has failed: it reads no mail until it is reset.`);
    tell(session, answer, [done, ...waits], `agents reset ${project} ${first.id}`);
  }
}
