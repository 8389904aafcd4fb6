import { teamAddress } from './address.js';
import { type MessageText, type PostedMessage, writeMessage } from './write-message.js';
import type { Tx } from '../sqlite/tx.js';

/** An announcement. */
export interface NewBroadcast extends MessageText {
  /** The team that gets it; without it, all agents of the project. */
  team?: string | undefined;
}

/**
 * Writes one message to every agent of a team, or of the project, except its sender.
 *
 * @throws SuzumioError `team-unknown`, `team-empty`, `attachment-unknown`, `invalid-request`
 */
export function broadcast(tx: Tx, announcement: NewBroadcast): PostedMessage {
  const address = teamAddress(tx, announcement.sender, announcement.team);
  return writeMessage(tx, announcement, address, { kind: 'broadcast' });
}
