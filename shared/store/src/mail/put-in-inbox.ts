import type { Priority } from '@suzumio/protocol/ids';
import { isQueued } from '../rows.js';
import type { Tx } from '../sqlite/tx.js';

/** Makes a message one that an agent has unread. */
export function putInInbox(tx: Tx, recipient: string, message: { seq: number; priority: Priority }): void {
  tx.insert('inbox', { recipient, priority: message.priority, message_seq: message.seq });
  hastenQueuedTurn(tx, recipient, message.priority);
}

/**
 * More urgent mail for a turn that still waits makes the turn more urgent: of its project's turns it is put on the queue
 * earlier. One that is there already keeps its place, since the queue knows no priorities.
 */
function hastenQueuedTurn(tx: Tx, agent: string, priority: Priority): void {
  tx.run(
    `UPDATE turns SET priority = :priority
     WHERE agent_id = :agent AND ${isQueued} AND attempt = 0 AND priority > :priority`,
    { agent, priority },
  );
}
