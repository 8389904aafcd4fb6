import type { UnreadMessage } from '@suzumio/core/prompt/select-mail';
import type { Priority } from '@suzumio/protocol/ids';
import type { MessageKind } from '@suzumio/protocol/message-kind';
import { listAttachments } from '../content/artifacts.js';
import type { SqlReader } from '../sqlite/sql.js';

interface UnreadRow {
  id: string;
  seq: number;
  priority: Priority;
  sender: string;
  recipient: string | null;
  channel: string | null;
  kind: MessageKind;
  thread_id: string;
  reply_to: string | null;
  body: string;
  created_at_ms: number;
}

/** An agent's unread messages, most urgent first, then oldest first, without their attachments. */
export function unreadRows(reader: SqlReader, agent: string, limit: number): UnreadRow[] {
  return reader.all<UnreadRow>(
    `SELECT m.id, m.seq, m.priority, m.sender, m.recipient, m.channel, m.kind, m.thread_id, m.reply_to, m.body, m.created_at_ms
     FROM inbox JOIN messages m ON m.seq = inbox.message_seq
     WHERE inbox.recipient = :agent ORDER BY inbox.priority, inbox.message_seq LIMIT :limit`,
    { agent, limit },
  );
}

/** An agent's unread mail, most urgent first, then oldest first, and its total count. */
export function unreadMail(
  reader: SqlReader,
  agent: string,
  limit: number,
): { messages: UnreadMessage[]; count: number } {
  const rows = unreadRows(reader, agent, limit);
  const count = reader.get<{ count: number }>('SELECT count(*) AS count FROM inbox WHERE recipient = :agent', {
    agent,
  });
  const messages = rows.map(({ recipient, channel, thread_id, reply_to, created_at_ms, ...row }) => ({
    ...row,
    ...(recipient === null ? {} : { recipient }),
    ...(channel === null ? {} : { channel }),
    threadId: thread_id,
    ...(reply_to === null ? {} : { replyTo: reply_to }),
    createdAtMs: created_at_ms,
    attachments: listAttachments(reader, row.seq),
  }));
  return { messages, count: count?.count ?? 0 };
}
