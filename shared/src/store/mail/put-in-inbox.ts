import type { Priority } from '../../protocol/ids.js';
import { isQueued } from '../rows.js';
import type { Tx } from '../tx.js';

/** Makes a message one that an agent has unread. */
export function putInInbox(tx: Tx, recipient: string, message: { seq: number; priority: Priority }): void {
  tx.insert('inbox', { recipient, priority: message.priority, message_seq: message.seq });
  hastenQueuedTurn(tx, recipient, message.priority);
}

/** More urgent mail for a turn that still waits makes it a more urgent job: it is delivered again. */
function hastenQueuedTurn(tx: Tx, agent: string, priority: Priority): void {
  tx.run(
    `UPDATE turns SET priority = :priority, delivered_at_ms = NULL
     WHERE agent_id = :agent AND ${isQueued} AND attempt = 0 AND priority > :priority`,
    { agent, priority },
  );
}
