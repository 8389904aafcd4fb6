import type { HandlerMail } from '@suzumio/protocol/handlers';
import { agentRow, isDue, isQueued, projectRow } from '../rows.js';
import type { SqlReader } from '../sqlite/sql.js';
import { listAttachments } from '../content/artifacts.js';
import { iso } from '../sqlite/page.js';

/** A handler that asked less than this ago counts as connected: it waits for up to 30 s, and asks again at once. */
export const handlerPresentMs = 45_000;

/** The handler that last asked for an agent's turns. */
export interface HandlerPresence {
  handler: string;
  seenAtMs: number;
  /** Whether it asked recently, or is busy with other turns of this project. */
  connected: boolean;
}

/**
 * The handler of an external agent's turns; undefined where none has ever asked for them.
 *
 * @throws SuzumioError `agent-unknown`
 */
export function handlerPresence(reader: SqlReader, agent: string, nowMs: number): HandlerPresence | undefined {
  const { handler, handler_seen_at_ms: seenAtMs } = agentRow(reader, agent);
  if (handler === null || seenAtMs === null) return undefined;
  const busy = `SELECT 1 FROM turn_attempts WHERE status = 'running' AND engine = 'external' AND worker = :handler`;
  const connected = nowMs - seenAtMs < handlerPresentMs || reader.get(busy, { handler }) !== undefined;
  return { handler, seenAtMs, connected };
}

/** Queued turns of these agents that a handler may claim now, in order. */
export function turnsForHandler(
  reader: SqlReader,
  { agents, nowMs }: { agents: readonly string[]; nowMs: number },
): string[] {
  const { status, paused_json } = projectRow(reader);
  if (status !== 'running' || paused_json !== null) return [];
  const rows = reader.all<{ id: string }>(
    `SELECT id FROM turns WHERE ${isQueued} AND ${isDue}
       AND agent_id IN (SELECT value FROM json_each(:agents))
       AND (SELECT paused_json IS NULL AND external = 1 FROM agents WHERE agents.id = agent_id)
     ORDER BY priority, queued_at_ms, id`,
    { now: nowMs, agents: JSON.stringify(agents) },
  );
  return rows.map(({ id }) => id);
}

/** The messages that a turn was claimed with, in full, in the order of its prompt. */
export function mailOfTurn(reader: SqlReader, turn: string): HandlerMail[] {
  return reader
    .all<Omit<HandlerMail, 'threadId' | 'replyTo' | 'createdAt' | 'attachments'> & MailRow>(
      `SELECT messages.seq, messages.id, kind, sender, messages.recipient, channel, thread_id, reply_to, priority, body, created_at_ms
       FROM message_reads CROSS JOIN messages ON messages.id = message_id
       WHERE message_reads.turn_id = :turn ORDER BY priority, seq`,
      { turn },
    )
    .map(({ seq, thread_id, reply_to, created_at_ms, ...mail }) => ({
      ...mail,
      threadId: thread_id,
      replyTo: reply_to,
      attachments: listAttachments(reader, seq),
      createdAt: iso(created_at_ms),
    }));
}

interface MailRow {
  seq: number;
  thread_id: string;
  reply_to: string | null;
  created_at_ms: number;
}
