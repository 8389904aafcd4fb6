import { SuzumioError } from '../../errors/suzumio-error.js';
import { USER_ID } from '../../model/project-config.js';
import { type Attachment, maxAttachments } from '../../protocol/artifacts.js';
import type { Priority } from '../../protocol/ids.js';
import { findArtifact } from '../queries/artifacts.js';
import { isQueued } from '../rows.js';
import type { Tx } from '../tx.js';

/** A message to be written. Exactly one of `recipient` and `channel`. */
export interface NewMessage {
  /** An agent's id, or `user`. */
  sender: string;
  /** An agent's id or display name, or `user`. */
  recipient?: string | undefined;
  channel?: string | undefined;
  priority: Priority;
  body: string;
  /** Artifacts that it carries: their ids, or names, of which the newest is meant. */
  attachments?: readonly string[] | undefined;
  /** The turn that wrote it. */
  turn?: string | undefined;
  /** Who did it: the agent, or the name of the token that a person used. */
  actor: string;
}

export interface PostedMessage {
  id: string;
  seq: number;
  /** The agents that have it unread now. */
  recipients: string[];
}

/** The longest body of a message. */
export const maxMessageBytes = 256 * 1024;

const excerptLength = 160;

/**
 * Writes a message and one inbox row per addressed agent.
 *
 * @throws SuzumioError `invalid-request`, `recipient-unknown`, `recipient-ambiguous`, `recipient-self`,
 *   `channel-unknown`, `channel-not-member`, `attachment-unknown`
 */
export function postMessage(tx: Tx, message: NewMessage): PostedMessage {
  const address = addressOf(tx, message);
  const attachments = attachmentsOf(tx, message.attachments ?? []);
  const id = tx.newId('msg');
  const seq = tx.insert('messages', {
    id,
    sender: message.sender,
    recipient: address.recipient ?? null,
    channel: address.channel ?? null,
    priority: message.priority,
    kind: address.channel === undefined ? 'direct' : 'channel',
    body: message.body,
    thread_id: id,
    reply_to: null,
    turn_id: message.turn ?? null,
    actor: message.actor,
    created_at_ms: tx.nowMs,
  });
  attachments.forEach((artifact, position) => {
    tx.insert('message_attachments', { message_seq: seq, position, artifact_id: artifact.id });
  });
  for (const recipient of address.agents) {
    tx.insert('inbox', { recipient, priority: message.priority, message_seq: seq });
    hastenQueuedTurn(tx, recipient, message.priority);
  }
  tx.emit({
    type: 'message.created',
    actor: message.actor,
    agent: message.sender === USER_ID ? undefined : message.sender,
    turn: message.turn,
    data: {
      message: id,
      sender: message.sender,
      recipient: address.recipient,
      channel: address.channel,
      priority: message.priority,
      excerpt: excerptOf(message.body),
      ...(attachments.length > 0 ? { attachments: attachments.map((artifact) => ({ ...artifact })) } : {}),
    },
  });
  return { id, seq, recipients: address.agents };
}

/** What names stand for, each artifact once, in their order. */
function attachmentsOf(tx: Tx, names: readonly string[]): Attachment[] {
  if (names.length > maxAttachments) {
    throw new SuzumioError('invalid-request', `A message carries ${String(maxAttachments)} artifacts at most.`);
  }
  const found = new Map<string, Attachment>();
  for (const name of names) {
    const artifact = findArtifact(tx, { id: name }) ?? findArtifact(tx, { name });
    if (!artifact) {
      throw new SuzumioError(
        'attachment-unknown',
        `Nothing is published as "${name}", so it cannot be attached; give the id or the name of an artifact of this project.`,
        { attachment: name },
      );
    }
    const { id, kind, files, sizeBytes } = artifact;
    found.set(id, { id, name: artifact.name, kind, files, sizeBytes });
  }
  return [...found.values()];
}

interface Address {
  recipient?: string;
  channel?: string;
  agents: string[];
}

function addressOf(tx: Tx, message: NewMessage): Address {
  const { recipient, channel } = message;
  if (recipient !== undefined && channel === undefined) return directAddress(tx, message.sender, recipient);
  if (channel !== undefined && recipient === undefined) return channelAddress(tx, message.sender, channel);
  throw new SuzumioError(
    'invalid-request',
    recipient === undefined
      ? 'A message needs a recipient or a channel.'
      : 'A message has a recipient or a channel, not both.',
  );
}

function directAddress(tx: Tx, sender: string, name: string): Address {
  const recipient = name === USER_ID ? USER_ID : resolveAgent(tx, name);
  if (recipient === sender) {
    throw new SuzumioError('recipient-self', `${sender} cannot send mail to itself.`, { recipient });
  }
  return { recipient, agents: recipient === USER_ID ? [] : [recipient] };
}

/** An agent by its id, else by its display name where that names one. */
function resolveAgent(tx: Tx, name: string): string {
  const agents = tx.all<{ id: string; display_name: string | null }>(
    'SELECT id, display_name FROM agents ORDER BY position',
  );
  if (agents.some(({ id }) => id === name)) return name;
  const named = agents.filter(({ display_name }) => display_name === name);
  const [only] = named;
  if (only && named.length === 1) return only.id;
  if (named.length > 1) {
    throw new SuzumioError(
      'recipient-ambiguous',
      `"${name}" is the name of ${named.map(({ id }) => id).join(' and ')}; use the id.`,
      { recipient: name },
    );
  }
  throw new SuzumioError(
    'recipient-unknown',
    `There is no agent "${name}" in this project; mail can go to ${[...agents.map(({ id }) => id), USER_ID].join(', ')}.`,
    { recipient: name },
  );
}

function channelAddress(tx: Tx, sender: string, channel: string): Address {
  const channels = tx.all<{ name: string }>('SELECT name FROM channels ORDER BY position').map(({ name }) => name);
  if (!channels.includes(channel)) {
    throw new SuzumioError(
      'channel-unknown',
      channels.length === 0
        ? `There is no channel "${channel}"; this project has none.`
        : `There is no channel "${channel}" in this project; there are ${channels.join(', ')}.`,
      { channel },
    );
  }
  const members = tx
    .all<{ agent_id: string }>(
      `SELECT agent_id FROM channel_members JOIN agents ON agents.id = agent_id
       WHERE channel = :channel ORDER BY position`,
      { channel },
    )
    .map(({ agent_id }) => agent_id);
  if (sender !== USER_ID && !members.includes(sender)) {
    throw new SuzumioError('channel-not-member', `${sender} is not a member of ${channel}.`, { channel });
  }
  return { channel, agents: members.filter((member) => member !== sender) };
}

/** More urgent mail for a turn that still waits makes it a more urgent job: it is delivered again. */
function hastenQueuedTurn(tx: Tx, agent: string, priority: Priority): void {
  tx.run(
    `UPDATE turns SET priority = :priority, delivered_at_ms = NULL
     WHERE agent_id = :agent AND ${isQueued} AND attempt = 0 AND priority > :priority`,
    { agent, priority },
  );
}

function excerptOf(body: string): string {
  const line = body.replace(/\s+/g, ' ').trim();
  const points = Array.from(line.slice(0, 2 * excerptLength));
  return points.length <= excerptLength && line.length <= 2 * excerptLength
    ? line
    : `${points.slice(0, excerptLength - 1).join('')}…`;
}
