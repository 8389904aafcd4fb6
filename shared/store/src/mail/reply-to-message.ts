import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { USER_ID } from '@suzumio/contract/model/project-config';
import type { TaskMove } from '@suzumio/contract/model/task-states';
import { addressOf } from './address.js';
import { type MovedTask, moveTask } from './move-task.js';
import { type MessageText, type PostedMessage, writeMessage } from './write-message.js';
import { messageCalled, type MessageRow } from './messages.js';
import type { SqlReader } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';

/**
 * An answer to a message. Without `recipient` and `channel` it goes to the sender of that message; with a task's new
 * state, to the task's assigner.
 */
export interface NewReply extends MessageText {
  /** The message that it answers, by id or number. */
  message: string;
  /** An agent's id or display name, or `user`. */
  recipient?: string | undefined;
  channel?: string | undefined;
  /** The new state of the task that the thread is about. */
  task?: TaskMove | undefined;
}

export interface PostedReply extends PostedMessage {
  threadId: string;
  /** Its visible address. */
  to: string;
  /** The task whose state it changed. */
  task: MovedTask | null;
}

/**
 * Writes an answer into the thread of the message that it answers, and changes the thread's task where it says so.
 *
 * An agent may answer only what it has seen: what it wrote, what one of its prompts contained, and what it read by id
 * in this turn. The person has seen everything.
 *
 * @throws SuzumioError `message-unknown`, `message-unseen`, `message-unanswerable`, `task-unknown`,
 *   `task-not-assignee`, `task-state-refused`, and what `postMessage` throws
 */
export function replyToMessage(tx: Tx, reply: NewReply): PostedReply {
  const parent = parentOf(tx, reply);
  const { recipient, channel } = reply;
  const address = addressOf(
    tx,
    reply.sender,
    recipient === undefined && channel === undefined ? { recipient: recipientOf(tx, parent, reply) } : reply,
  );
  const posted = writeMessage(tx, reply, address, {
    kind: 'reply',
    replyTo: { id: parent.id, threadId: parent.thread_id },
  });
  const task = reply.task ? moveTask(tx, { id: parent.thread_id, to: reply.task, by: reply, reply: posted.id }) : null;
  return { ...posted, threadId: parent.thread_id, to: address.recipient ?? address.channel ?? '', task };
}

function parentOf(tx: Tx, { message, sender, turn }: NewReply): MessageRow {
  const parent = messageCalled(tx, message);
  if (!hasSeen(tx, sender, parent, turn)) {
    throw new SuzumioError(
      'message-unseen',
      `${sender} has not seen ${parent.id}: only what stood in a prompt or was read with messages.read can be answered.`,
      { message: parent.id },
    );
  }
  if (parent.kind === 'event') {
    throw new SuzumioError(
      'message-unanswerable',
      `${parent.id} is a notice of the system, which reads no mail; send to an agent or to "${USER_ID}" instead.`,
      { message: parent.id },
    );
  }
  return parent;
}

/** Unread mail counts as unseen, even where an earlier turn had read it before it was put back. */
function hasSeen(reader: SqlReader, agent: string, { id, sender }: MessageRow, turn: string | undefined): boolean {
  if (agent === USER_ID || agent === sender) return true;
  const read = reader.get(
    'SELECT 1 FROM message_reads WHERE message_id = :id AND recipient = :agent AND voided_at_ms IS NULL',
    { id, agent },
  );
  if (read !== undefined || turn === undefined) return read !== undefined;
  const looked = reader.get(
    `SELECT 1 FROM tool_calls WHERE turn_id = :turn AND tool = 'messages.read' AND status = 'succeeded'
       AND json_extract(input_json, '$.id') = :id`,
    { turn, id },
  );
  return looked !== undefined;
}

function recipientOf(tx: Tx, parent: MessageRow, { sender, task }: NewReply): string {
  const assigner =
    task &&
    tx.get<{ assigner: string }>('SELECT assigner FROM tasks WHERE message_id = :id AND assigner <> :sender', {
      id: parent.thread_id,
      sender,
    })?.assigner;
  return assigner ?? authorOf(parent, sender);
}

function authorOf({ id, sender }: MessageRow, replier: string): string {
  if (sender !== replier) return sender;
  throw new SuzumioError(
    'recipient-self',
    `${replier} wrote ${id} itself; name a recipient or a channel for what it adds.`,
    { recipient: sender },
  );
}
