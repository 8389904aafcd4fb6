import { cancelTurn } from '../turns/end-turn.js';
import { agentRow, type TurnRow, turnRow } from '../rows.js';
import type { Tx } from '../sqlite/tx.js';

const reason = 'the agent was retired';

/**
 * Retires an agent that the project's file has no more: its turn is cancelled, and its mail is undelivered. Its id stays taken,
 * since what it made and wrote stays.
 */
export function retireAgent(tx: Tx, id: string, { version, actor }: { version: number; actor: string }): void {
  const { active_turn_id: active } = agentRow(tx, id);
  const turn = active === null ? undefined : turnRow(tx, active);
  if (turn) cancelTurn(tx, turn, reason, actor);
  leaveUnread(tx, id, { unclaimed: turn?.attempt === 0 ? turn : undefined, version, actor });
  tx.run(
    `UPDATE agents SET state = 'stopped', stopping = 0, failure_json = NULL, paused_json = NULL, retired_version = :version,
       state_at_ms = :now WHERE id = :id`,
    { id, version, now: tx.nowMs },
  );
}

/** Has an agent that was retired wake on mail again. */
export function bringBack(tx: Tx, id: string): void {
  tx.run(
    `UPDATE agents SET state = 'quiet', retired_version = NULL, hour_from_turn = turns, state_at_ms = :now WHERE id = :id`,
    { id, now: tx.nowMs },
  );
}

/**
 * Mail that an agent has not read becomes undelivered: it is that of a turn that was cancelled before anything ran it, so that
 * it is found, and delivered again, as all such mail is.
 */
function leaveUnread(
  tx: Tx,
  agent: string,
  { unclaimed, version, actor }: { unclaimed: TurnRow | undefined; version: number; actor: string },
): void {
  if (!tx.get('SELECT 1 FROM inbox WHERE recipient = :agent LIMIT 1', { agent })) return;
  const turn = unclaimed?.id ?? cancelledTurn(tx, agent, { version, actor });
  tx.run(
    `INSERT INTO message_reads (message_id, recipient, turn_id, read_at_ms)
     SELECT messages.id, :agent, :turn, :now FROM inbox JOIN messages ON messages.seq = message_seq
     WHERE inbox.recipient = :agent ORDER BY messages.seq`,
    { agent, turn, now: tx.nowMs },
  );
  tx.run('DELETE FROM inbox WHERE recipient = :agent', { agent });
}

/** A turn that is over before it began. */
function cancelledTurn(tx: Tx, agent: string, { version, actor }: { version: number; actor: string }): string {
  const id = tx.newId('turn');
  const counted = tx.get<{ turns: number }>('UPDATE agents SET turns = turns + 1 WHERE id = :agent RETURNING turns', {
    agent,
  });
  const number = counted?.turns ?? 1;
  tx.insert('turns', {
    id,
    agent_id: agent,
    number,
    status: 'cancelled',
    priority: 'P1',
    config_version: version,
    queued_at_ms: tx.nowMs,
    ended_at_ms: tx.nowMs,
  });
  tx.emit({ type: 'turn.cancelled', actor, agent, turn: id, data: { number, reason } });
  return id;
}
