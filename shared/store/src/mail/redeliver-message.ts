import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { TurnStatus } from '@suzumio/contract/model/states';
import type { Priority } from '@suzumio/protocol/ids';
import { putInInbox } from './put-in-inbox.js';
import { messageCalled } from './messages.js';
import { agentRow, isUndelivered, stateOf } from '../rows.js';
import type { SqlParams, SqlReader } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';

/** A message that an agent read in a turn which failed or was cancelled. */
export interface UndeliveredMail {
  id: string;
  seq: number;
  priority: Priority;
  /** The agent that read it. */
  agent: string;
  /** The turn that read it, and its number. */
  turn: string;
  number: number;
}

/** The agents that have it unread again. */
export interface RedeliveredMessage {
  id: string;
  agents: string[];
}

/**
 * Makes one undelivered message unread again, for one agent or for each that has it undelivered. A new turn will read
 * it, and may repeat what the earlier one did; the earlier one can no longer be retried. The agents' states neither
 * matter nor change: a failed agent reads the mail once it is reset.
 *
 * @param name the message's id or number
 * @throws SuzumioError `message-unknown`, `agent-unknown`, `redelivery-refused`
 */
export function redeliverMessage(
  tx: Tx,
  name: string,
  options: { agent?: string | undefined; actor: string },
): RedeliveredMessage {
  const { id, seq } = messageCalled(tx, name);
  const agent = options.agent === undefined ? null : agentRow(tx, options.agent).id;
  const wanted = 'm.id = :id AND (:agent IS NULL OR turns.agent_id = :agent)';
  const undelivered = undeliveredMail(tx, wanted, { id, agent });
  const mail = undelivered.filter((one) => stateOf(agentRow(tx, one.agent)) !== 'retired');
  if (mail.length === 0 && undelivered.length > 0) throw retired(seq, undelivered);
  if (mail.length === 0) {
    throw new SuzumioError(
      'redelivery-refused',
      `Message ${String(seq)} is not undelivered${agent === null ? '' : ` to ${agent}`}: ${standing(tx, { id, seq, agent })}.`,
      { message: id },
    );
  }
  giveBack(tx, mail);
  for (const { agent: reader, turn, number } of mail) {
    tx.emit({
      type: 'message.redelivered',
      actor: options.actor,
      agent: reader,
      turn,
      data: { message: id, seq, turnNumber: number },
    });
  }
  return { id, agents: mail.map((one) => one.agent) };
}

function retired(seq: number, undelivered: readonly UndeliveredMail[]): SuzumioError {
  const agents = undelivered.map(({ agent }) => agent);
  const who = agents.length === 1 ? `${agents.join()} was` : `${agents.join(', ')} were`;
  return new SuzumioError(
    'redelivery-refused',
    `Message ${String(seq)} is undelivered, and ${who} retired: send it to another agent, or bring that one back by the project's file.`,
  );
}

/** Undelivered mail, in order of writing. `wanted` is a condition on messages `m` and their `turns`. */
export function undeliveredMail(reader: SqlReader, wanted: string, params: SqlParams): UndeliveredMail[] {
  return reader.all<UndeliveredMail>(
    `SELECT m.id, m.seq, m.priority, turns.agent_id AS agent, turns.id AS turn, turns.number
     FROM turns JOIN message_reads r ON r.turn_id = turns.id JOIN messages m ON m.id = r.message_id
     WHERE turns.${isUndelivered} AND r.voided_at_ms IS NULL AND ${wanted} ORDER BY m.seq, turns.agent_id`,
    params,
  );
}

/** How much undelivered mail there is, and the first of it. */
export function someUndelivered(
  reader: SqlReader,
  limit: number,
): { messages: number; first: Pick<UndeliveredMail, 'seq' | 'agent' | 'number'>[] } {
  const from = `FROM turns CROSS JOIN message_reads r ON r.turn_id = turns.id
    WHERE turns.${isUndelivered} AND r.voided_at_ms IS NULL`;
  const messages = reader.get<{ count: number }>(`SELECT count(*) AS count ${from}`)?.count ?? 0;
  if (messages === 0) return { messages, first: [] };
  const first = reader.all<Pick<UndeliveredMail, 'seq' | 'agent' | 'number'>>(
    `SELECT m.seq, unread.agent, unread.number
     FROM (SELECT r.message_id, turns.agent_id AS agent, turns.number ${from} ORDER BY turns.seq LIMIT :limit) unread
       CROSS JOIN messages m ON m.id = unread.message_id ORDER BY m.seq, unread.agent`,
    { limit },
  );
  return { messages, first };
}

/** Moves mail from the turns that read it back into the inboxes: it is always in exactly one of the two. */
export function giveBack(tx: Tx, mail: readonly UndeliveredMail[]): void {
  for (const { id, seq, priority, agent } of mail) {
    tx.run(
      `UPDATE message_reads SET voided_at_ms = :now WHERE message_id = :id AND recipient = :agent AND voided_at_ms IS NULL`,
      { id, agent, now: tx.nowMs },
    );
    putInInbox(tx, agent, { seq, priority });
  }
}

/** How a message stands with its recipients, or with one of them. */
function standing(reader: SqlReader, of: { id: string; seq: number; agent: string | null }): string {
  const rows = reader.all<{ agent: string; number: number | null; status: TurnStatus | null }>(
    `SELECT recipient AS agent, NULL AS number, NULL AS status FROM inbox WHERE message_seq = :seq
     UNION ALL
     SELECT recipient, turns.number, turns.status FROM message_reads JOIN turns ON turns.id = turn_id
     WHERE message_id = :id AND voided_at_ms IS NULL ORDER BY agent`,
    { id: of.id, seq: of.seq },
  );
  const told = rows
    .filter(({ agent }) => of.agent === null || agent === of.agent)
    .map(({ agent, number, status }) =>
      number === null || status === null
        ? `${agent} has it unread`
        : `${agent} read it in turn ${String(number)}, which is ${status}`,
    );
  return told.length === 0 ? 'it went to no agent' : told.join(', ');
}
