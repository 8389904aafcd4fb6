import { type StateFacts, stateReasons } from '@suzumio/core/why/reasons';
import { SYSTEM_ID, USER_ID } from '@suzumio/contract/model/project-config';
import type { NoReplyReason, ReplyAnswer } from '@suzumio/contract/model/reply';
import type { TurnStatus } from '@suzumio/contract/model/states';
import { maxListedRecipients } from '@suzumio/contract/model/message';
import { messageCalled, type MessageRow, messageView } from '../mail/messages.js';
import { agentRow, projectRow, stateOf } from '../rows.js';
import { parsed } from '../sqlite/page.js';
import type { SqlReader } from '../sqlite/sql.js';

/**
 * The first reply to a message, by id or number, that went to its sender; or why none is expected for now.
 *
 * @throws SuzumioError `message-unknown`
 */
export function readReply(reader: SqlReader, name: string): ReplyAnswer {
  const message = messageCalled(reader, name);
  const reply = reader.get<MessageRow>(
    `SELECT * FROM messages WHERE thread_id = :thread AND seq > :seq AND reply_to = :id AND recipient = :sender
     ORDER BY seq LIMIT 1`,
    { thread: message.thread_id, seq: message.seq, id: message.id, sender: message.sender },
  );
  if (reply) return { message: message.id, state: 'replied', reply: messageView(reader, reply), reasons: [] };
  const reasons = noReplyReasons(reader, message);
  const state = reasons.length === 0 ? 'waiting' : 'not-expected';
  return { message: message.id, state, reply: null, reasons: reasons.slice(0, maxListedRecipients) };
}

/** An agent that has a message unread, or read it in a turn. */
interface Holder {
  agent: string;
  failure_json: string | null;
  turn: number | null;
  turn_id: string | null;
  turn_status: TurnStatus | null;
  turn_failure_json: string | null;
}

/** Empty while a reply may come: one agent that may write it is enough. */
function noReplyReasons(reader: SqlReader, message: MessageRow): NoReplyReason[] {
  const { id: project, status } = projectRow(reader);
  if (message.kind === 'event') {
    const sentence = 'It is a notice of the system, which reads no mail.';
    return [{ agent: null, code: 'unanswerable', sentence, next: null }];
  }
  const holders = holdersOf(reader, message);
  if (holders.length === 0) {
    const byPerson = message.recipient === USER_ID && message.sender !== SYSTEM_ID;
    const next = byPerson ? `reply ${project} ${message.seq} "…"` : null;
    return [{ agent: null, code: 'no-agent', sentence: 'It went to no agent.', next }];
  }
  const atWork = isAtWork(reader);
  const reasons: NoReplyReason[] = [];
  for (const holder of holders) {
    const reason = reasonOf(reader, holder, { project: { id: project, status }, message, atWork });
    if (reason === undefined) return [];
    reasons.push(reason);
  }
  return reasons;
}

function holdersOf(reader: SqlReader, { id, seq }: MessageRow): Holder[] {
  const agent = 'agents.id AS agent, agents.failure_json';
  return reader.all<Holder>(
    `SELECT ${agent}, NULL AS turn, NULL AS turn_id, NULL AS turn_status, NULL AS turn_failure_json
     FROM inbox JOIN agents ON agents.id = recipient WHERE message_seq = :seq
     UNION ALL
     SELECT ${agent}, turns.number, turns.id, turns.status, turns.failure_json
     FROM message_reads JOIN turns ON turns.id = turn_id JOIN agents ON agents.id = message_reads.recipient
     WHERE message_id = :id AND voided_at_ms IS NULL ORDER BY agent`,
    { id, seq },
  );
}

/** Whether an agent has a turn, or gets one for its mail as things are: what comes of that may lead to a reply. */
function isAtWork(reader: SqlReader): boolean {
  const row = reader.get(
    `SELECT 1 FROM agents WHERE state = 'running'
       OR (state = 'quiet' AND EXISTS (SELECT 1 FROM inbox WHERE recipient = agents.id)) LIMIT 1`,
  );
  return row !== undefined;
}

/** Why an agent does not reply for now; undefined where it may. */
function reasonOf(
  reader: SqlReader,
  holder: Holder,
  { project, message, atWork }: { project: StateFacts['project']; message: MessageRow; atWork: boolean },
): NoReplyReason | undefined {
  const { agent, turn, turn_status: ended, failure_json } = holder;
  if (ended === 'queued' || ended === 'running') return undefined;
  const state = stateOf(agentRow(reader, agent));
  if (ended === 'completed' && state === 'running') return undefined;
  const [held] = stateReasons({ project, agent: { id: agent, state, failure: parsed(failure_json) } });
  if (held) return { agent, code: held.code, sentence: held.sentence, next: held.next };
  if (turn === null || (ended === 'completed' && atWork)) return undefined;
  const read = `It read the message in turn ${turn}, which`;
  if (ended === 'completed') {
    const instead = holder.turn_id === null ? undefined : firstTo(reader, message.sender, holder.turn_id);
    if (instead !== undefined) {
      const sentence = `${read} ended without a reply, but wrote message ${instead} to ${message.sender}.`;
      return { agent, code: 'turn-ended', sentence, next: `messages show ${project.id} ${instead}` };
    }
    const sentence = `${read} ended without a reply, and nobody in the project is at work.`;
    return { agent, code: 'turn-ended', sentence, next: `send ${project.id} ${agent} P1 "…"` };
  }
  const next = `redeliver ${project.id} ${message.seq}`;
  if (ended === 'cancelled') return { agent, code: 'turn-cancelled', sentence: `${read} was cancelled.`, next };
  const failure = parsed<{ code: string; message: string }>(holder.turn_failure_json);
  const how = failure === null ? '' : `: ${failure.code}: ${failure.message}`;
  return { agent, code: 'turn-failed', sentence: `${read} failed${how}`, next };
}

/** The number of the first message that a turn has written to somebody. */
function firstTo(reader: SqlReader, recipient: string, turn: string): number | undefined {
  return reader.get<{ seq: number }>(
    'SELECT seq FROM messages WHERE turn_id = :turn AND recipient = :recipient ORDER BY seq LIMIT 1',
    { turn, recipient },
  )?.seq;
}
