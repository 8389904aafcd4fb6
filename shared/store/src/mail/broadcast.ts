import { teamAddress } from './address.js';
import { type MessageText, type PostedMessage, writeMessage } from './write-message.js';
import type { Tx } from '../sqlite/tx.js';

/** An announcement. */
export interface NewBroadcast extends MessageText {
  /** To whom; without it, to all agents of the project. */
  team?: string | undefined;
}

/**
 * Writes one message that every agent of a team gets, or all of the project's, except its sender.
 *
 * @throws SuzumioError `team-unknown`, `team-empty`, `attachment-unknown`, `invalid-request`
 */
export function broadcast(tx: Tx, announcement: NewBroadcast): PostedMessage {
  const address = teamAddress(tx, announcement.sender, announcement.team);
  return writeMessage(tx, announcement, address, { kind: 'broadcast' });
}
