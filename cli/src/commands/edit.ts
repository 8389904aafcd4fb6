import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { Command } from 'commander';
import { say, type Session } from '../session.js';
import { parseVersion } from './arguments.js';

/** A command that changes what others may change at the same time. */
export function withBase(command: Command): Command {
  return command.option(
    '--base <n>',
    'the version that was read: nothing is changed where another is the newest',
    parseVersion,
  );
}

/** Changes something; where another was faster, shows what is there now. */
export async function edited<Answer>(
  session: Session,
  change: Promise<Answer>,
  now: () => Promise<readonly string[]>,
): Promise<Answer> {
  try {
    return await change;
  } catch (error) {
    if (isSuzumioError(error, 'edit-conflict')) say(session, 'It is this by now:', '', ...(await now()), '');
    throw error;
  }
}
