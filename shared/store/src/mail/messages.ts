import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { Redaction } from '@suzumio/contract/model/redaction';
import { SYSTEM_ID, USER_ID } from '@suzumio/contract/model/project-config';
import { maxListedRecipients, type MessageView } from '@suzumio/contract/model/message';
import type { Priority } from '@suzumio/protocol/ids';
import type { MessageKind } from '@suzumio/protocol/message-kind';
import type { TurnStatus } from '@suzumio/contract/model/states';
import type { Search } from '@suzumio/contract/model/search';
import { agentRow, isUndelivered } from '../rows.js';
import type { SqlReader } from '../sqlite/sql.js';
import { listAttachments } from '../content/artifacts.js';
import {
  definedOf,
  inTime,
  iso,
  type ListedRows,
  type Page,
  pageBytes,
  parsed,
  type Part,
  readPart,
} from '../sqlite/page.js';
import type { MessageRange } from './index-messages.js';
import { searching, type Searching } from './search-messages.js';

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

/** Which messages are wanted: those of which all of this holds. */
export interface MessagePage extends Page {
  /** An agent's id, `user` or `system`. */
  sender?: string | undefined;
  /** Whom it is addressed to: an agent's id, or `user`. */
  recipient?: string | undefined;
  channel?: string | undefined;
  priority?: Priority | undefined;
  /**
   * `unread` by some agent that it went to, `undelivered` to some, because a failed or cancelled turn read it; or `read`:
   * neither, where it went to agents.
   */
  state?: 'unread' | 'read' | 'undelivered' | undefined;
  /** From this moment on, and before that one. */
  since?: number | undefined;
  until?: number | undefined;
  /** Given to, or sent by, the turn with this id. */
  turn?: string | undefined;
  search?: Search | undefined;
}

const isUnread = 'messages.seq IN (SELECT message_seq FROM inbox)';
const undeliveredTo = (whom: string) =>
  `messages.id IN (SELECT message_id FROM turns CROSS JOIN message_reads ON turn_id = turns.id
     WHERE turns.${isUndelivered} AND voided_at_ms IS NULL AND ${whom})`;

/** Given to a turn, or sent by it. */
const ofTurn = `messages.seq IN (SELECT seq FROM messages WHERE turn_id = :turn
  UNION ALL SELECT given.seq FROM message_reads CROSS JOIN messages AS given ON given.id = message_id
    WHERE message_reads.turn_id = :turn)`;

/** Conditions on the state of messages, and whether they say themselves which messages to look at. */
const ofState = {
  unread: { where: [isUnread] },
  undelivered: { where: [undeliveredTo('true')] },
  read: {
    filters: [
      'EXISTS (SELECT 1 FROM message_reads WHERE message_id = messages.id AND voided_at_ms IS NULL)',
      'NOT EXISTS (SELECT 1 FROM inbox WHERE message_seq = messages.seq)',
      `NOT EXISTS (SELECT 1 FROM message_reads JOIN turns ON turns.id = turn_id
         WHERE message_id = messages.id AND turns.${isUndelivered} AND voided_at_ms IS NULL)`,
    ],
  },
} as const satisfies Record<string, Pick<ListedRows, 'where' | 'filters'>>;

/**
 * Messages in order of writing. Of what is searched for, only that is found which is indexed.
 *
 * @throws SuzumioError `agent-unknown`
 */
export function listMessages(reader: SqlReader, page: MessagePage): Part<MessageView> {
  const { sender, recipient, channel, priority, state, turn, search } = page;
  for (const name of [sender, recipient]) {
    if (name !== undefined && name !== USER_ID && name !== SYSTEM_ID) agentRow(reader, name);
  }
  const found = search && searching(reader, search, page, { range: messageRange(reader, page), seq: 'messages.seq' });
  const key = found?.rows.key ?? 'messages.seq';
  const time = inTime(reader, { table: 'messages', column: 'created_at_ms', key }, page);
  const ofPage: Pick<ListedRows, 'where' | 'filters'> = state === undefined ? {} : ofState[state];
  return messagesWhere(
    reader,
    {
      where: [...time.where, turn === undefined ? undefined : ofTurn, ...(ofPage.where ?? [])],
      filters: [
        sender === undefined ? undefined : 'messages.sender = :sender',
        recipient === undefined ? undefined : 'messages.recipient = :recipient',
        channel === undefined ? undefined : 'messages.channel = :channel',
        priority === undefined ? undefined : 'messages.priority = :priority',
        ...(ofPage.filters ?? []),
      ],
      params: { ...time.params, ...definedOf({ sender, recipient, channel, priority, turn }) },
    },
    page,
    { found },
  );
}

