import type { Priority } from '@suzumio/protocol/ids';
import { isQueued } from '../rows.js';
import type { Tx } from '../sqlite/tx.js';

/** Adds a message to an agent's unread mail. */
export function putInInbox(tx: Tx, recipient: string, message: { seq: number; priority: Priority }): void {
  tx.insert('inbox', { recipient, priority: message.priority, message_seq: message.seq });
  hastenQueuedTurn(tx, recipient, message.priority);
}

/**
 * More urgent mail raises the priority of a turn that still waits: it is put on the queue before its project's others.
 * A turn on the queue keeps its place, since the queue knows no priorities.
 */
function hastenQueuedTurn(tx: Tx, agent: string, priority: Priority): void {
  tx.run(
    `UPDATE turns SET priority = :priority
     WHERE agent_id = :agent AND ${isQueued} AND attempt = 0 AND priority > :priority`,
    { agent, priority },
  );
}
