import type { MessageLine } from '@suzumio/contract/model/message';
import type { ThreadView } from '@suzumio/contract/model/thread';
import { mostCountedInThread } from '@suzumio/contract/model/thread';
import { excerptOf } from './excerpt.js';
import type { MessageRow } from './messages.js';
import type { SqlReader } from '../sqlite/sql.js';
import { iso, type Page, type Part, readPart } from '../sqlite/page.js';

type Row = Pick<
  MessageRow,
  'seq' | 'id' | 'sender' | 'recipient' | 'channel' | 'priority' | 'thread_id' | 'created_at_ms'
> & { beginning: string };

const lineColumns = ['seq', 'id', 'sender', 'recipient', 'channel', 'priority', 'thread_id', 'created_at_ms']
  .map((column) => `messages.${column}`)
  .concat('substr(messages.body, 1, 1000) AS beginning')
  .join(', ');

/** How many messages are counted for one page: some tens of ms. */
const countedInPage = 50_000;

/** Threads in the order of their last messages, whose numbers are their places. */
export function listThreads(reader: SqlReader, page: Page): Part<ThreadView> {
  let counted = 0;
  return readPart<Row, ThreadView>(
    reader,
    {
      from: 'messages',
      columns: lineColumns,
      key: 'messages.seq',
      filters: [
        `NOT EXISTS (SELECT 1 FROM messages AS later
           WHERE later.thread_id = messages.thread_id AND later.seq > messages.seq)`,
      ],
    },
    page,
    (last) => {
      const counts = countsOf(reader, last.thread_id);
      counted += counts.messages;
      const first =
        last.id === last.thread_id
          ? last
          : (reader.get<Row>(`SELECT ${lineColumns} FROM messages WHERE id = :id`, { id: last.thread_id }) ?? last);
      return { id: last.thread_id, seq: last.seq, ...counts, first: lineOf(first), last: lineOf(last) };
    },
    () => counted >= countedInPage,
  );
}

function countsOf(reader: SqlReader, thread: string): { messages: number; unread: number } {
  return (
    reader.get<{ messages: number; unread: number }>(
      `SELECT count(*) AS messages, coalesce(sum(unread), 0) AS unread FROM (
         SELECT EXISTS (SELECT 1 FROM inbox WHERE message_seq = messages.seq) AS unread
         FROM messages WHERE thread_id = :thread ORDER BY seq DESC LIMIT :most)`,
      { thread, most: mostCountedInThread },
    ) ?? { messages: 0, unread: 0 }
  );
}

function lineOf({ id, seq, sender, recipient, channel, priority, beginning, created_at_ms }: Row): MessageLine {
  return {
    id,
    seq,
    sender,
    recipient,
    channel,
    priority,
    excerpt: excerptOf(beginning),
    createdAt: iso(created_at_ms),
  };
}
