import type { ProjectConfig, TurnNotice } from '@suzumio/contract/model/project-config';
import { SYSTEM_ID } from '@suzumio/contract/model/project-config';
import { oneLine } from '@suzumio/core/prompt/body';
import type { Failure } from '@suzumio/protocol/failure-codes';
import { writeMessage } from '../mail/write-message.js';
import { projectRow, type TurnRow } from '../rows.js';
import type { SqlReader } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';

/** The longest reason in a notice, in characters. */
const maxReasonLength = 300;

/** How a turn ended, for its subscribers. */
export type TurnNews =
  | { notice: 'started' }
  | { notice: 'finished' }
  | { notice: 'errored'; failure: Failure }
  | { notice: 'errored'; cancelled: string };

/** The agents that subscribe to a kind of notice of another's turns. */
export function subscribers(config: ProjectConfig, notice: TurnNotice, of: string): string[] {
  return Object.entries(config.agents)
    .filter(([id, { notices }]) => id !== of && notices?.includes(notice))
    .map(([id]) => id);
}

/**
 * Tells subscribed agents how a turn ended, each by a message from `system`. A notice never causes a notice: a turn
 * that is about notices alone causes none.
 */
export function noticeTurn(
  tx: Tx,
  turn: Pick<TurnRow, 'id' | 'agent_id' | 'number' | 'attempt'>,
  news: TurnNews,
): void {
  const readers = subscribers(tx.config, news.notice, turn.agent_id);
  if (readers.length === 0 || projectRow(tx).status === 'completed' || !isAboutMore(tx, turn)) return;
  for (const reader of readers) {
    const message = { sender: SYSTEM_ID, actor: SYSTEM_ID, priority: 'P3' as const, body: bodyOf(turn, news) };
    const about = { agent: turn.agent_id, turn: turn.id };
    writeMessage(tx, message, { recipient: reader, agents: [reader] }, { kind: 'event', about });
  }
}

/** Whether a turn's mail, read or still unread, contains more than notices. */
function isAboutMore(reader: SqlReader, { id, agent_id: agent }: { id: string; agent_id: string }): boolean {
  const read = reader.get<{ other: number }>(
    `SELECT max(kind <> 'event') AS other FROM message_reads JOIN messages ON messages.id = message_id
     WHERE message_reads.turn_id = :id HAVING count(*) > 0`,
    { id },
  );
  if (read) return read.other === 1;
  const unread = `SELECT 1 FROM inbox JOIN messages ON messages.seq = message_seq
    WHERE inbox.recipient = :agent AND kind <> 'event' LIMIT 1`;
  return reader.get(unread, { agent }) !== undefined;
}

function bodyOf({ agent_id: agent, number, attempt }: Parameters<typeof noticeTurn>[1], news: TurnNews): string {
  const which = `turn ${number} (${agent}:${number})`;
  if (news.notice !== 'errored') return `${agent} ${news.notice} ${which}.`;
  if ('cancelled' in news) return `${which} of ${agent} was cancelled: ${short(news.cancelled)}.`.replace(/^t/, 'T');
  return `${agent} errored in ${which}, attempt ${attempt}: ${news.failure.code}: ${short(news.failure.message)}`;
}

function short(text: string): string {
  const line = oneLine(text);
  return line.length <= maxReasonLength ? line : `${line.slice(0, maxReasonLength - 1)}…`;
}
