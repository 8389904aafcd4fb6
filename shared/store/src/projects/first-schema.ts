/** The tables that a project's database began with: the first of its migrations. */
export const firstSchemaSql = `
CREATE TABLE projects (
  id TEXT PRIMARY KEY,
  status TEXT NOT NULL CHECK (status IN ('initialized', 'running', 'submitted', 'completed', 'stopped')),
  task TEXT NOT NULL,
  config_json TEXT NOT NULL,
  report_path TEXT,
  epoch INTEGER NOT NULL DEFAULT 1,
  changes_requested_seq INTEGER NOT NULL DEFAULT 0,
  created_at_ms INTEGER NOT NULL,
  status_at_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE agents (
  id TEXT PRIMARY KEY,
  position INTEGER NOT NULL UNIQUE,
  base TEXT NOT NULL,
  role TEXT NOT NULL,
  display_name TEXT,
  prompt TEXT NOT NULL,
  tools_json TEXT NOT NULL,
  model TEXT,
  state TEXT NOT NULL CHECK (state IN ('quiet', 'running', 'failed', 'stopped')),
  token_hash TEXT,
  active_turn_id TEXT REFERENCES turns (id),
  turns INTEGER NOT NULL DEFAULT 0,
  snapshot TEXT,
  failure_json TEXT,
  state_at_ms INTEGER NOT NULL,
  CHECK ((state = 'running') = (active_turn_id IS NOT NULL))
) STRICT;

CREATE TABLE channels (
  name TEXT PRIMARY KEY,
  position INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE channel_members (
  channel TEXT NOT NULL REFERENCES channels (name),
  agent_id TEXT NOT NULL REFERENCES agents (id),
  PRIMARY KEY (channel, agent_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE messages (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  sender TEXT NOT NULL,
  recipient TEXT,
  channel TEXT REFERENCES channels (name),
  priority TEXT NOT NULL CHECK (priority IN ('P0', 'P1', 'P2', 'P3')),
  kind TEXT NOT NULL,
  body TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  reply_to TEXT,
  turn_id TEXT REFERENCES turns (id),
  actor TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  CHECK ((recipient IS NULL) <> (channel IS NULL))
) STRICT;
CREATE INDEX messages_thread ON messages (thread_id, seq);
CREATE INDEX messages_turn ON messages (turn_id) WHERE turn_id IS NOT NULL;

CREATE TABLE inbox (
  recipient TEXT NOT NULL REFERENCES agents (id),
  priority TEXT NOT NULL,
  message_seq INTEGER NOT NULL REFERENCES messages (seq),
  PRIMARY KEY (recipient, priority, message_seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE message_reads (
  message_id TEXT NOT NULL REFERENCES messages (id),
  recipient TEXT NOT NULL REFERENCES agents (id),
  turn_id TEXT NOT NULL REFERENCES turns (id),
  read_at_ms INTEGER NOT NULL,
  voided_at_ms INTEGER
) STRICT;
CREATE UNIQUE INDEX message_reads_once ON message_reads (message_id, recipient) WHERE voided_at_ms IS NULL;
CREATE INDEX message_reads_turn ON message_reads (turn_id);

CREATE TABLE turns (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  agent_id TEXT NOT NULL REFERENCES agents (id),
  number INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('queued', 'running', 'completed', 'failed', 'cancelled')),
  priority TEXT NOT NULL,
  attempt INTEGER NOT NULL DEFAULT 0,
  allowance_from INTEGER NOT NULL DEFAULT 0,
  delivery INTEGER NOT NULL DEFAULT 0,
  delivered_at_ms INTEGER,
  not_before_ms INTEGER NOT NULL DEFAULT 0,
  avoid_worker TEXT,
  prompt TEXT,
  prompt_seq INTEGER,
  input_json TEXT,
  output_text TEXT,
  usage_json TEXT,
  ended_by_tool TEXT,
  failure_json TEXT,
  queued_at_ms INTEGER NOT NULL,
  started_at_ms INTEGER,
  ended_at_ms INTEGER,
  UNIQUE (agent_id, number)
) STRICT;
CREATE UNIQUE INDEX turns_one_active ON turns (agent_id) WHERE status IN ('queued', 'running');
CREATE INDEX turns_active ON turns (status) WHERE status IN ('queued', 'running');

CREATE TABLE turn_attempts (
  turn_id TEXT NOT NULL REFERENCES turns (id),
  number INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('running', 'completed', 'failed', 'cancelled')),
  claim_id TEXT NOT NULL,
  worker TEXT NOT NULL,
  engine TEXT NOT NULL,
  lease_token_hash TEXT NOT NULL,
  lease_until_ms INTEGER NOT NULL,
  unnamed_calls INTEGER NOT NULL DEFAULT 0,
  counted INTEGER,
  failure_json TEXT,
  stats_json TEXT,
  started_at_ms INTEGER NOT NULL,
  ended_at_ms INTEGER,
  PRIMARY KEY (turn_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX turn_attempts_leases ON turn_attempts (lease_until_ms) WHERE status = 'running';

CREATE TABLE turn_steps (
  turn_id TEXT NOT NULL REFERENCES turns (id),
  key TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  request_hash TEXT NOT NULL,
  result_json TEXT NOT NULL,
  recorded_at_ms INTEGER NOT NULL,
  PRIMARY KEY (turn_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE tool_calls (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  turn_id TEXT NOT NULL REFERENCES turns (id),
  agent_id TEXT NOT NULL REFERENCES agents (id),
  attempt INTEGER NOT NULL,
  step TEXT NOT NULL,
  tool TEXT NOT NULL,
  input_json TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('running', 'succeeded', 'failed', 'refused', 'unknown')),
  output_json TEXT,
  error_code TEXT,
  started_at_ms INTEGER NOT NULL,
  ended_at_ms INTEGER
) STRICT;
CREATE INDEX tool_calls_turn ON tool_calls (turn_id);

CREATE TABLE artifacts (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  creator TEXT NOT NULL,
  turn_id TEXT REFERENCES turns (id),
  name TEXT NOT NULL,
  path TEXT NOT NULL,
  workspace_path TEXT,
  sha256 TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  description TEXT,
  created_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX artifacts_name ON artifacts (name);
CREATE INDEX artifacts_turn ON artifacts (turn_id) WHERE turn_id IS NOT NULL;

CREATE TABLE reports (
  version INTEGER PRIMARY KEY,
  path TEXT NOT NULL,
  agent_id TEXT NOT NULL REFERENCES agents (id),
  turn_id TEXT NOT NULL REFERENCES turns (id),
  created_at_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  type TEXT NOT NULL,
  actor TEXT NOT NULL,
  agent_id TEXT,
  turn_id TEXT,
  data_json TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE idempotency_keys (
  token TEXT NOT NULL,
  route TEXT NOT NULL,
  key TEXT NOT NULL,
  request_hash TEXT NOT NULL,
  response_json TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  PRIMARY KEY (token, route, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at_ms);
`;
