import { some } from '../../parts/numbers.js';
import { visible } from '../../parts/visible.js';
import type { Marked } from './editor.js';
import type { Filed } from './would-be.js';

/** How many problems there are, and the first. */
export function toMend(problems: readonly Marked[]): string {
  const [first] = problems;
  return first === undefined
    ? ''
    : `${some(problems.length, 'problem')} to mend first. ${first.line}:${first.column} ${visible(first.message.slice(0, 300))}`;
}

export function nameIn(agents: Filed['agents'], recipient: string): string {
  return visible(agents.find(({ id }) => id === recipient)?.displayName ?? recipient);
}

/** What pressing the button does. */
export function whatFollows(project: Filed | undefined, recipient: string | undefined): string {
  const made = project ? `Makes ${project.name} with ${some(project.agentCount, 'agent')}` : 'Makes the project';
  const mail =
    recipient === undefined
      ? ' and starts it. Its agents wait for mail.'
      : `, starts it, and sends your mail${recipient === '' ? '' : ` to ${recipient}`}.`;
  return made + mail;
}
