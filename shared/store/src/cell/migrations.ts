import { carriedChangesSql, noteVersionsSql, notesSql } from '../memory/notes-schema.js';
import type { Migration } from '../sqlite/migrate.js';

/** The schema of the catalog. It is an index: each project's own database decides. */
export const catalogMigrations: readonly Migration[] = [
  {
    version: 1,
    sql: `
CREATE TABLE projects (
  id TEXT PRIMARY KEY,
  status TEXT NOT NULL,
  settled INTEGER NOT NULL DEFAULT 0,
  created_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX projects_unsettled ON projects (id) WHERE settled = 0;

CREATE TABLE tokens (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  scope TEXT NOT NULL CHECK (scope IN ('read', 'write', 'admin', 'handler')),
  project TEXT,
  hash TEXT NOT NULL UNIQUE,
  created_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER,
  revoked_at_ms INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE processes (
  id TEXT PRIMARY KEY,
  service TEXT NOT NULL,
  cell TEXT NOT NULL,
  transport TEXT NOT NULL,
  host TEXT NOT NULL,
  serving_since_ms INTEGER NOT NULL,
  beat_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`,
  },
  {
    // Names of ended tokens can be reused; workers have tokens; refusals of valid tokens are logged.
    version: 2,
    sql: `
CREATE TABLE tokens_2 (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  scope TEXT NOT NULL CHECK (scope IN ('read', 'write', 'admin', 'handler', 'worker')),
  project TEXT,
  hash TEXT NOT NULL UNIQUE,
  created_at_ms INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  expires_at_ms INTEGER,
  revoked_at_ms INTEGER
) STRICT, WITHOUT ROWID;
INSERT INTO tokens_2
  SELECT id, name, scope, project, hash, created_at_ms, 'system', expires_at_ms, revoked_at_ms FROM tokens;
DROP TABLE tokens;
ALTER TABLE tokens_2 RENAME TO tokens;
CREATE UNIQUE INDEX tokens_names ON tokens (name) WHERE revoked_at_ms IS NULL;

CREATE TABLE audit (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  at_ms INTEGER NOT NULL,
  token TEXT NOT NULL,
  method TEXT NOT NULL,
  route TEXT NOT NULL,
  project TEXT,
  code TEXT NOT NULL
) STRICT;
`,
  },
  {
    // Labels; pending deletions with the epoch of what is deleted; the last epoch under each freed name; answered
    // requests to delete.
    version: 3,
    sql: `
ALTER TABLE projects ADD COLUMN labels_json TEXT NOT NULL DEFAULT '{}';
ALTER TABLE projects ADD COLUMN deleting_epoch INTEGER;

CREATE TABLE former_projects (
  id TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

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
`,
  },
  {
    // Circuits of model providers, the cell's spending by day, and its pause.
    version: 4,
    sql: `
CREATE TABLE providers_away (
  provider TEXT PRIMARY KEY,
  failures INTEGER NOT NULL,
  closed_until_ms INTEGER NOT NULL,
  probe_until_ms INTEGER NOT NULL,
  last_error TEXT NOT NULL,
  since_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE spending (
  day TEXT PRIMARY KEY,
  nano_usd INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE cell_pause (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  pause_json TEXT NOT NULL
) STRICT;

CREATE TABLE spending_held (
  call TEXT PRIMARY KEY,
  nano_usd INTEGER NOT NULL,
  until_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`,
  },
  {
    // Profiles and their teams; the agents of handlers' tokens.
    version: 5,
    sql: `
CREATE TABLE teams (
  name TEXT PRIMARY KEY,
  description TEXT NOT NULL,
  -- The project that it works in while it has no other, once there is one.
  project TEXT REFERENCES projects (id) ON DELETE SET NULL,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE profiles (
  id TEXT PRIMARY KEY,
  nickname TEXT NOT NULL UNIQUE,
  role TEXT NOT NULL,
  team TEXT REFERENCES teams (name),
  persona TEXT NOT NULL,
  model TEXT,
  skills_json TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  retired_at_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX profiles_role ON profiles (role);
CREATE INDEX profiles_team ON profiles (team) WHERE team IS NOT NULL;

ALTER TABLE tokens ADD COLUMN agents_json TEXT;
`,
  },
  {
    // The cell's budget for a day; the call that probes a provider, and whether an answer has begun.
    version: 6,
    sql: `
CREATE TABLE day_budget (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  limit_nano_usd INTEGER NOT NULL
) STRICT;

ALTER TABLE providers_away ADD COLUMN probe_owner TEXT;
ALTER TABLE providers_away ADD COLUMN answering INTEGER NOT NULL DEFAULT 0;
`,
  },
  {
    // Tokens that only post mail, and tokens for operators.
    version: 7,
    sql: `
CREATE TABLE tokens_7 (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  scope TEXT NOT NULL CHECK (scope IN ('read', 'mail', 'operate', 'write', 'admin', 'handler', 'worker')),
  project TEXT,
  hash TEXT NOT NULL UNIQUE,
  created_at_ms INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  expires_at_ms INTEGER,
  revoked_at_ms INTEGER,
  agents_json TEXT
) STRICT, WITHOUT ROWID;
INSERT INTO tokens_7
  SELECT id, name, scope, project, hash, created_at_ms, created_by, expires_at_ms, revoked_at_ms, agents_json
  FROM tokens;
DROP TABLE tokens;
ALTER TABLE tokens_7 RENAME TO tokens;
CREATE UNIQUE INDEX tokens_names ON tokens (name) WHERE revoked_at_ms IS NULL;
`,
  },
  {
    // One circuit for each model at a provider: for whom it is open, and in which order projects probe it.
    version: 8,
    sql: `
DROP TABLE providers_away;

CREATE TABLE circuits (
  circuit TEXT NOT NULL,
  -- The project that it is open for; '' for all.
  scope TEXT NOT NULL,
  failures INTEGER NOT NULL,
  open_until_ms INTEGER NOT NULL,
  probe_until_ms INTEGER NOT NULL,
  probe_owner TEXT,
  answering INTEGER NOT NULL DEFAULT 0,
  last_error TEXT NOT NULL,
  since_ms INTEGER NOT NULL,
  PRIMARY KEY (circuit, scope)
) STRICT, WITHOUT ROWID;

CREATE TABLE circuit_waiters (
  circuit TEXT NOT NULL,
  project TEXT NOT NULL,
  since_ms INTEGER NOT NULL,
  -- When it has tried last; 0 where it has not.
  tried_at_ms INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (circuit, project)
) STRICT, WITHOUT ROWID;
`,
  },
  {
    // The file that this catalog is in, to recognise a copy; and the least epoch of new projects, later than any
    // created after the copy was made.
    version: 9,
    sql: `
CREATE TABLE data_directory (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  place_json TEXT NOT NULL,
  first_epoch INTEGER NOT NULL
) STRICT;
`,
  },
  {
    // Projects that wait for a place in the queue, in order.
    version: 10,
    sql: `
CREATE TABLE waiting_line (
  project TEXT PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  position INTEGER NOT NULL UNIQUE
) STRICT, WITHOUT ROWID;
`,
  },
  {
    // Hosts of providers that a connection was ever made to.
    version: 11,
    sql: `
CREATE TABLE reached_hosts (
  host TEXT PRIMARY KEY,
  at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`,
  },
  {
    // The order in which what happened in all projects is told. A row is a run of one project's events, or a notice.
    version: 12,
    sql: `
CREATE TABLE cell_timeline (
  -- The number of its last entry. A run of events has as many numbers as events; a notice has one, also before a run.
  last INTEGER PRIMARY KEY,
  project TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('events', 'reset', 'deleted', 'damaged')),
  epoch INTEGER NOT NULL,
  from_seq INTEGER NOT NULL,
  to_seq INTEGER NOT NULL CHECK (to_seq >= from_seq),
  at_ms INTEGER NOT NULL,
  labels_json TEXT NOT NULL
) STRICT;
CREATE INDEX cell_timeline_projects ON cell_timeline (project, last);

-- What the files of projects looked like when all that they hold was in the timeline.
CREATE TABLE cell_timeline_marks (
  project TEXT PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  mark TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER cell_timeline_deleting AFTER UPDATE OF deleting_epoch ON projects
WHEN NEW.deleting_epoch IS NOT NULL AND OLD.deleting_epoch IS NULL BEGIN
  INSERT INTO cell_timeline (last, project, kind, epoch, from_seq, to_seq, at_ms, labels_json)
    SELECT coalesce(max(last), 0) + 1, NEW.id, 'deleted', NEW.deleting_epoch, 0, 0, 0, NEW.labels_json FROM cell_timeline;
  DELETE FROM cell_timeline WHERE project = NEW.id AND kind <> 'deleted';
END;
CREATE TRIGGER cell_timeline_removed AFTER DELETE ON projects WHEN OLD.deleting_epoch IS NULL BEGIN
  INSERT INTO cell_timeline (last, project, kind, epoch, from_seq, to_seq, at_ms, labels_json)
    SELECT coalesce(max(last), 0) + 1, OLD.id, 'deleted', 0, 0, 0, 0, OLD.labels_json FROM cell_timeline;
  DELETE FROM cell_timeline WHERE project = OLD.id AND kind <> 'deleted';
END;
`,
  },
  {
    // What people have marked as read in the inbox, by the names of their tokens. Items of no project have none.
    version: 13,
    sql: `
CREATE TABLE inbox_reads (
  reader TEXT NOT NULL,
  item TEXT NOT NULL,
  project TEXT REFERENCES projects (id) ON DELETE CASCADE,
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (reader, item)
) STRICT, WITHOUT ROWID;
CREATE INDEX inbox_reads_projects ON inbox_reads (project, reader);
`,
  },
  {
    // Browsers that are signed in, and the links that sign them in. Both end with their token.
    version: 14,
    sql: `
CREATE TABLE sign_in_links (
  hash TEXT PRIMARY KEY,
  token_id TEXT NOT NULL REFERENCES tokens (id) ON DELETE CASCADE,
  created_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sign_in_links_tokens ON sign_in_links (token_id, created_at_ms);

CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  token_id TEXT NOT NULL REFERENCES tokens (id) ON DELETE CASCADE,
  created_at_ms INTEGER NOT NULL,
  seen_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER NOT NULL,
  address TEXT NOT NULL,
  agent TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_tokens ON sessions (token_id, seen_at_ms);
`,
  },
  {
    // When a token was last used; null where it never was, or was not since this is noted.
    version: 15,
    sql: 'ALTER TABLE tokens ADD COLUMN seen_at_ms INTEGER;',
  },
  {
    // What profiles keep in mind, and up to where it has what agents of each project did to that.
    version: 16,
    sql: `${notesSql}${carriedChangesSql}`,
  },
  {
    // Versions of profiles and notes, so that nobody overwrites what another has changed meanwhile.
    version: 17,
    sql: `
ALTER TABLE profiles ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
ALTER TABLE profiles ADD COLUMN edited_by TEXT;
-- The version in which each field was last changed; none of those that are as they were made.
ALTER TABLE profiles ADD COLUMN field_versions_json TEXT NOT NULL DEFAULT '{}';
${noteVersionsSql}`,
  },
  {
    // What was learnt of models from their refusals, for a day.
    version: 18,
    sql: `
CREATE TABLE adaptations (
  circuit TEXT PRIMARY KEY,
  adaptation_json TEXT NOT NULL,
  learnt_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`,
  },
];
