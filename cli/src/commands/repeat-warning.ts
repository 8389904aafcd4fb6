import type { MessageView } from '@suzumio/contract/model/message';
import type { TurnDetail } from '@suzumio/contract/model/turn';
import type { Client } from '@suzumio/contract/client/client';
import { count } from '../render/format.js';

/**
 * The warning before mail is delivered again: the effects of its turns may be repeated. Undefined where no mail is
 * undelivered.
 *
 * @param agent the recipient; without it, all recipients
 */
export async function repeatWarning(
  api: Client,
  project: string,
  mail: readonly Pick<MessageView, 'recipients'>[],
  agent?: string,
): Promise<string | undefined> {
  const left = mail
    .flatMap(({ recipients }) => recipients)
    .filter((one) => one.undelivered && (agent ?? one.agent) === one.agent);
  const turns = new Set(left.map(({ turn }) => turn));
  if (turns.size === 0) return undefined;
  const done: string[] = [];
  for (const turn of turns) done.push(...effectsOf(await api.getTurn({ project, turn: turn ?? '' })));
  const readers = [...new Set(left.map((one) => one.agent))];
  const whose = readers.length === 1 ? `A new turn of ${readers.join('')}` : `New turns of ${readers.join(' and ')}`;
  const again = `${whose} will read ${count(mail.length, 'message')} again.`;
  return done.length === 0
    ? `${again} Nothing was done for ${mail.length === 1 ? 'it' : 'them'} so far.`
    : `${again} Already done, and possibly repeated:\n${done.join('\n')}`;
}

/** Calls that succeeded, by tool: what a turn has done outside its container. */
function effectsOf({ agent, number, calls }: TurnDetail): string[] {
  const counts = new Map<string, number>();
  for (const { tool, status } of calls) {
    if (status === 'succeeded' || status === 'unknown') counts.set(tool, (counts.get(tool) ?? 0) + 1);
  }
  return [...counts].map(([tool, times]) => `  ${agent}:${number}  ${tool}${times === 1 ? '' : `, ${times} times`}`);
}
