import { hasVersions } from '../sqlite/configs.js';
import type { SqlReader } from '../sqlite/sql.js';

/**
 * The invariants of a project's database: they hold at every moment, also after a process was killed. Each query finds
 * rows that violate one.
 */
const contradictions: Readonly<Record<string, string>> = {
  'an agent has at most one active turn': `
    SELECT agent_id FROM turns WHERE status IN ('queued', 'running') GROUP BY agent_id HAVING count(*) > 1`,
  'an agent is running exactly while its active turn is queued or running': `
    SELECT agents.id FROM agents LEFT JOIN turns ON turns.id = active_turn_id
    WHERE (state = 'running') <> (turns.id IS NOT NULL AND turns.status IN ('queued', 'running') AND turns.agent_id = agents.id)`,
  'an active turn is its agent’s active turn': `
    SELECT turns.id FROM turns JOIN agents ON agents.id = agent_id
    WHERE status IN ('queued', 'running') AND active_turn_id IS NOT turns.id`,
  'a turn runs exactly while its newest attempt does': `
    SELECT turns.id FROM turns LEFT JOIN turn_attempts ON turn_id = turns.id AND turn_attempts.number = turns.attempt
    WHERE (turns.status = 'running') <> (coalesce(turn_attempts.status, '') = 'running')`,
  'no older attempt runs': `
    SELECT turn_id FROM turn_attempts JOIN turns ON turns.id = turn_id
    WHERE turn_attempts.status = 'running' AND turn_attempts.number < turns.attempt`,
  'only an agent whose turn runs holds a token': `
    SELECT agents.id FROM agents LEFT JOIN turns ON turns.id = active_turn_id
    WHERE (token_hash IS NOT NULL) <> (turns.id IS NOT NULL AND turns.status = 'running')`,
  'a message is at most once with each agent, unread or read': `
    SELECT message_seq, recipient FROM inbox WHERE EXISTS (SELECT 1 FROM message_reads JOIN messages ON messages.id = message_id
      WHERE messages.seq = message_seq AND message_reads.recipient = inbox.recipient AND voided_at_ms IS NULL)`,
  'mail to one agent from before the file was changed is with it, unread or read': `
    SELECT messages.id FROM messages JOIN agents AS reader ON reader.id = recipient
    WHERE messages.seq <= (SELECT max(message_seq) FROM config_versions)
      AND NOT EXISTS (SELECT 1 FROM inbox WHERE message_seq = messages.seq AND inbox.recipient = reader.id)
      AND NOT EXISTS (SELECT 1 FROM message_reads
        WHERE message_id = messages.id AND message_reads.recipient = reader.id AND voided_at_ms IS NULL)`,
  // Of those since the file was changed last: whom a team or a channel had before is not on record.
  'each message is, for each of those it went to, either unread or read once': `
    SELECT messages.id AS message, reader.id AS reader FROM messages JOIN agents AS reader
    WHERE messages.seq > (SELECT max(message_seq) FROM config_versions) AND retired_version IS NULL
      AND (recipient IS reader.id OR (reader.id <> sender AND (coalesce(recipient, '') IN ('@all', '@' || coalesce(reader.team, 'all'))
        OR EXISTS (SELECT 1 FROM channel_members WHERE channel_members.channel = messages.channel AND agent_id = reader.id))))
      <> ((SELECT count(*) FROM inbox WHERE message_seq = messages.seq AND inbox.recipient = reader.id)
        + (SELECT count(*) FROM message_reads WHERE message_id = messages.id AND message_reads.recipient = reader.id
             AND voided_at_ms IS NULL))`,
  'a reply is in the thread of what it answers, and every other message begins one': `
    SELECT messages.id FROM messages LEFT JOIN messages AS parent ON parent.id = messages.reply_to
    WHERE (messages.kind = 'reply') <> (parent.id IS NOT NULL) OR messages.thread_id <> coalesce(parent.thread_id, messages.id)`,
  'a message says by its address whether it went to one, to a channel or to a team': `
    SELECT id FROM messages WHERE kind <> 'reply'
      AND ((kind = 'channel') <> (channel IS NOT NULL) OR (kind = 'broadcast') <> coalesce(recipient LIKE '@%', 0))`,
  'a task is a message that assigned it, to its assignee': `
    SELECT messages.id FROM messages LEFT JOIN tasks ON message_id = messages.id
    WHERE (kind = 'task') <> (message_id IS NOT NULL) OR messages.seq <> tasks.seq OR sender <> assigner OR recipient <> assignee`,
  'a task is open until a reply of its assignee, in its thread, says otherwise': `
    SELECT message_id FROM tasks LEFT JOIN messages ON messages.id = state_message_id
    WHERE (state = 'open') <> (messages.id IS NULL) OR messages.sender <> assignee OR thread_id <> message_id`,
  'an inbox row has its message’s priority': `
    SELECT message_seq FROM inbox JOIN messages ON seq = message_seq WHERE inbox.priority <> messages.priority`,
  'mail is read by its reader’s own turn, which was claimed, or was cancelled when its reader was retired': `
    SELECT message_id FROM message_reads JOIN turns ON turns.id = turn_id
    WHERE recipient <> agent_id OR ((attempt = 0 OR input_json IS NULL) AND status <> 'cancelled')`,
  'mail that was given back is that of a turn which will not go on': `
    SELECT message_id FROM message_reads JOIN turns ON turns.id = turn_id
    WHERE voided_at_ms IS NOT NULL AND status NOT IN ('failed', 'cancelled')`,
  'a turn that has attempts has its input, its prompt and some mail': `
    SELECT id FROM turns WHERE attempt > 0
      AND (input_json IS NULL OR prompt IS NULL OR NOT EXISTS (SELECT 1 FROM message_reads WHERE turn_id = turns.id))`,
  'an agent’s turns are numbered without a gap': `
    SELECT agents.id FROM agents WHERE turns <> (SELECT count(*) FROM turns WHERE agent_id = agents.id)
      OR turns <> (SELECT coalesce(max(number), 0) FROM turns WHERE agent_id = agents.id)`,
  'a project that does not run has no turn that was never claimed': `
    SELECT turns.id FROM turns, projects
    WHERE projects.status <> 'running' AND turns.status = 'queued' AND attempt = 0`,
  'nothing of a completed project runs': `
    SELECT turns.id FROM turns, projects WHERE projects.status = 'completed' AND turns.status = 'running'`,
  'no call of an attempt that is over still runs': `
    SELECT tool_calls.id FROM tool_calls JOIN turn_attempts USING (turn_id)
    WHERE tool_calls.attempt = turn_attempts.number AND tool_calls.status = 'running' AND turn_attempts.status <> 'running'`,
  'the project’s file is its newest version, and there is one after the other': `
    SELECT id FROM projects WHERE config_json IS NOT (SELECT config_json FROM config_versions ORDER BY number DESC LIMIT 1)
      OR (SELECT count(*) FROM config_versions) <> (SELECT max(number) FROM config_versions)`,
  'a turn runs with a version that there is': `
    SELECT id FROM turns WHERE config_version NOT IN (SELECT number FROM config_versions)`,
  'the agents that were not retired are those of the file': `
    SELECT id FROM agents WHERE (retired_version IS NULL) <> (id IN
      (SELECT agent.key FROM projects, json_each(config_json, '$.agents') AS agent))`,
  'an agent that was retired is at nothing': `
    SELECT id FROM agents WHERE retired_version IS NOT NULL AND (state <> 'stopped' OR paused_json IS NOT NULL
      OR EXISTS (SELECT 1 FROM inbox WHERE recipient = agents.id) OR EXISTS (SELECT 1 FROM channel_members WHERE agent_id = agents.id))`,
  'events are numbered without a gap': `SELECT count(*) AS n FROM events HAVING n <> coalesce(max(seq), 0)`,
  'an agent that is to stop after its turn is at one': `SELECT id FROM agents WHERE stopping = 1 AND state <> 'running'`,
  'a failed agent says why, and no other does': `SELECT id FROM agents WHERE (state = 'failed') <> (failure_json IS NOT NULL)`,
};

/** The rows that violate invariants, and what SQLite's own check reports; empty where all is well. */
export function contradictionsIn(reader: SqlReader): Record<string, unknown[]> {
  const found: Record<string, unknown[]> = {};
  const isOld = !hasVersions(reader);
  for (const [rule, query] of Object.entries(contradictions)) {
    // A database of before, which is read without being brought up to date, has nothing that these look at.
    if (isOld && /(?:config|retired)_version/.test(query)) continue;
    const rows = reader.all<unknown>(query);
    if (rows.length > 0) found[rule] = rows;
  }
  const integrity = reader.all<{ integrity_check: string }>('PRAGMA integrity_check');
  if (integrity[0]?.integrity_check !== 'ok') found['integrity_check'] = integrity;
  const foreign = reader.all<unknown>('PRAGMA foreign_key_check');
  if (foreign.length > 0) found['foreign_key_check'] = foreign;
  return found;
}
