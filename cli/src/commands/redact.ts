import type { Command } from 'commander';
import type { RedactedAnswer } from '@suzumio/contract/operations/messages';
import { requireApi } from '../reach/reach.js';
import type { Session } from '../session.js';
import type { Action } from './action.js';
import { confirm } from './confirm.js';
import { examples } from './help.js';
import { tell } from './tell.js';

interface RedactOptions {
  because?: string;
  yes: boolean;
}

export function registerRedactMessage(mail: Command, action: Action): void {
  examples(
    mail
      .command('redact <project> <message>')
      .description('remove the text of a message, and its copies in what the project has recorded')
      .option('--because <text>', 'why, in a few words that are kept')
      .option('--yes', 'do not ask', false),
    ['messages redact newsroom 12', 'says what will be lost, and asks'],
    ['messages redact newsroom 12 --because "It held a password." --yes'],
  ).action(action(redactMessage));
}

async function redactMessage(
  session: Session,
  project: string,
  name: string,
  { because, yes }: RedactOptions,
): Promise<undefined> {
  const api = await requireApi(session);
  const { id, seq, sender } = await api.message(project, name);
  const warning = `The text of message ${seq} from ${sender} cannot be had back, nor its copies. ${known}`;
  await confirm(session, warning, { yes, command: `messages redact ${project} ${seq}` });
  const answer = await api.redactMessage({ project, message: id, body: { because } });
  tellRedacted(session, answer, `Message ${seq}`, `messages show ${project} ${seq}`);
}

const known = 'Who knows it by now begins its turn anew; files of workspaces and backups keep what they have.';

function tellRedacted(session: Session, answer: RedactedAnswer, what: string, next: string): void {
  const { redacted, left } = answer;
  tell(
    session,
    answer,
    [`${what} was redacted by ${redacted.by} at ${redacted.at}.`, ...left.map(({ detail }) => detail)],
    next,
  );
}
