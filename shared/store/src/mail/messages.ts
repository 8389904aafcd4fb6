import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { Redaction } from '@suzumio/contract/model/redaction';
import { maxListedRecipients, type MessageView } from '@suzumio/contract/model/views';
import type { Priority } from '@suzumio/protocol/ids';
import type { MessageKind } from '@suzumio/protocol/message-kind';
import { isUndelivered } from '../rows.js';
import type { SqlParams, SqlReader } from '../sqlite/sql.js';
import { listAttachments } from '../content/artifacts.js';
import { iso, type Page, pageBytes, parsed, untilFull } from '../sqlite/page.js';

export interface MessageRow {
  seq: number;
  id: string;
  sender: string;
  recipient: string | null;
  channel: string | null;
  priority: Priority;
  kind: MessageKind;
  body: string;
  thread_id: string;
  reply_to: string | null;
  turn_id: string | null;
  actor: string;
  created_at_ms: number;
  /** Set where its body was redacted: what stands there says so. */
  redacted_json: string | null;
}

/** Messages in order of writing. */
export function listMessages(reader: SqlReader, page: Page): MessageView[] {
  return messagesWhere(reader, 'true', page, {});
}

/** Which mail of the inboxes is wanted. */
export interface InboxPage extends Page {
  /** Only one agent's. @default all */
  agent?: string | undefined;
  /** Instead of unread mail, mail read by a failed or cancelled turn and not delivered again. */
  undelivered: boolean;
}

/** Messages that some agent still has unread or undelivered, in order of writing. */
export function listInbox(reader: SqlReader, { agent, undelivered, ...page }: InboxPage): MessageView[] {
  const wanted = undelivered
    ? `id IN (SELECT message_id FROM turns JOIN message_reads ON turn_id = turns.id
         WHERE turns.${isUndelivered} AND voided_at_ms IS NULL AND (:agent IS NULL OR agent_id = :agent))`
    : 'seq IN (SELECT message_seq FROM inbox WHERE :agent IS NULL OR recipient = :agent)';
  const isMeant = (one: Recipient) =>
    (undelivered ? one.undelivered : one.turn === null) && one.agent === (agent ?? one.agent);
  return messagesWhere(reader, wanted, page, { agent: agent ?? null }, isMeant);
}

/**
 * The messages of one thread, in order of writing.
 *
 * @throws SuzumioError `thread-unknown`
 */
export function listThread(reader: SqlReader, name: string, page: Page): MessageView[] {
  return messagesWhere(reader, 'thread_id = :thread', page, { thread: threadCalled(reader, name) });
}

/**
 * A message by its id or its number.
 *
 * @throws SuzumioError `message-unknown`
 */
export function messageCalled(reader: SqlReader, name: string): MessageRow {
  const row = rowCalled(reader, name);
  if (row) return row;
  throw new SuzumioError(
    'message-unknown',
    `There is no message "${name.slice(0, 80)}" in this project; write its id or its number.`,
  );
}

/** The thread with this id, or of this message. */
function threadCalled(reader: SqlReader, name: string): string {
  const row = rowCalled(reader, name);
  if (row) return row.thread_id;
  throw new SuzumioError(
    'thread-unknown',
    `There is no thread "${name.slice(0, 80)}" in this project; write its id, or the id or number of a message in it.`,
  );
}

function rowCalled(reader: SqlReader, name: string): MessageRow | undefined {
  return /^\d{1,15}$/.test(name)
    ? reader.get<MessageRow>('SELECT * FROM messages WHERE seq = :seq', { seq: Number(name) })
    : reader.get<MessageRow>('SELECT * FROM messages WHERE id = :name', { name });
}

export function findMessage(reader: SqlReader, id: string): MessageView | undefined {
  const row = reader.get<MessageRow>('SELECT * FROM messages WHERE id = :id', { id });
  return row && messageView(reader, row);
}

/** A message that an agent may read: it wrote it, or has or had it in its inbox. */
export function messageFor(reader: SqlReader, agent: string, id: string): MessageView | undefined {
  const message = findMessage(reader, id);
  if (!message) return undefined;
  const concerned = message.sender === agent || message.recipients.some((recipient) => recipient.agent === agent);
  return concerned ? message : undefined;
}

/** How many recipients one page reads, shown or not: some tens of ms. */
const recipientsInPage = 20_000;
/** Approximate size of one recipient in an answer. */
const recipientBytes = 120;
const attachmentBytes = 300;

/** @param isMeant tells the recipients that the list is about: they are shown first where there are too many */
function messagesWhere(
  reader: SqlReader,
  wanted: string,
  page: Page,
  params: SqlParams,
  isMeant: (one: Recipient) => boolean = () => true,
): MessageView[] {
  const { limit, after } = page;
  const order = `seq ${after === undefined ? 'DESC' : 'ASC'}`;
  const rows = `SELECT * FROM messages WHERE ${wanted} AND seq > :after ORDER BY ${order} LIMIT :limit`;
  const filling = { ...params, after: after ?? 0, limit, bytes: pageBytes };
  const views: MessageView[] = [];
  let [bytes, recipients] = [0, 0];
  for (const row of reader.all<MessageRow>(`${untilFull(rows, order, 'body')} ORDER BY ${order}`, filling)) {
    const view = messageView(reader, row);
    const shown = firstOf(view.recipients, isMeant);
    views.push({ ...view, recipients: shown });
    recipients += view.recipients.length;
    bytes += Buffer.byteLength(row.body) + shown.length * recipientBytes + view.attachments.length * attachmentBytes;
    if (bytes >= pageBytes || recipients >= recipientsInPage) break;
  }
  return views.sort((a, b) => a.seq - b.seq);
}

type Recipient = MessageView['recipients'][number];

/** As many recipients as a list shows, those that the list is about first. */
function firstOf(recipients: Recipient[], isMeant: (one: Recipient) => boolean): Recipient[] {
  if (recipients.length <= maxListedRecipients) return recipients;
  const meant = recipients.filter(isMeant).slice(0, maxListedRecipients);
  const others = recipients.filter((one) => !meant.includes(one)).slice(0, maxListedRecipients - meant.length);
  const shown = new Set([...meant, ...others]);
  return recipients.filter((one) => shown.has(one));
}

export function messageView(reader: SqlReader, row: MessageRow): MessageView {
  const rows = reader.all<{ agent: string; turn: string | null; at: number | null; undelivered: number }>(
    `SELECT recipient AS agent, NULL AS turn, NULL AS at, 0 AS undelivered FROM inbox WHERE message_seq = :seq
     UNION ALL
     SELECT recipient, turn_id, read_at_ms, turns.${isUndelivered}
     FROM message_reads JOIN turns ON turns.id = turn_id WHERE message_id = :id AND voided_at_ms IS NULL
     ORDER BY agent`,
    { seq: row.seq, id: row.id },
  );
  const recipients = rows.map(({ agent, turn, at, undelivered }) => ({
    agent,
    turn,
    readAt: iso(at),
    undelivered: undelivered === 1,
  }));
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
    redacted: parsed<Redaction>(row.redacted_json),
    attachments: listAttachments(reader, row.seq),
    recipients,
    delivery: {
      recipients: recipients.length,
      read: recipients.filter(({ turn }) => turn !== null).length,
      undelivered: recipients.filter(({ undelivered }) => undelivered).length,
    },
  };
}
