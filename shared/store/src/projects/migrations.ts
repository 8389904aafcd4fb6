import { modelFaultsSql } from '../models/model-faults.js';
import type { Migration } from '../sqlite/migrate.js';
import { configVersionsSql } from './config-versions-schema.js';
import { searchSql } from '../mail/search-schema.js';
import { noteVersionsSql, notesSql, profileChangesSql } from '../memory/notes-schema.js';
import { firstSchemaSql } from './first-schema.js';
import { attachedSql, chargedBlocksSql, redactionSql, storedBytesSql } from './stored-bytes-migration.js';

/**
 * The schema of a project's database. Times are milliseconds since 1970, JSON columns end in `_json`.
 *
 * Two rules live here rather than in code: an agent has at most one active turn (`turns_one_active`), and a message is
 * read at most once per recipient unless the read was voided (`message_reads_once`).
 */
export const projectMigrations: readonly Migration[] = [
  {
    version: 1,
    sql: firstSchemaSql,
  },
  {
    // Agents that stop once their turn has ended; turns whose mail may have to be delivered again.
    version: 2,
    sql: `
ALTER TABLE agents ADD COLUMN stopping INTEGER NOT NULL DEFAULT 0;
CREATE INDEX turns_undelivered ON turns (id) WHERE status IN ('failed', 'cancelled');
`,
  },
  {
    // Attachments; artifacts that are directories, with the hashes of their files.
    version: 3,
    sql: `
ALTER TABLE artifacts ADD COLUMN kind TEXT NOT NULL DEFAULT 'file' CHECK (kind IN ('file', 'directory'));
ALTER TABLE artifacts ADD COLUMN files INTEGER NOT NULL DEFAULT 1;
CREATE INDEX artifacts_content ON artifacts (sha256);

CREATE TABLE directory_contents (
  sha256 TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

CREATE TABLE message_attachments (
  message_seq INTEGER NOT NULL REFERENCES messages (seq),
  position INTEGER NOT NULL,
  artifact_id TEXT NOT NULL REFERENCES artifacts (id),
  PRIMARY KEY (message_seq, position)
) STRICT, WITHOUT ROWID;
`,
  },
  {
    // Labels; the time of a project's deletion.
    version: 4,
    sql: `
ALTER TABLE projects ADD COLUMN labels_json TEXT NOT NULL DEFAULT '{}';
ALTER TABLE projects ADD COLUMN deleted_at_ms INTEGER;
`,
  },
  {
    // The credential that an attempt was claimed with.
    version: 5,
    sql: `
ALTER TABLE turn_attempts ADD COLUMN credential TEXT;
`,
  },
  {
    // Model calls, agents' usage, what turns wait for, summaries of long histories; pauses, the turn from which the
    // last hour counts, and changed budgets.
    version: 6,
    sql: `
CREATE TABLE model_calls (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  turn_id TEXT NOT NULL REFERENCES turns (id),
  agent_id TEXT NOT NULL REFERENCES agents (id),
  attempt INTEGER NOT NULL,
  step TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('running', 'answered', 'failed', 'lost')),
  request_hash TEXT NOT NULL,
  asked_preset TEXT NOT NULL,
  purpose TEXT NOT NULL CHECK (purpose IN ('turn', 'summary')),
  owner TEXT NOT NULL,
  until_ms INTEGER NOT NULL,
  held_tokens INTEGER NOT NULL,
  held_nano_usd INTEGER NOT NULL,
  preset TEXT,
  provider TEXT,
  model TEXT,
  input_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  nano_usd INTEGER NOT NULL DEFAULT 0,
  estimated INTEGER NOT NULL DEFAULT 0,
  error_code TEXT,
  started_at_ms INTEGER NOT NULL,
  ended_at_ms INTEGER
) STRICT;
CREATE UNIQUE INDEX model_calls_running ON model_calls (turn_id, step) WHERE status = 'running';
CREATE INDEX model_calls_turn ON model_calls (turn_id);

CREATE TABLE agent_usage (
  agent_id TEXT PRIMARY KEY REFERENCES agents (id),
  calls INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  nano_usd INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE agent_summaries (
  agent_id TEXT NOT NULL REFERENCES agents (id),
  through_number INTEGER NOT NULL,
  text TEXT NOT NULL,
  turn_id TEXT NOT NULL REFERENCES turns (id),
  step TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  PRIMARY KEY (agent_id, through_number)
) STRICT, WITHOUT ROWID;

ALTER TABLE turns ADD COLUMN waits_for TEXT;

CREATE INDEX model_calls_ended ON model_calls (ended_at_ms);

ALTER TABLE projects ADD COLUMN paused_json TEXT;
ALTER TABLE agents ADD COLUMN paused_json TEXT;
ALTER TABLE agents ADD COLUMN hour_from_turn INTEGER NOT NULL DEFAULT 0;

CREATE TABLE budget_changes (
  -- Empty for the project's own.
  agent_id TEXT PRIMARY KEY,
  budget_json TEXT NOT NULL,
  changed_by TEXT NOT NULL,
  changed_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`,
  },
  {
    // Agents' teams and profiles; assigned tasks and their states.
    version: 7,
    sql: `
ALTER TABLE agents ADD COLUMN team TEXT;
ALTER TABLE agents ADD COLUMN profile_id TEXT;
-- The team whose standing project it is; null for all others.
ALTER TABLE projects ADD COLUMN standing_team TEXT;
-- 1 where a handler runs its turns; and which handler asked for one last, and when.
ALTER TABLE agents ADD COLUMN external INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agents ADD COLUMN handler TEXT;
ALTER TABLE agents ADD COLUMN handler_seen_at_ms INTEGER;
CREATE INDEX turn_attempts_handlers ON turn_attempts (claim_id) WHERE engine = 'external';

CREATE TABLE tasks (
  -- That of its message.
  seq INTEGER PRIMARY KEY,
  -- Also its own id, and its thread's, which begins with this message.
  message_id TEXT NOT NULL UNIQUE REFERENCES messages (id),
  assigner TEXT NOT NULL,
  assignee TEXT NOT NULL REFERENCES agents (id),
  role TEXT NOT NULL,
  team TEXT,
  state TEXT NOT NULL CHECK (state IN ('open', 'accepted', 'done', 'declined')),
  -- The reply that brought it into this state; none while it is open.
  state_message_id TEXT REFERENCES messages (id),
  created_at_ms INTEGER NOT NULL,
  state_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX inbox_message ON inbox (message_seq);
CREATE INDEX turns_undelivered_agent ON turns (agent_id) WHERE status IN ('failed', 'cancelled');
CREATE INDEX tasks_unfinished ON tasks (assignee) WHERE state IN ('open', 'accepted');

-- What standing protection counts: from whom alone an agent has heard, in how many of its turns, since when and in which
-- last; turns in a row from which nothing came; what was last sent to somebody, in which turn, and in how many nearly the
-- same.
CREATE TABLE agent_watch (
  agent_id TEXT PRIMARY KEY REFERENCES agents (id),
  heard_from TEXT,
  heard INTEGER NOT NULL DEFAULT 0,
  heard_since_ms INTEGER NOT NULL DEFAULT 0,
  heard_turn TEXT,
  empty_turns INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE mail_repeats (
  sender TEXT NOT NULL REFERENCES agents (id),
  recipient TEXT NOT NULL,
  sketch TEXT NOT NULL,
  times INTEGER NOT NULL,
  since_ms INTEGER NOT NULL,
  turn TEXT,
  PRIMARY KEY (sender, recipient)
) STRICT, WITHOUT ROWID;

-- Reads of messages that were delivered again.
CREATE INDEX message_reads_voided ON message_reads (message_id) WHERE voided_at_ms IS NOT NULL;
`,
  },
  {
    // A running call's usage so far; how often it failed while others were answered; numbers for calls of runners that
    // name no steps.
    version: 8,
    sql: `
ALTER TABLE model_calls ADD COLUMN so_far_input INTEGER NOT NULL DEFAULT 0;
ALTER TABLE model_calls ADD COLUMN so_far_output INTEGER NOT NULL DEFAULT 0;
ALTER TABLE model_calls ADD COLUMN so_far_nano_usd INTEGER NOT NULL DEFAULT 0;
ALTER TABLE model_calls ADD COLUMN alone INTEGER NOT NULL DEFAULT 0;
ALTER TABLE turn_attempts ADD COLUMN unnamed_questions INTEGER NOT NULL DEFAULT 0;
`,
  },
  {
    // The tool definitions that turns' models were given.
    version: 9,
    sql: `
CREATE TABLE tool_sets (
  hash TEXT PRIMARY KEY,
  definitions_json TEXT NOT NULL
) STRICT;
`,
  },
  {
    // The identity of the project's file, to recognise a copy.
    version: 10,
    sql: `
ALTER TABLE projects ADD COLUMN place_json TEXT;
`,
  },
  {
    // Stored bytes, by owner.
    version: 11,
    sql: storedBytesSql,
  },
  {
    // When a turn stops waiting for a model.
    version: 12,
    sql: `
ALTER TABLE turns ADD COLUMN give_up_at_ms INTEGER;
`,
  },
  {
    // Values of agents' variables, which only their containers are given: the project's file keeps the names.
    version: 13,
    sql: `
CREATE TABLE agent_env (
  agent_id TEXT NOT NULL REFERENCES agents (id),
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (agent_id, name)
) STRICT, WITHOUT ROWID;
INSERT INTO agent_env
  SELECT agent.key, variable.key, variable.value
  FROM projects, json_each(config_json, '$.agents') AS agent, json_each(agent.value, '$.env') AS variable;
UPDATE projects SET config_json = (
  SELECT json_set(config_json, '$.agents', json_group_object(agent.key, json(
    CASE WHEN json_type(agent.value, '$.env') IS NULL THEN agent.value
    ELSE json_set(agent.value, '$.env', json((
      SELECT json_group_object(variable.key, '(hidden)') FROM json_each(agent.value, '$.env') AS variable
    ))) END)))
  FROM json_each(config_json, '$.agents') AS agent
);
`,
  },
  {
    // How often an attempt contradicted its journal.
    version: 14,
    sql: `
ALTER TABLE turn_attempts ADD COLUMN contradictions INTEGER NOT NULL DEFAULT 0;
`,
  },
  {
    // How many of an attempt's calls were refused.
    version: 15,
    sql: `
ALTER TABLE turn_attempts ADD COLUMN refused_calls INTEGER NOT NULL DEFAULT 0;
`,
  },
  {
    // That the content of a message or an artifact was removed; how many removals have left its bytes in the file's free
    // space; and rows that give back what they were charged for.
    version: 16,
    sql: redactionSql,
  },
  {
    // The words of messages, and what lists are filtered by.
    version: 17,
    sql: `${searchSql}
CREATE INDEX messages_sender ON messages (sender);
CREATE INDEX turns_agent ON turns (agent_id);
CREATE INDEX events_type ON events (type);
CREATE INDEX tool_calls_unsuccessful ON tool_calls (status) WHERE status IN ('failed', 'refused', 'unknown');
`,
  },
  {
    // The requests and results of steps in the sandbox, which are recognised by their hashes.
    version: 18,
    sql: `
ALTER TABLE tool_calls ADD COLUMN request_hash TEXT;
ALTER TABLE tool_calls ADD COLUMN result_hash TEXT;
`,
  },
  {
    // The newest capture of each turn's workspace, by attempt and number; the steps in the sandbox that it covers; and those
    // that have reached outside.
    version: 19,
    sql: `
CREATE TABLE turn_captures (
  turn_id TEXT PRIMARY KEY REFERENCES turns (id),
  attempt INTEGER NOT NULL,
  number INTEGER NOT NULL,
  -- Null where the workspace is empty.
  snapshot TEXT,
  captured_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
ALTER TABLE tool_calls ADD COLUMN captured INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tool_calls ADD COLUMN marked INTEGER NOT NULL DEFAULT 0;
`,
  },
  {
    // How agents' workspaces have changed; null is an empty one. A turn that ended again after a retry has one row.
    // A row without a turn is of a person who restored the workspace, after the turn of its number.
    version: 20,
    sql: `
CREATE TABLE workspace_changes (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  agent_id TEXT NOT NULL REFERENCES agents (id),
  turn_id TEXT UNIQUE REFERENCES turns (id),
  turn_number INTEGER NOT NULL,
  snapshot_before TEXT,
  snapshot_after TEXT,
  files_json TEXT,
  restored_turn INTEGER,
  actor TEXT,
  created_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX workspace_changes_agent ON workspace_changes (agent_id, seq);
`,
  },
  {
    // The commit that an agent's workspace was cloned at.
    version: 21,
    sql: `
CREATE TABLE workspace_bases (
  agent_id TEXT PRIMARY KEY REFERENCES agents (id),
  commit_id TEXT NOT NULL,
  turn_id TEXT NOT NULL REFERENCES turns (id),
  created_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`,
  },
  {
    // The images that calls have shown: references to content.
    version: 22,
    sql: `
ALTER TABLE tool_calls ADD COLUMN image_json TEXT;
CREATE INDEX tool_calls_images ON tool_calls (turn_id) WHERE image_json IS NOT NULL;
`,
  },
  {
    // Questions and calls that left a sandbox whose workspace could not be captured, until one can be. `told`: whether the
    // question was answered with why.
    version: 23,
    sql: `
CREATE TABLE uncaptured_steps (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  turn_id TEXT NOT NULL REFERENCES turns (id),
  step TEXT NOT NULL,
  told INTEGER NOT NULL,
  UNIQUE (turn_id, step)
) STRICT;
`,
  },
  {
    // Every message and every event paid for an index that lists alone would use, and lists are bounded without one.
    version: 24,
    sql: `
DROP INDEX messages_sender;
DROP INDEX events_type;
`,
  },
  {
    // The repository that agents share: its references, and the pushes that have moved them, with their packs.
    version: 25,
    sql: `
CREATE TABLE git_pushes (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  agent_id TEXT NOT NULL REFERENCES agents (id),
  turn_id TEXT NOT NULL REFERENCES turns (id),
  attempt INTEGER NOT NULL,
  key TEXT NOT NULL,
  pack TEXT,
  pack_bytes INTEGER NOT NULL,
  pack_objects INTEGER NOT NULL,
  updates_json TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  UNIQUE (turn_id, key)
) STRICT;
CREATE INDEX git_pushes_packs ON git_pushes (pack) WHERE pack IS NOT NULL;
CREATE TABLE git_refs (
  name TEXT PRIMARY KEY,
  object_id TEXT NOT NULL,
  push_seq INTEGER NOT NULL REFERENCES git_pushes (seq)
) STRICT, WITHOUT ROWID;
`,
  },
  {
    // Mail to the person, for the inbox over all projects.
    version: 26,
    sql: `
CREATE INDEX messages_to_user ON messages (created_at_ms, seq) WHERE recipient = 'user';
`,
  },
  {
    // The packs of the shared repository, each with the first push that has brought it: who fetches reads those after one.
    version: 27,
    sql: `
CREATE TABLE git_packs (
  push_seq INTEGER PRIMARY KEY REFERENCES git_pushes (seq),
  sha256 TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO git_packs (push_seq, sha256) SELECT min(seq), pack FROM git_pushes WHERE pack IS NOT NULL GROUP BY pack;
DROP INDEX git_pushes_packs;
`,
  },
  {
    // What of a clone lies in directories that are not captured, and is captured all the same. Null in clones of before.
    version: 28,
    sql: `
ALTER TABLE workspace_bases ADD COLUMN tracked_json TEXT;
`,
  },
  {
    // Small files take more of a disk than their bytes.
    version: 29,
    sql: chargedBlocksSql,
  },
  {
    // How much mail went from whom to whom, and when the last did: counted as it is written, since a project may have a
    // million messages.
    version: 30,
    sql: `
CREATE TABLE mail_counts (
  sender TEXT NOT NULL,
  -- An agent, 'user', or a channel with its #.
  addressee TEXT NOT NULL,
  messages INTEGER NOT NULL,
  last_at_ms INTEGER NOT NULL,
  PRIMARY KEY (sender, addressee)
) STRICT, WITHOUT ROWID;
INSERT INTO mail_counts (sender, addressee, messages, last_at_ms)
  SELECT sender, coalesce(recipient, channel), count(*), max(created_at_ms) FROM messages GROUP BY 1, 2;
CREATE TRIGGER mail_counts_messages AFTER INSERT ON messages BEGIN
  INSERT INTO mail_counts (sender, addressee, messages, last_at_ms)
    VALUES (NEW.sender, coalesce(NEW.recipient, NEW.channel), 1, NEW.created_at_ms)
    ON CONFLICT (sender, addressee) DO UPDATE SET messages = messages + 1, last_at_ms = NEW.created_at_ms;
END;
`,
  },
  {
    // Commits of the shared repository that were compared, and those that are being compared now. What was made stays the same
    // for as long as its two commits do: forever.
    version: 31,
    sql: `
CREATE TABLE git_diffs (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  -- As protocol/repository-diff.ts has it.
  comparison_json TEXT NOT NULL UNIQUE,
  asked_at_ms INTEGER NOT NULL,
  -- The worker's that has taken it.
  claim TEXT,
  claimed_at_ms INTEGER,
  ended_at_ms INTEGER,
  made_json TEXT,
  refused_json TEXT
) STRICT;
`,
  },
  {
    // Where the repositories of clones were before each turn, and what workers have packed of them.
    version: 32,
    sql: `
CREATE TABLE upstream_looks (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  agent_id TEXT NOT NULL REFERENCES agents (id),
  turn_id TEXT NOT NULL UNIQUE REFERENCES turns (id),
  -- Where nothing was found out, that of before.
  commit_id TEXT NOT NULL,
  -- How many commits the base lacks; null where that is not known.
  ahead INTEGER,
  rewritten INTEGER NOT NULL,
  pack TEXT,
  pack_bytes INTEGER,
  -- Whether the pack needs no other.
  alone INTEGER NOT NULL DEFAULT 0,
  shallow_json TEXT,
  -- Why nothing was found out.
  failure_json TEXT,
  created_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX upstream_looks_agent ON upstream_looks (agent_id, seq);
CREATE INDEX upstream_looks_packs ON upstream_looks (pack) WHERE pack IS NOT NULL;
CREATE INDEX upstream_looks_chains ON upstream_looks (agent_id, seq) WHERE pack IS NOT NULL;
`,
  },
  {
    // The commit that a patch is against.
    version: 33,
    sql: 'ALTER TABLE artifacts ADD COLUMN base_commit TEXT;',
  },
  {
    // People push to the shared repository, too, in no turn.
    version: 34,
    sql: `
ALTER TABLE git_pushes ADD COLUMN actor TEXT;
UPDATE git_pushes SET actor = agent_id;
ALTER TABLE git_pushes ALTER COLUMN actor SET NOT NULL;
ALTER TABLE git_pushes ALTER COLUMN agent_id DROP NOT NULL;
ALTER TABLE git_pushes ALTER COLUMN turn_id DROP NOT NULL;
ALTER TABLE git_pushes ALTER COLUMN attempt DROP NOT NULL;
ALTER TABLE git_pushes ALTER COLUMN key DROP NOT NULL;
`,
  },
  {
    // Artifacts as files: the newest of each name, and the snapshot whose own artifacts an agent has published last.
    version: 35,
    sql: `
CREATE INDEX artifacts_newest ON artifacts (creator, name, seq DESC);
ALTER TABLE agents ADD COLUMN published_snapshot TEXT;
`,
  },
  {
    // What agents keep in mind, and what they did to the notes of their profiles.
    version: 36,
    sql: `${notesSql}${profileChangesSql}`,
  },
  {
    version: 37,
    sql: configVersionsSql,
  },
  {
    version: 38,
    sql: noteVersionsSql,
  },
  {
    // Which model at which provider gave an answer, and what it attached.
    version: 39,
    sql: attachedSql,
  },
  {
    // Of the tokens of questions, those that providers read from their caches.
    version: 40,
    sql: 'ALTER TABLE model_calls ADD COLUMN cached_tokens INTEGER NOT NULL DEFAULT 0;',
  },
  {
    // The presets that refused when they were asked last.
    version: 41,
    sql: modelFaultsSql,
  },
  {
    // What a runner made of an answer that ended no turn.
    version: 42,
    sql: 'ALTER TABLE model_calls ADD COLUMN reading TEXT;',
  },
  {
    // What a call's result says of urgent mail, and the newest message that it counts.
    version: 43,
    sql: `
ALTER TABLE tool_calls ADD COLUMN notice TEXT;
ALTER TABLE tool_calls ADD COLUMN notice_seq INTEGER;`,
  },
];
