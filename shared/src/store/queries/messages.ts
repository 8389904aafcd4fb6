import type { MessageView } from '../../model/views.js';
import type { Priority } from '../../protocol/ids.js';
import type { SqlReader } from '../sql.js';
import { iso, type Page } from './page.js';

interface Row {
  seq: number;
  id: string;
  sender: string;
  recipient: string | null;
  channel: string | null;
  priority: Priority;
  kind: string;
  body: string;
  thread_id: string;
  reply_to: string | null;
  turn_id: string | null;
  actor: string;
  created_at_ms: number;
}

/** Messages in the order in which they were written. */
export function listMessages(reader: SqlReader, page: Page): MessageView[] {
  const rows =
    page.after === undefined
      ? reader.all<Row>('SELECT * FROM messages ORDER BY seq DESC LIMIT :limit', { limit: page.limit }).reverse()
      : reader.all<Row>('SELECT * FROM messages WHERE seq > :after ORDER BY seq LIMIT :limit', {
          after: page.after,
          limit: page.limit,
        });
  return rows.map((row) => messageView(reader, row));
}

export function findMessage(reader: SqlReader, id: string): MessageView | undefined {
  const row = reader.get<Row>('SELECT * FROM messages WHERE id = :id', { id });
  return row && messageView(reader, row);
}

/** A message that an agent may read: it wrote it, or has it or had it in its inbox. */
export function messageFor(reader: SqlReader, agent: string, id: string): MessageView | undefined {
  const message = findMessage(reader, id);
  if (!message) return undefined;
  const concerned = message.sender === agent || message.recipients.some((recipient) => recipient.agent === agent);
  return concerned ? message : undefined;
}

function messageView(reader: SqlReader, row: Row): MessageView {
  const recipients = reader.all<{ agent: string; turn: string | null; at: number | null }>(
    `SELECT recipient AS agent, NULL AS turn, NULL AS at FROM inbox WHERE message_seq = :seq
     UNION ALL
     SELECT recipient, turn_id, read_at_ms FROM message_reads WHERE message_id = :id AND voided_at_ms IS NULL
     ORDER BY agent`,
    { seq: row.seq, id: row.id },
  );
  return {
    id: row.id,
    seq: row.seq,
    sender: row.sender,
    recipient: row.recipient,
    channel: row.channel,
    priority: row.priority,
    kind: row.kind,
    body: row.body,
    threadId: row.thread_id,
    replyTo: row.reply_to,
    turn: row.turn_id,
    actor: row.actor,
    createdAt: iso(row.created_at_ms),
    recipients: recipients.map(({ agent, turn, at }) => ({ agent, turn, readAt: iso(at) })),
  };
}
