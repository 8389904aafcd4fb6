import { UsageError } from '../usage-error.js';
import type { Session } from '../session.js';

/**
 * Describes what cannot be undone and asks for confirmation. Without a terminal, an option of the command has to
 * confirm.
 *
 * @throws UsageError where the person does not agree
 */
export async function confirm(
  { context, json }: Session,
  warning: string,
  { yes, command }: { yes: boolean; command: string },
): Promise<void> {
  if (!json) context.err.write(`${warning}\n`);
  if (yes) return;
  if (context.ask === undefined || json)
    throw new UsageError('Nobody is there to be asked; nothing was changed.', `${command} --yes`);
  const answer = (await context.ask('Go on? [y/N] ')).trim().toLowerCase();
  if (answer !== 'y' && answer !== 'yes') throw new UsageError('Nothing was changed.');
}
