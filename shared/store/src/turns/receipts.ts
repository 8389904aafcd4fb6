import type { TurnStatus } from '@suzumio/contract/model/states';
import type { MessageDetail, MessageReceipt } from '@suzumio/contract/model/message';
import { isUndelivered } from '../rows.js';
import type { SqlReader } from '../sqlite/sql.js';
import { messageCalled, type MessageRow, messageView } from '../mail/messages.js';
import { iso, parsed } from '../sqlite/page.js';
import { listAttempts } from './read-turns.js';

/**
 * One message, by id or number, with what became of it at each recipient.
 *
 * @throws SuzumioError `message-unknown`
 */
export function readMessageDetail(reader: SqlReader, name: string): MessageDetail {
  const row = messageCalled(reader, name);
  return { ...messageView(reader, row), receipts: receiptsOf(reader, row) };
}

interface ReadRow {
  agent: string;
  turn_id: string;
  number: number;
  status: TurnStatus;
  failure_json: string | null;
  undelivered: number;
  read_at_ms: number;
  voided_at_ms: number | null;
}

/** In the order of the project's agents. */
function receiptsOf(reader: SqlReader, { id, seq }: MessageRow): MessageReceipt[] {
  const unread = new Set(
    reader
      .all<{ recipient: string }>('SELECT recipient FROM inbox WHERE message_seq = :seq', { seq })
      .map(({ recipient }) => recipient),
  );
  const reads = `SELECT recipient AS agent, turn_id, number, status, failure_json, turns.${isUndelivered} AS undelivered,
    read_at_ms, voided_at_ms FROM message_reads JOIN turns ON turns.id = turn_id WHERE message_id = :id`;
  // Each half uses an index of its own.
  const rows = reader.all<ReadRow>(
    `${reads} AND voided_at_ms IS NULL UNION ALL ${reads} AND voided_at_ms IS NOT NULL ORDER BY number`,
    { id },
  );
  return reader
    .all<{ id: string }>('SELECT id FROM agents ORDER BY position')
    .map(({ id: agent }) => ({
      agent,
      unread: unread.has(agent),
      reads: rows.filter((row) => row.agent === agent).map((row) => readView(reader, row)),
    }))
    .filter((receipt) => receipt.unread || receipt.reads.length > 0);
}

function readView(reader: SqlReader, row: ReadRow): MessageReceipt['reads'][number] {
  return {
    turn: row.turn_id,
    turnNumber: row.number,
    status: row.status,
    failure: parsed(row.failure_json),
    attempts: listAttempts(reader, row.turn_id).map(({ number, status, failure, startedAt, endedAt }) => ({
      number,
      status,
      failure,
      startedAt,
      endedAt,
    })),
    readAt: iso(row.read_at_ms),
    undelivered: row.undelivered === 1 && row.voided_at_ms === null,
    voidedAt: iso(row.voided_at_ms),
  };
}
