import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { SYSTEM_ID, USER_ID } from '@suzumio/contract/model/project-config';
import type { BusyAgent } from '@suzumio/contract/model/busy-agent';
import { mailLimitOf } from '@suzumio/core/mail/communication';
import type { Priority } from '@suzumio/protocol/ids';
import type { MessageKind } from '@suzumio/protocol/message-kind';
import { watchMail } from '../protection/watch.js';
import type { Tx } from '../sqlite/tx.js';
import type { Address } from './address.js';
import { busyAmong } from './busy-agents.js';
import { attachmentsOf } from './attach.js';
import { excerptOf } from './excerpt.js';
import { putInInbox } from './put-in-inbox.js';

/** The text of a message and its sender. */
export interface MessageText {
  /** An agent's id, `user`, or `system`. */
  sender: string;
  priority: Priority;
  body: string;
  /** Attached artifacts: ids, or names, which mean the newest artifact of that name. */
  attachments?: readonly string[] | undefined;
  /** The turn that wrote it. */
  turn?: string | undefined;
  /** The actor: the agent, or the name of the token that a person used. */
  actor: string;
}

/** The kind of a message and the message that it answers; one that answers none begins a thread. */
export interface MessagePlace {
  kind: MessageKind;
  replyTo?: { id: string; threadId: string };
  /** The agent that a notice is about, and its turn. */
  about?: { agent: string; turn: string };
}

export interface PostedMessage {
  id: string;
  seq: number;
  /** The agents that have it unread. */
  recipients: string[];
  /** Those of them that are at work: they read it after the turn that runs. */
  busy: BusyAgent[];
}

/**
 * Writes a message, one inbox row for each agent that receives it, and its event. Every message is written here.
 *
 * @throws SuzumioError `attachment-unknown`, `invalid-request`, `recipient-refused`
 */
export function writeMessage(tx: Tx, message: MessageText, address: Address, place: MessagePlace): PostedMessage {
  const priority = allowedPriority(tx, message, address);
  const attachments = attachmentsOf(tx, message.attachments ?? []);
  const id = tx.newId('msg');
  const threadId = place.replyTo?.threadId ?? id;
  const seq = tx.insert('messages', {
    id,
    sender: message.sender,
    recipient: address.recipient ?? null,
    channel: address.channel ?? null,
    priority,
    kind: place.kind,
    body: message.body,
    thread_id: threadId,
    reply_to: place.replyTo?.id ?? null,
    turn_id: message.turn ?? null,
    actor: message.actor,
    created_at_ms: tx.nowMs,
  });
  attachments.forEach((artifact, position) => {
    tx.insert('message_attachments', { message_seq: seq, position, artifact_id: artifact.id });
  });
  for (const recipient of address.agents) {
    putInInbox(tx, recipient, { seq, priority });
  }
  tx.emit({
    type: 'message.created',
    actor: message.actor,
    agent: isAgent(message.sender) ? message.sender : undefined,
    turn: message.turn,
    data: {
      message: id,
      kind: place.kind,
      sender: message.sender,
      recipient: address.recipient,
      channel: address.channel,
      thread: threadId,
      replyTo: place.replyTo?.id,
      priority,
      excerpt: excerptOf(message.body),
      ...(attachments.length > 0 ? { attachments: attachments.map((artifact) => ({ ...artifact })) } : {}),
    },
  });
  watchMail(tx, {
    sender: message.sender,
    turn: place.about?.turn ?? message.turn,
    about: place.about?.agent,
    to: address.recipient ?? address.channel ?? '',
    agents: address.agents,
    body: message.body,
  });
  return { id, seq, recipients: address.agents, busy: busyAmong(tx, address.agents) };
}

/** The priority with which mail goes: that which it asks for, or the highest that its sender may ask for. */
function allowedPriority(tx: Tx, { sender, priority }: MessageText, { recipient }: Address): Priority {
  const limit = isAgent(sender) ? mailLimitOf(tx.config, sender) : undefined;
  if (limit === undefined) return priority;
  if (recipient !== limit.coordinator) {
    throw new SuzumioError(
      'recipient-refused',
      `${sender} may write to ${limit.coordinator} alone, who coordinates this project: to no other agent, no channel and not to "${USER_ID}".`,
      { coordinator: limit.coordinator },
    );
  }
  return priority < limit.priority ? limit.priority : priority;
}

function isAgent(sender: string): boolean {
  return sender !== USER_ID && sender !== SYSTEM_ID;
}
