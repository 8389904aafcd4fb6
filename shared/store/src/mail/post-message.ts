import { addressOf } from './address.js';
import { type MessageText, type PostedMessage, writeMessage } from './write-message.js';
import type { Tx } from '../sqlite/tx.js';

/** A message to be written. Exactly one of `recipient` and `channel`. */
export interface NewMessage extends MessageText {
  /** An agent's id or display name, or `user`. */
  recipient?: string | undefined;
  channel?: string | undefined;
}

/**
 * Writes a message to one agent, to the person, or to a channel. It begins a thread.
 *
 * @throws SuzumioError `invalid-request`, `recipient-unknown`, `recipient-retired`, `recipient-ambiguous`, `recipient-self`,
 *   `recipient-refused`,
 *   `channel-unknown`, `channel-not-member`, `attachment-unknown`
 */
export function postMessage(tx: Tx, message: NewMessage): PostedMessage {
  const address = addressOf(tx, message.sender, message);
  return writeMessage(tx, message, address, { kind: address.channel === undefined ? 'direct' : 'channel' });
}