/** A page of messages, or of what has their numbers. */
export type NumberedPage = Page & Pick<MessagePage, 'since' | 'until'>;

/** Between which messages such a page lies. */
export function messageRange(reader: SqlReader, page: NumberedPage): MessageRange {
  const { params } = inTime(reader, { table: 'messages', column: 'created_at_ms' }, page);
  return {
    after: Math.max(page.after ?? 0, (params['sinceSeq'] ?? 1) - 1),
    before: Math.min(page.before ?? Number.MAX_SAFE_INTEGER, params['untilSeq'] ?? Number.MAX_SAFE_INTEGER),
  };
}

/** Which mail of the inboxes is wanted. */
export interface InboxPage extends Page {
  /** Only one agent's. @default all */
  agent?: string | undefined;
  /** Instead of unread mail, mail read by a failed or cancelled turn and not delivered again. */
  undelivered: boolean;
}

/** Messages that some agent still has unread or undelivered, in order of writing. */
export function listInbox(reader: SqlReader, { agent, undelivered, ...page }: InboxPage): Part<MessageView> {
  const wanted = undelivered
    ? undeliveredTo('(:agent IS NULL OR agent_id = :agent)')
    : 'messages.seq IN (SELECT message_seq FROM inbox WHERE :agent IS NULL OR recipient = :agent)';
  const isMeant = (one: Recipient) =>
    (undelivered ? one.undelivered : one.turn === null) && one.agent === (agent ?? one.agent);
  return messagesWhere(reader, { where: [wanted], params: { agent: agent ?? null } }, page, { isMeant });
}

/**
 * The messages of one thread, in order of writing.
 *
 * @throws SuzumioError `thread-unknown`
 */
export function listThread(reader: SqlReader, name: string, page: Page): Part<MessageView> {
  const params = { thread: threadCalled(reader, name) };
  return messagesWhere(reader, { where: ['messages.thread_id = :thread'], params }, page);
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

/**
 * @param isMeant tells the recipients that the list is about: they are shown first where there are too many
 * @param found what was searched for, besides
 */
function messagesWhere(
  reader: SqlReader,
  rows: Pick<ListedRows, 'where' | 'filters' | 'params'>,
  page: Page,
  { isMeant = () => true, found }: { isMeant?: (one: Recipient) => boolean; found?: Searching | undefined } = {},
): Part<MessageView> {
  let [bytes, recipients] = [0, 0];
  const searched = found?.rows;
  return readPart<MessageRow & { snippet?: string }, MessageView>(
    reader,
    {
      ...searched,
      from: `${searched?.index ?? ''}messages`,
      columns: `messages.*${searched?.columns ?? ''}`,
      key: searched?.key ?? 'messages.seq',
      where: [...(rows.where ?? []), ...(searched?.where ?? [])],
      filters: [...(rows.filters ?? []), ...(searched?.filters ?? [])],
      params: { ...rows.params, ...searched?.params },
      texts: ['body'],
    },
    page,
    (row) => {
      const view = messageView(reader, row);
      const shown = firstOf(view.recipients, isMeant);
      recipients += view.recipients.length;
      bytes += Buffer.byteLength(row.body) + shown.length * recipientBytes + view.attachments.length * attachmentBytes;
      return { ...view, recipients: shown, ...(found ? { found: found.found(row) } : {}) };
    },
    () => bytes >= pageBytes || recipients >= recipientsInPage,
  );
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
  const rows = reader.all<{
    agent: string;
    turn: string | null;
    number: number | null;
    status: TurnStatus | null;
    at: number | null;
    undelivered: number;
  }>(
    `SELECT recipient AS agent, NULL AS turn, NULL AS number, NULL AS status, NULL AS at, 0 AS undelivered FROM inbox WHERE message_seq = :seq
     UNION ALL
     SELECT recipient, turn_id, turns.number, turns.status, read_at_ms, turns.${isUndelivered}
     FROM message_reads JOIN turns ON turns.id = turn_id WHERE message_id = :id AND voided_at_ms IS NULL
     ORDER BY agent`,
    { seq: row.seq, id: row.id },
  );
  const recipients = rows.map(({ agent, turn, number, status, at, undelivered }) => ({
    agent,
    turn,
    turnNumber: number,
    turnStatus: status,
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
