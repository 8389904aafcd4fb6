import { hourMs } from '@suzumio/core/mail/protection';
import type { SqlReader } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';

/**
 * Counts the consecutive turns in which an agent got mail from the same sender alone. All mail written in one turn
 * counts once; mail written outside turns counts each time.
 */
export function countHeard(tx: Tx, agent: string, from: string, turn: string | undefined): number {
  const row = tx.get<{ heard: number }>(
    `INSERT INTO agent_watch (agent_id, heard_from, heard, heard_since_ms, heard_turn) VALUES (:agent, :from, 1, :now, :turn)
     ON CONFLICT (agent_id) DO UPDATE SET
       heard = CASE WHEN heard_from = :from AND heard_since_ms > :old
         THEN heard + (:turn IS NULL OR heard_turn IS NOT :turn) ELSE 1 END,
       heard_since_ms = CASE WHEN heard_from = :from AND heard_since_ms > :old THEN heard_since_ms ELSE :now END,
       heard_from = :from,
       heard_turn = :turn
     RETURNING heard`,
    { agent, from, turn: turn ?? null, now: tx.nowMs, old: tx.nowMs - hourMs },
  );
  return row?.heard ?? 0;
}

/** The number of consecutive turns of a sender in which an agent got mail from it alone. */
export function heardFrom(reader: SqlReader, agent: string, from: string, nowMs: number): number {
  const row = reader.get<{ heard: number }>(
    'SELECT heard FROM agent_watch WHERE agent_id = :agent AND heard_from = :from AND heard_since_ms > :old',
    { agent, from, old: nowMs - hourMs },
  );
  return row?.heard ?? 0;
}

/** Forgets an agent's mail counts, in both directions: something has come of it. */
export function forgetMail(tx: Tx, agent: string): void {
  tx.run('UPDATE agent_watch SET heard_from = NULL, heard = 0 WHERE agent_id = :agent AND heard > 0', { agent });
  forgetSent(tx, agent);
}

/** Forgets all counts of an agent. */
export function forgetAgent(tx: Tx, agent: string): void {
  tx.run('DELETE FROM agent_watch WHERE agent_id = :agent', { agent });
  forgetSent(tx, agent);
}

/** Forgets the counts of an agent's sent mail. */
export function forgetSent(tx: Tx, agent: string): void {
  tx.run('DELETE FROM mail_repeats WHERE sender = :agent', { agent });
}

/** An agent's last message to an address: its turn, and in how many turns it was nearly the same. */
export interface Repeated {
  sketch: string;
  times: number;
  since_ms: number;
  turn: string | null;
}

export function lastMail(reader: SqlReader, sender: string, recipient: string): Repeated | undefined {
  return reader.get<Repeated>(
    'SELECT sketch, times, since_ms, turn FROM mail_repeats WHERE sender = :sender AND recipient = :recipient',
    { sender, recipient },
  );
}

export function noteMail(tx: Tx, sender: string, recipient: string, mail: Repeated): void {
  tx.run(
    `INSERT INTO mail_repeats (sender, recipient, sketch, times, since_ms, turn)
     VALUES (:sender, :recipient, :sketch, :times, :since, :turn)
     ON CONFLICT (sender, recipient) DO UPDATE SET sketch = :sketch, times = :times, since_ms = :since, turn = :turn`,
    { sender, recipient, sketch: mail.sketch, times: mail.times, since: mail.since_ms, turn: mail.turn },
  );
}

/** Forgets the repetitions to a recipient: an agent that is told something new may answer as before. */
export function forgetRepeats(tx: Tx, sender: string, recipient: string): void {
  tx.run('UPDATE mail_repeats SET times = 1 WHERE sender = :sender AND recipient = :recipient AND times > 1', {
    sender,
    recipient,
  });
}

/** Counts one more consecutive turn without effect, and returns how many. */
export function countEmptyTurn(tx: Tx, agent: string): number {
  const row = tx.get<{ turns: number }>(
    `INSERT INTO agent_watch (agent_id, empty_turns) VALUES (:agent, 1)
     ON CONFLICT (agent_id) DO UPDATE SET empty_turns = empty_turns + 1 RETURNING empty_turns AS turns`,
    { agent },
  );
  return row?.turns ?? 0;
}

export function forgetEmptyTurns(tx: Tx, agent: string): void {
  tx.run('UPDATE agent_watch SET empty_turns = 0 WHERE agent_id = :agent AND empty_turns > 0', { agent });
}
